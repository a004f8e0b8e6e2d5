"""Who speaks: the workers that make voice and face, and how they are to."""

from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr.worker.v1 import tts_pb2
from taoxr_bridge import calls
from taoxr_bridge.settings import Settings
from taoxr_bridge.worker import Worker

STEPS_PER_SECOND: Final = 50
"""The media clock counts steps of 20 ms, each a whole number of microseconds and of samples."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a voice speaks.

    Attributes:
        speed: Speaking rate; 0 is the voice's own.
        seed: Varies intonation and rhythm.
        speaker: Name or number, of a voice that has several; empty is the first.
    """

    speed: float = 0.0
    seed: int = 0
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Voice:
    """Who speaks, and how.

    Attributes:
        tts: Worker that speaks.
        a2bs: Worker that makes the frames.
        sample_rate_hz: Rate of the audio.
        frame_rate: Frames per second.
        pause_ms: Silence after a sentence.
        wait_s: How long to wait for a worker that restarts.
        style: How it speaks.
        whole_clauses: The face hears the voice itself, and takes a clause only as a whole.
    """

    tts: Worker
    a2bs: Worker
    sample_rate_hz: int
    frame_rate: float
    pause_ms: int
    wait_s: float
    style: Style
    whole_clauses: bool = False


async def open_voice(
    tts: Worker,
    a2bs: Worker,
    settings: Settings,
    *,
    frame_rate: float = 0.0,
    style: Style = Style(),
    field: str = "speaker",
    whole_clauses: bool = False,
) -> Voice:
    """The voice of these workers.

    Args:
        tts: Worker that speaks.
        a2bs: Worker that makes the frames.
        settings: Of the bridge.
        frame_rate: Frames per second.
        style: How it speaks.
        field: Where the client named the speaker.
        whole_clauses: See `Voice`.

    Raises:
        InvalidInputError: The voice has no such speaker; the text names those that it has.
        UnavailableError: The tts worker is down, or speaks at a rate that the media clock cannot hold.
    """
    async with calls.calling(tts, settings.worker_wait_s):
        rate = (await tts.status()).sample_rate_hz
    if rate <= 0 or rate % STEPS_PER_SECOND:
        raise UnavailableError(
            f"the tts worker speaks at {rate} Hz, expected a multiple of {STEPS_PER_SECOND} Hz"
        )
    if style.speaker:
        # Nothing to say: only to be told now, not at the first clause, that there is no such speaker.
        request = tts_pb2.SynthesizeRequest(speaker=style.speaker)
        async with aclosing(calls.synthesize(tts, request, settings.worker_wait_s)) as responses:
            try:
                await anext(responses)
            except InvalidInputError as error:
                raise InvalidInputError(field, error.value, error.expected) from error
    return Voice(
        tts,
        a2bs,
        rate,
        frame_rate,
        settings.sentence_pause_ms,
        settings.worker_wait_s,
        style,
        whole_clauses,
    )
