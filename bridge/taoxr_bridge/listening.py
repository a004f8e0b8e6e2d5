"""The user's side of a conversation: what the ear hears becomes turns, interruptions, or nothing."""

import time
from typing import Protocol

from taoxr.errors import UnavailableError
from taoxr.v1 import conversation_pb2 as pb
from taoxr.worker.v1 import ear_pb2
from taoxr_bridge.barge_in import is_back_channel
from taoxr_bridge.ear import Ear
from taoxr_bridge.settings import Settings
from taoxr_bridge.stages import Stages
from taoxr_bridge.worker import Worker


def transcript_of(said: ear_pb2.Utterance) -> pb.Transcript:
    """What a client is told of an utterance."""
    words = [pb.TimedWord(text=w.text, start_us=w.start_us, end_us=w.end_us) for w in said.words]
    return pb.Transcript(
        text=said.text,
        is_final=said.is_final,
        start_us=said.start_us,
        end_us=said.end_us,
        stable_text=said.certain_text,
        words=words,
        language=said.language,
    )


class Floor(Protocol):
    """The conversation that is listened for."""

    @property
    def speaking(self) -> bool:
        """Whether the avatar's turn runs."""
        ...

    def next_turn_id(self) -> str:
        """Name for a new turn."""
        ...

    async def tell(self, turn_id: str, response: pb.ConverseResponse) -> None:
        """Sends a response."""
        ...

    async def notice(self, turn_id: str, error: UnavailableError) -> None:
        """Sends an error that the conversation survives."""
        ...

    async def barge_in(self) -> None:
        """Stops the avatar, perhaps for a false alarm."""
        ...

    async def false_alarm(self) -> bool:
        """Nothing was meant by it: goes on with what `barge_in` stopped. False when nothing is left of it."""
        ...

    async def take_turn(self, user_text: str, stages: Stages, turn_id: str) -> None:
        """The user has said something: answers."""
        ...

    async def prepare(self, user_text: str, turn_id: str) -> None:
        """The user has probably said that, or ("") something else than was thought."""
        ...


class Listener:
    """Hears the user of one conversation.

    Args:
        floor: The conversation.
        config: Its config, with `audio_in`.
        worker: The ear worker.
        settings: Limits and defaults.

    Attributes:
        ear: The stream to the ear worker.
        user_ended: When the user's newest turn ended, on the monotonic clock.
    """

    def __init__(
        self, floor: Floor, config: pb.ConversationConfig, worker: Worker, settings: Settings
    ) -> None:
        self._floor = floor
        self._barge_in = settings.barge_in
        self._partials = config.partial_transcripts
        self._push_to_talk = config.input_mode == pb.INPUT_MODE_PUSH_TO_TALK
        listen = ear_pb2.ListenConfig(
            sample_rate_hz=config.audio_in.sample_rate_hz,
            push_to_talk=self._push_to_talk,
            partials=config.partial_transcripts,
            stable_partials=settings.speculate and not self._push_to_talk,
            endpoint_silence_ms=settings.endpoint_silence_ms,
            echo_cancelled=config.echo_cancelled or self._push_to_talk,
        )
        self.ear = Ear(worker, listen, settings.worker_wait_s, self._on_heard, self._on_deaf)
        self.user_ended = time.monotonic()
        # Name of the user's turn that is heard, or empty; and its newest partial transcript.
        self._turn_id = ""
        self._told = ""

    async def hear(self, pcm: bytes, *, muted: bool) -> None:
        """More of the microphone."""
        deaf = self._barge_in == "none" and not self._push_to_talk and self._floor.speaking
        await self.ear.feed(bytes(len(pcm)) if deaf or muted else pcm)

    async def mute(self) -> None:
        """Nothing more is heard for a while: ends what is being said."""
        if self._turn_id:
            # The client may send nothing more, in which no silence could be heard.
            await self.ear.end_utterance()

    async def end_turn(self) -> None:
        """The user says that the turn is over."""
        await self.ear.end_utterance()
        self.user_ended = time.monotonic()

    async def _on_heard(self, response: ear_pb2.ListenResponse) -> None:
        match response.WhichOneof("payload"):
            case "speech_started":
                await self._on_speech_started(response.speech_started.offset_us)
            case "speech_sustained":
                if self._barge_in == "speech":
                    await self._floor.barge_in()
            case "speech_stopped":
                await self._on_speech_stopped(response.speech_stopped.offset_us)
            case "utterance":
                await self._on_utterance(response.utterance)
            case _:
                pass

    async def _on_speech_started(self, offset_us: int) -> None:
        turn_id = await self._listen()
        activity = pb.SpeechActivity(kind=pb.SpeechActivity.KIND_STARTED, offset_us=offset_us)
        await self._floor.tell(turn_id, pb.ConverseResponse(speech_activity=activity))
        # The user goes on: what was prepared answers half a sentence.
        await self._floor.prepare("", turn_id)

    async def _on_speech_stopped(self, offset_us: int) -> None:
        turn_id = await self._listen()
        if not self._push_to_talk:
            self.user_ended = self.ear.arrival(offset_us)
        activity = pb.SpeechActivity(kind=pb.SpeechActivity.KIND_STOPPED, offset_us=offset_us)
        await self._floor.tell(turn_id, pb.ConverseResponse(speech_activity=activity))

    async def _on_utterance(self, said: ear_pb2.Utterance) -> None:
        turn_id, text = await self._listen(), said.text.strip()
        if said.is_final or (self._partials and text != self._told):
            await self._floor.tell(turn_id, pb.ConverseResponse(transcript=transcript_of(said)))
        self._told = text
        if said.is_final:
            self._turn_id = self._told = ""
            await self._on_final(turn_id, text)
        elif not is_back_channel(text) and self._floor.speaking:
            if self._barge_in != "none":
                await self._floor.barge_in()
        else:
            await self._floor.prepare(text if said.is_stable else "", turn_id)

    async def _on_final(self, turn_id: str, text: str) -> None:
        # Over the avatar's voice, "mm-hm" asks it to go on; in silence, "yes" is an answer.
        if (not text or (not self._push_to_talk and is_back_channel(text))) and (
            self._floor.speaking or await self._floor.false_alarm()
        ):
            await self._tell_state(turn_id, pb.TurnState.STATE_DONE)
        elif text:
            stages = Stages(self.user_ended)
            stages.mark("asr")
            await self._floor.take_turn(text, stages, turn_id)
        else:
            # The detector was wrong, or the words could not be made out: nobody's turn.
            await self._tell_state(turn_id, pb.TurnState.STATE_DONE)

    async def _listen(self) -> str:
        """The user's turn that is heard, begun if need be."""
        if not self._turn_id:
            self._turn_id = self._floor.next_turn_id()
            await self._tell_state(self._turn_id, pb.TurnState.STATE_LISTENING)
        return self._turn_id

    async def _on_deaf(self, error: UnavailableError) -> None:
        turn_id, self._turn_id = self._turn_id, ""
        await self._floor.notice(turn_id, error)
        if turn_id:
            await self._tell_state(turn_id, pb.TurnState.STATE_FAILED)

    async def _tell_state(self, turn_id: str, state: pb.TurnState.State.ValueType) -> None:
        await self._floor.tell(turn_id, pb.ConverseResponse(turn=pb.TurnState(state=state)))
