"""The live part: talks with the bridge in real time and writes down what happens when.

The user's voice is sent at the pace at which it would be spoken, in 32 ms blocks like those of a
microphone; the answer is played on a simulated sound device whose position is reported back, so
that the server paces itself as with a real listener.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from taoxr.client import (
    Client,
    Conversation,
    ConversationOptions,
    Event,
    InputMode,
    MediaChunk,
    Motion,
    Notice,
    State,
    TextDelta,
    Track,
    Transcript,
    TurnMetrics,
    TurnState,
)
from taoxr.errors import UnavailableError
from taoxr_runtime.demo.playback import Playback
from taoxr_runtime.demo.record import Arrival, Asked, Clock, Prompt, Record, Turn
from taoxr_runtime.demo.sound import at_rate, trailing_silence_us

AUDIO_IN_HZ: Final = 16_000
BLOCK: Final = 512
BLOCK_US: Final = BLOCK * 1_000_000 // AUDIO_IN_HZ
_REPORT_S: Final = 0.1
_POLL_S: Final = 0.02
# The film starts with the avatar alone, and leaves it some time between turns.
_LEAD_IN_S: Final = 1.6
_PAUSE_S: Final = 1.1
_LEAD_OUT_S: Final = 1.4
# After this long without any event the server is taken to be stuck.
_PATIENCE_S: Final = 60.0

Say = Callable[[str], None]


class Live:
    """One conversation, from the first prompt to the last answer.

    Attributes:
        listens: Whether there is a voice even without prompts.
        record: What happened so far; None before it began.
    """

    listens = False

    def __init__(self, client: Client, fps: float, mode: InputMode, tell: Say) -> None:
        """Args: connection, display rate, how spoken turns end, and where progress is told."""
        self._client = client
        self._fps = fps
        self._mode = mode
        self.tell = tell
        self._voice = np.zeros(0, np.int16)
        self._silent_us = 0
        self._over = False
        self._said = asyncio.Event()
        self._last_event_us = 0
        self.record: Record | None = None

    async def run(self, prompts: Sequence[Prompt]) -> None:
        """Converses; `record` holds what happened so far even when this is cancelled.

        Raises:
            TaoxrError: The server refused something, went away or stopped answering.
        """
        spoken = self.listens or any(len(prompt.pcm) for prompt in prompts)
        options = ConversationOptions(
            audio_in_hz=AUDIO_IN_HZ if spoken else 0,
            input_mode=self._mode,
            temperature=0.0,  # the likeliest words, so that a demo repeats
            tracks=frozenset({Track.BODY}),
        )
        async with self._client.converse(options) as conversation:
            record = self.record = Record(Clock(), conversation.started, self._fps)
            background = [
                self._read(conversation, record),
                self._tick(record),
                self._report(conversation, record),
            ]
            if spoken:
                background.append(self.speak(conversation, record))
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(job) for job in background]
                    await self.ask_all(conversation, record, prompts)
                    self._over = True
                    await conversation.end()
                    for task in tasks:
                        task.cancel()
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None
            finally:
                record.end_us = record.clock.now_us()

    async def ask_all(self, conversation: Conversation, record: Record, prompts: Sequence[Prompt]) -> None:
        """Plays the user's part; the conversation is over when this returns."""
        await asyncio.sleep(_LEAD_IN_S)
        for number, prompt in enumerate(prompts, 1):
            self.tell(f"turn {number} of {len(prompts)}: {prompt.text or 'a recorded question'}")
            await self._ask(conversation, record, prompt)
            await self._answered(record)
            await asyncio.sleep(_PAUSE_S if number < len(prompts) else _LEAD_OUT_S)

    async def _ask(self, conversation: Conversation, record: Record, prompt: Prompt) -> None:
        asked = Asked(prompt, record.clock.now_us())
        record.asked.append(asked)
        self._last_event_us = asked.start_us
        if not len(prompt.pcm):
            await conversation.send_text(prompt.text)
            asked.end_us = record.clock.now_us()
            return
        self._voice = at_rate(prompt.pcm, prompt.rate_hz, AUDIO_IN_HZ)
        self._silent_us = trailing_silence_us(self._voice, AUDIO_IN_HZ)
        self._said.clear()
        await self._said.wait()

    async def _answered(self, record: Record) -> None:
        """Waits until the newest turn has ended and was heard."""
        clock = record.clock
        while True:
            turn = record.turns[-1] if record.turns else None
            current = turn is not None and turn.asked == len(record.asked) - 1
            if turn and current and turn.ended and turn.playback.finished(clock.now_us()):
                if turn.state is not State.INTERRUPTED:
                    return
                # Interrupted by more speech of the same prompt: another turn follows, or none does.
                if clock.now_us() - self._last_event_us > 3_000_000:
                    return
            playing = bool(turn and not turn.playback.finished(clock.now_us()) and turn.chunks)
            if not playing and clock.now_us() - self._last_event_us > _PATIENCE_S * 1e6:
                raise UnavailableError(
                    f"no answer within {_PATIENCE_S:.0f} s of the last event; look at the bridge's log"
                )
            await asyncio.sleep(_POLL_S)

    async def speak(self, conversation: Conversation, record: Record) -> None:
        """Sends the user's voice: a block every 32 ms, of the question or of a quiet room."""
        rng, block = np.random.default_rng(0), 0
        base_us = record.clock.now_us()
        voiced = False
        while True:
            block += 1
            due_us = base_us + block * BLOCK_US
            await asyncio.sleep(max(due_us - record.clock.now_us(), 0) / 1e6)
            piece, self._voice = self._voice[:BLOCK], self._voice[BLOCK:]
            asked = record.asked[-1] if record.asked else None
            if len(piece) and asked and not voiced:
                asked.start_us, voiced = due_us - BLOCK_US, True
            if voiced or self._mode is InputMode.HANDS_FREE:
                room = rng.integers(-2, 3, BLOCK, np.int16)
                room[: len(piece)] += piece
                await conversation.send_audio(room)
            if voiced and asked and not len(self._voice):
                sent_us = due_us - BLOCK_US + len(piece) * 1_000_000 // AUDIO_IN_HZ
                asked.end_us, voiced = sent_us - self._silent_us, False
                self._said.set()
                if self._mode is InputMode.PUSH_TO_TALK:
                    await conversation.end_of_user_turn()

    async def _tick(self, record: Record) -> None:
        """The display: notes when each picture's state is taken, late ticks included."""
        while True:
            due_us = round(len(record.ticks) * 1e6 / record.fps)
            await asyncio.sleep(max(due_us - record.clock.now_us(), 0) / 1e6)
            record.ticks.append(record.clock.now_us())

    async def _report(self, conversation: Conversation, record: Record) -> None:
        told: dict[str, int] = {}
        while True:
            await asyncio.sleep(_REPORT_S)
            for turn in record.turns[-1:]:
                heard = turn.playback.heard_us(record.clock.now_us())
                if heard != told.get(turn.turn_id, 0) and not turn.ended:
                    told[turn.turn_id] = heard
                    await conversation.report_playback(turn.turn_id, heard, turn.playback.underruns)

    async def _read(self, conversation: Conversation, record: Record) -> None:
        async for event in conversation:
            now_us = record.clock.now_us()
            if not isinstance(event, Motion):  # which never stops coming
                self._last_event_us = now_us
            record.arrivals.append(Arrival(now_us, event))
            self.note(record, now_us, event)
        if not self._over:
            raise UnavailableError("the server ended the conversation; look at the bridge's log")

    def note(self, record: Record, now_us: int, event: Event) -> None:
        """Writes an event down that came now."""
        if isinstance(event, Notice):
            self.tell(f"notice from the bridge: {event.error}")
        if not event.turn_id:
            return
        turn = record.turn(event.turn_id)
        if turn is None:
            if not record.asked:
                return
            turn = Turn(event.turn_id, len(record.asked) - 1, Playback(record.started.audio_out_hz))
            record.turns.append(turn)
            record.asked[-1].turn_ids.append(event.turn_id)
        match event:
            case MediaChunk():
                turn.chunks.append((now_us, event))
                turn.playback.push(now_us, event.start_us, len(event.pcm), last=event.last)
            case TurnState():
                turn.states.append((now_us, event))
                if event.state.ended and (event.state is not State.DONE or not turn.chunks):
                    turn.playback.stop(now_us)
            case Transcript():
                turn.transcripts.append((now_us, event))
            case TextDelta():
                turn.answer += event.text
            case TurnMetrics():
                turn.metrics = event
            case _:
                return
