"""``taoxr.v1.SpeechService``: the ear and the voice without a conversation."""

import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Final

from taoxr.errors import InvalidInputError
from taoxr.v1 import common_pb2, speech_pb2_grpc
from taoxr.v1 import conversation_pb2 as conversation
from taoxr.v1 import speech_pb2 as pb
from taoxr.worker.v1 import ear_pb2
from taoxr_bridge import calls, validation
from taoxr_bridge.listening import transcript_of
from taoxr_bridge.pipe import Pipe
from taoxr_bridge.settings import Settings
from taoxr_bridge.speech import duration, pieces, shifted, start_voice
from taoxr_bridge.stages import Stages
from taoxr_bridge.supervisor import Supervisor
from taoxr_bridge.tasks import nursery
from taoxr_bridge.voice import Style, open_voice

_QUEUE: Final = 4
_MAX_SILENCE_MS: Final = 5000


class SpeechService(speech_pb2_grpc.SpeechServiceServicer):
    """Speech to text and text to speech."""

    def __init__(self, supervisor: Supervisor, settings: Settings) -> None:
        self._workers = supervisor
        self._settings = settings

    # For the ignored overrides see ConversationService.Converse.
    async def Recognize(  # noqa: N802  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request_iterator: AsyncIterator[pb.RecognizeRequest], context: Any
    ) -> None:
        """Recognises what is said in one stream of audio."""
        first = await anext(request_iterator, None)
        if first is None or first.WhichOneof("payload") != "config":
            given = "no request" if first is None else first.WhichOneof("payload")
            raise InvalidInputError("payload", given, "config as the first request")
        config = self._listen_config(first.config)
        await context.write(pb.RecognizeResponse(started=first.config.audio))
        requests = Pipe[ear_pb2.ListenRequest](_QUEUE)
        async with nursery() as tasks:
            # A task of its own: an error inside an iterator that gRPC reads would be lost.
            tasks.create_task(_pass_on(request_iterator, config, requests))
            heard = calls.listen(self._workers["ear"], aiter(requests), self._settings.worker_wait_s)
            async with aclosing(heard) as responses:
                async for response in responses:
                    if not response.HasField("speech_sustained"):
                        await context.write(_recognized(response))

    async def Synthesize(  # noqa: N802  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request: pb.SynthesizeRequest, context: Any
    ) -> None:
        """Speaks a text, as fast as the client takes it."""
        validation.check_text("text", request.text)
        validation.check_speed("speed", request.speed)
        style = Style(request.speed, request.seed, request.speaker)
        tts, a2bs = self._workers["tts"], self._workers["a2bs"]
        voice = await open_voice(tts, a2bs, self._settings, style=style)
        rate = voice.sample_rate_hz
        await context.write(pb.SynthesizeResponse(started=common_pb2.AudioFormat(sample_rate_hz=rate)))
        start_us = 0
        async with nursery() as tasks:
            async for part in start_voice(tasks, request.text, voice, Stages(time.monotonic())):
                for i, pcm in enumerate(pieces(part.pcm, rate)):
                    chunk = pb.SpeechChunk(start_us=start_us, pcm=pcm)
                    if part.begins and i == 0:
                        chunk.clause_text = part.clause.text.strip()
                        chunk.phonemes.extend(shifted(p, start_us) for p in part.clause.phonemes)
                    await context.write(pb.SynthesizeResponse(chunk=chunk))
                    start_us += duration(pcm, rate)

    def _listen_config(self, config: pb.RecognizeConfig) -> ear_pb2.ListenConfig:
        validation.check_sample_rate("config.audio.sample_rate_hz", config.audio.sample_rate_hz)
        if config.input_mode not in conversation.InputMode.values():
            raise InvalidInputError("config.input_mode", config.input_mode, "a value of InputMode")
        if not 0 <= config.endpoint_silence_ms <= _MAX_SILENCE_MS:
            field, expected = "config.endpoint_silence_ms", f"0 to {_MAX_SILENCE_MS}"
            raise InvalidInputError(field, config.endpoint_silence_ms, expected)
        return ear_pb2.ListenConfig(
            sample_rate_hz=config.audio.sample_rate_hz,
            push_to_talk=config.input_mode == conversation.INPUT_MODE_PUSH_TO_TALK,
            partials=config.partial_transcripts,
            endpoint_silence_ms=config.endpoint_silence_ms or self._settings.endpoint_silence_ms,
            language=config.language,
            word_times=config.word_times,
        )


async def _pass_on(
    given: AsyncIterator[pb.RecognizeRequest],
    config: ear_pb2.ListenConfig,
    requests: Pipe[ear_pb2.ListenRequest],
) -> None:
    await requests.put(ear_pb2.ListenRequest(config=config))
    async for request in given:
        match request.WhichOneof("payload"):
            case "pcm":
                validation.check_pcm("pcm", request.pcm)
                await requests.put(ear_pb2.ListenRequest(pcm=request.pcm))
            case "end_of_utterance":
                end = ear_pb2.EndOfUtterance()
                await requests.put(ear_pb2.ListenRequest(end_of_utterance=end))
            case other:
                expected = "pcm or end_of_utterance after the first request"
                raise InvalidInputError("payload", other, expected)
    await requests.close()


def _recognized(heard: ear_pb2.ListenResponse) -> pb.RecognizeResponse:
    activity = conversation.SpeechActivity
    match heard.WhichOneof("payload"):
        case "speech_started":
            started = activity(kind=activity.KIND_STARTED, offset_us=heard.speech_started.offset_us)
            return pb.RecognizeResponse(speech_activity=started)
        case "speech_stopped":
            stopped = activity(kind=activity.KIND_STOPPED, offset_us=heard.speech_stopped.offset_us)
            return pb.RecognizeResponse(speech_activity=stopped)
        case _:
            return pb.RecognizeResponse(transcript=transcript_of(heard.utterance))
