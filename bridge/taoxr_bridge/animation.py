"""``taoxr.v1.AnimationService``: lips for any voice, and for a text in our own voice."""

import time
from collections.abc import AsyncIterator
from typing import Any

from taoxr.errors import InvalidInputError
from taoxr.v1 import animation_pb2 as pb
from taoxr.v1 import animation_pb2_grpc
from taoxr.worker.v1 import a2bs_pb2
from taoxr_bridge import calls, validation
from taoxr_bridge.motion import body_of_text
from taoxr_bridge.settings import Settings
from taoxr_bridge.speech import start_speech
from taoxr_bridge.stages import Stages
from taoxr_bridge.supervisor import Supervisor
from taoxr_bridge.tasks import nursery
from taoxr_bridge.voice import open_voice


class AnimationService(animation_pb2_grpc.AnimationServiceServicer):
    """Lips without a conversation."""

    def __init__(self, supervisor: Supervisor, settings: Settings) -> None:
        self._tts, self._a2bs, self._motion = (supervisor[role] for role in ("tts", "a2bs", "motion"))
        self._settings = settings
        self._wait_s = settings.worker_wait_s

    # For the ignored override see ConversationService.Converse.
    async def AnimateAudio(  # noqa: N802  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request_iterator: AsyncIterator[pb.AnimateAudioRequest], context: Any
    ) -> None:
        """Animates one clip."""
        first = await anext(request_iterator, None)
        if first is None or first.WhichOneof("payload") != "config":
            given = "no request" if first is None else first.WhichOneof("payload")
            raise InvalidInputError("payload", given, "config as the first request")
        rate = first.config.audio.sample_rate_hz
        validation.check_sample_rate("config.audio.sample_rate_hz", rate)
        frame_rate = validation.frame_rate("config.frame_rate", first.config.frame_rate)
        rig = (await calls.describe_rig(self._a2bs, self._wait_s)).rig
        rig.frame_rate = frame_rate
        await context.write(pb.AnimateAudioResponse(started=rig))
        config = a2bs_pb2.AnimateAudioConfig(sample_rate_hz=rate, frame_rate=frame_rate)
        async with calls.animating_audio(self._a2bs, self._wait_s) as animation, nursery() as tasks:
            tasks.create_task(_pass_on(request_iterator, config, animation))
            async for reply in animation:
                if reply.frames:
                    batch = pb.FrameBatch(frames=reply.frames)
                    await context.write(pb.AnimateAudioResponse(frames=batch))

    async def AnimateText(  # noqa: N802  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request: pb.AnimateTextRequest, context: Any
    ) -> None:
        """Animates a text, as fast as the client takes it."""
        validation.check_text("text", request.text)
        frame_rate = validation.frame_rate("frame_rate", request.frame_rate)
        validation.check_tracks("tracks", request.tracks)
        face = await calls.describe_rig(self._a2bs, self._wait_s)
        face.rig.frame_rate = frame_rate
        voice = await open_voice(
            self._tts, self._a2bs, self._settings, frame_rate=frame_rate, whole_clauses=face.whole_clauses
        )
        async with body_of_text(self._motion, request.tracks, voice) as body:
            await context.write(pb.AnimateTextResponse(started=face.rig))
            if body.description is not None:
                await context.write(pb.AnimateTextResponse(body=body.description))
            clause = pb.AnimatedClause()
            async with nursery() as tasks:
                async for part in start_speech(tasks, request.text, voice, Stages(time.monotonic())):
                    if part.begins:
                        clause = pb.AnimatedClause(
                            text=part.clause.text.strip(),
                            start_us=part.clause.start_us,
                            end_us=part.clause.end_us,
                            phonemes=part.clause.phonemes,
                        )
                    for chunk in part.chunks:
                        await body.dress(chunk)
                        clause.frames.extend(chunk.frames)
                        clause.body.extend(chunk.body)
                        clause.cues.extend(chunk.cues)
                    if part.ends and clause.end_us > clause.start_us:
                        await context.write(pb.AnimateTextResponse(clause=clause))
            if (rest := await body.rest()) is not None:
                await context.write(pb.AnimateTextResponse(motion=rest))


async def _pass_on(
    given: AsyncIterator[pb.AnimateAudioRequest],
    config: a2bs_pb2.AnimateAudioConfig,
    animation: calls.AudioAnimation,
) -> None:
    await animation.put(a2bs_pb2.AnimateAudioRequest(config=config))
    async for request in given:
        if request.WhichOneof("payload") != "pcm":
            raise InvalidInputError("payload", request.WhichOneof("payload"), "pcm after the first request")
        validation.check_pcm("pcm", request.pcm)
        await animation.put(a2bs_pb2.AnimateAudioRequest(pcm=request.pcm))
    await animation.close()
