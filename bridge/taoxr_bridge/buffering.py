"""A voice that is slower than real time: a clause begins late, so that it does not stutter."""

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from typing import Final

from google.rpc import status_pb2  # pyright: ignore[reportMissingTypeStubs]

from taoxr.v1.conversation_pb2 import MediaChunk
from taoxr_bridge.notices import notice
from taoxr_bridge.speech import Spoken

REASON: Final = "VOICE_SLOW"
# The voice may get slower yet: only this share of its speed is counted on.
_TRUSTED: Final = 0.9


async def steady(
    spoken: AsyncIterable[Spoken], sample_rate_hz: int, on_slow: Callable[[float], Awaitable[None]]
) -> AsyncGenerator[Spoken]:
    """Holds a clause back until the rest of it will be made before it is needed.

    With a voice of speed v (seconds of audio made in a second), a clause of length d that begins when p of
    it is made never waits if p >= d * (1 - v). A voice faster than real time is never held back.

    Args:
        spoken: Clauses in parts.
        sample_rate_hz: Rate of their audio.
        on_slow: Called with the voice's speed when the first clause is held back.
    """
    told, flowing = False, True
    held: list[MediaChunk] = []
    async for part in spoken:
        begins = part.begins
        if begins:
            flowing, held = False, []
        if flowing:
            yield part
            continue
        held.extend(part.chunks)
        clause = part.clause
        made_us = len(b"".join(chunk.pcm for chunk in held)) // 2 * 1_000_000 // sample_rate_hz
        needed_us = (clause.end_us - clause.start_us) * (1.0 - _TRUSTED * part.speed)
        flowing = part.ends or made_us >= needed_us
        if flowing:
            yield Spoken(clause, held, begins, part.ends, part.speed)
            continue
        if begins:
            # That it comes is known: the clause before it can go out to its end.
            yield Spoken(clause, (), begins=True, ends=False, speed=part.speed)
        if not told:
            told = True
            await on_slow(part.speed)


def slow_notice(speed: float) -> status_pb2.Status:
    """Tells the client why the speech pauses between clauses."""
    text = f"the voice makes {speed:.2f} seconds of speech in a second: clauses begin late"
    return notice(REASON, text, speed=f"{speed:.3f}")
