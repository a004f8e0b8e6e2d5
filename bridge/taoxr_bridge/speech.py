"""From clauses to media: TTS, then A2BS, overlapping, on one media clock.

A clause comes in parts, as its audio is made. Its text and the timing of all of it are known with the first.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from taoxr.errors import UnavailableError
from taoxr.v1 import common_pb2
from taoxr.v1.conversation_pb2 import MediaChunk
from taoxr.worker.v1 import a2bs_pb2, tts_pb2
from taoxr_bridge import calls
from taoxr_bridge.clauses import Chunker
from taoxr_bridge.code_blocks import CodeBlocks
from taoxr_bridge.history import SpokenClause
from taoxr_bridge.pipe import Pipe
from taoxr_bridge.stages import Stages
from taoxr_bridge.voice import STEPS_PER_SECOND, Voice

# Clauses are padded to whole steps of 20 ms, so that every time on the media clock is a whole number
# of microseconds and of samples at the usual rates, and nothing ever needs rounding.
_STEP_US: Final = 20_000
_CHUNK_US: Final = 8 * _STEP_US
_BYTES: Final = 2
# Silence left at the end of a clause that was cut in the middle of a sentence.
_JOIN_US: Final = 40_000
# Audio before and after a span that its frames depend on (pitch and loudness), in whole steps.
_BEFORE_US: Final = 50 * _STEP_US
_AFTER_US: Final = 5 * _STEP_US
# Enough for coarticulation to cross the join of two clauses.
_PREVIOUS_PHONEMES: Final = 6


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause whose timing is known; `phonemes` cover `duration_us`, which is a whole number of steps."""

    index: int
    text: str
    phonemes: Sequence[common_pb2.PhonemeTiming]
    duration_us: int


@dataclass(frozen=True, slots=True)
class Voiced:
    """The next audio of a clause, without a face yet: whole steps of 20 ms, or the rest.

    Attributes:
        clause: What it belongs to.
        pcm: Mono s16le; empty when the clause has nothing to pronounce.
        begins: It is the first of its clause.
        ends: It is the last of its clause.
        speed: Seconds of audio that the voice made in a second, since the clause was begun.
    """

    clause: Clause
    pcm: bytes
    begins: bool
    ends: bool
    speed: float


@dataclass(frozen=True, slots=True)
class Spoken:
    """The next of a clause, ready to send; a clause with nothing to pronounce has no chunks.

    Attributes:
        clause: What it belongs to.
        chunks: Media in order.
        begins: It is the first of its clause.
        ends: It is the last of its clause.
        speed: See `Voiced`.
    """

    clause: SpokenClause
    chunks: Sequence[MediaChunk]
    begins: bool
    ends: bool
    speed: float


def start_voice(tasks: asyncio.TaskGroup, text: str, voice: Voice, stages: Stages) -> Pipe[Voiced]:
    """Starts the stages that speak a whole text, and returns where its audio comes out."""
    clauses, voiced = Pipe[str](1), Pipe[Voiced](1)
    tasks.create_task(_cut(text, clauses))
    tasks.create_task(add_voice(clauses, voiced, voice, stages))
    return voiced


def start_speech(tasks: asyncio.TaskGroup, text: str, voice: Voice, stages: Stages) -> Pipe[Spoken]:
    """As `start_voice`, with a face."""
    spoken = Pipe[Spoken](1)
    tasks.create_task(add_face(start_voice(tasks, text, voice, stages), spoken, voice, stages))
    return spoken


async def _cut(text: str, clauses: Pipe[str]) -> None:
    chunker = Chunker()
    for clause in (*chunker.feed(text), *chunker.finish()):
        await clauses.put(clause)
    await clauses.close()


async def add_voice(clauses: Pipe[str], voiced: Pipe[Voiced], voice: Voice, stages: Stages) -> None:
    """Stage: speaks each clause, with a pause after sentences; marks "tts_first_audio"."""
    index, code = 0, CodeBlocks()
    async for text in clauses:
        if not text.strip():
            continue
        async with aclosing(_speak(index, text, code.outside(text), voice)) as parts:
            async for part in parts:
                stages.mark("tts_first_audio")
                await voiced.put(part)
        index += 1
    await voiced.close()


async def _speak(index: int, text: str, spoken: str, voice: Voice) -> AsyncGenerator[Voiced]:
    style = voice.style
    request = tts_pb2.SynthesizeRequest(
        text=spoken.strip(), speed=style.speed, seed=style.seed, speaker=style.speaker
    )
    async with aclosing(calls.synthesize(voice.tts, request, voice.wait_s)) as responses:
        began = time.monotonic()
        first = await anext(responses)
        waited = time.monotonic() - began
        rate = voice.sample_rate_hz
        if first.sample_rate_hz != rate:
            raise UnavailableError(
                f"the tts worker speaks at {first.sample_rate_hz} Hz but said {voice.sample_rate_hz} Hz"
            )
        clause, size = _planned(index, text, first.phonemes, rate, voice.pause_ms)
        if not size:
            yield Voiced(clause, b"", begins=True, ends=True, speed=0.0)
            return
        pcm, made, sent = first.pcm[:size], len(first.pcm), 0
        while made < size:
            whole = len(pcm) - len(pcm) % _step_size(rate)
            if whole:
                speed = made / _BYTES / rate / max(waited, 1e-6)
                yield Voiced(clause, pcm[:whole], begins=sent == 0, ends=False, speed=speed)
                pcm, sent = pcm[whole:], sent + whole
            # What the voice makes while its audio is not asked for takes no waiting.
            began = time.monotonic()
            response = await anext(responses, None)
            waited += time.monotonic() - began
            if response is None:
                raise UnavailableError(f"the tts worker made {made} of the {size} bytes that it announced")
            pcm, made = pcm + response.pcm[: size - made], made + len(response.pcm)
        pcm += bytes(clause.duration_us * rate // 1_000_000 * _BYTES - sent - len(pcm))
        speed = size / _BYTES / rate / max(waited, 1e-6)
        yield Voiced(clause, pcm, begins=sent == 0, ends=True, speed=speed)


async def add_face(voiced: Pipe[Voiced], spoken: Pipe[Spoken], voice: Voice, stages: Stages) -> None:
    """Stage: gives each clause its place on the media clock and its frames, and cuts it into chunks.

    Where the face hears the voice itself, a clause waits until all of its audio is there.

    Marks "a2bs_first_frames" and "total".
    """
    start_us, done_us, pcm = 0, 0, b""
    previous: Sequence[common_pb2.PhonemeTiming] = ()
    mood: Sequence[float] = ()  # at the end of the clause before
    mood_after: Sequence[float] = ()
    async for part in voiced:
        if part.begins:
            done_us, pcm = 0, b""
        pcm += part.pcm
        there_us = duration(pcm, voice.sample_rate_hz)
        until_us = there_us if part.ends else max(0, there_us - _AFTER_US) // _CHUNK_US * _CHUNK_US
        if voice.whole_clauses and not part.ends:
            until_us = 0
        phonemes = [shifted(p, start_us) for p in part.clause.phonemes]
        clause = SpokenClause(part.clause.text, start_us, start_us + part.clause.duration_us, phonemes)
        if until_us > done_us:
            context_us = max(0, done_us - _BEFORE_US)
            request = a2bs_pb2.AnimatePhonemesRequest(
                phonemes=part.clause.phonemes,
                pcm=_cut_out(pcm, context_us, there_us, voice.sample_rate_hz),
                pcm_start_us=context_us,
                sample_rate_hz=voice.sample_rate_hz,
                frame_rate=voice.frame_rate,
                clock_offset_us=start_us,
                previous=previous,
                text=part.clause.text,
                mood_before=mood,
                start_us=done_us,
                end_us=0 if voice.whole_clauses else until_us,
            )
            reply = await calls.animate_phonemes(voice.a2bs, request, voice.wait_s)
            stages.mark("a2bs_first_frames")
            stages.mark_again("total")
            span = _cut_out(pcm, done_us, until_us, voice.sample_rate_hz)
            chunks = tuple(_chunks(part.clause, clause, done_us, span, reply.frames, voice.sample_rate_hz))
            await spoken.put(Spoken(clause, chunks, done_us == 0, part.ends, part.speed))
            done_us, mood_after = until_us, reply.mood_after
        elif part.ends:  # nothing to pronounce
            await spoken.put(Spoken(clause, (), begins=True, ends=True, speed=part.speed))
        if part.ends and part.pcm:
            # On the next clause's own clock, which begins where this one ends.
            last = part.clause.phonemes[-_PREVIOUS_PHONEMES:]
            previous = [shifted(p, -part.clause.duration_us) for p in last]
            start_us, mood = clause.end_us, mood_after
    await spoken.close()


async def chunks_of(
    spoken: AsyncIterable[Spoken],
    on_clause: Callable[[SpokenClause], None],
    enough: Callable[[], bool] = lambda: False,
) -> AsyncGenerator[MediaChunk]:
    """The chunks of all clauses, the last one marked; `on_clause` hears of each clause before its chunks.

    The last chunk of a clause is held back until the next clause begins, since only then it is known not
    to be the last of all. No clause is begun, apart from the first, once `enough` is true.
    """
    held: MediaChunk | None = None
    async for part in spoken:
        if part.begins:
            if held is not None and enough():
                break
            on_clause(part.clause)
            if held is not None and part.clause.end_us > part.clause.start_us:
                yield held
                held = None
        for chunk in part.chunks[: -1 if part.ends else None]:
            yield chunk
        if part.ends and part.chunks:
            held = part.chunks[-1]
    if held is not None:
        held.last = True
        yield held


def duration(pcm: bytes, sample_rate_hz: int) -> int:
    """Length of mono s16le audio in microseconds."""
    return len(pcm) // _BYTES * 1_000_000 // sample_rate_hz


def pieces(pcm: bytes, sample_rate_hz: int) -> Iterator[bytes]:
    """Audio in pieces of a chunk's length."""
    size = _chunk_size(sample_rate_hz)
    for start in range(0, len(pcm), size):
        yield pcm[start : start + size]


def shifted(phoneme: common_pb2.PhonemeTiming, by_us: int) -> common_pb2.PhonemeTiming:
    """The phoneme on a clock that began `by_us` earlier."""
    return common_pb2.PhonemeTiming(
        symbol=phoneme.symbol, start_us=phoneme.start_us + by_us, end_us=phoneme.end_us + by_us
    )


def _planned(
    index: int,
    text: str,
    timing: Sequence[common_pb2.PhonemeTiming],
    sample_rate_hz: int,
    pause_ms: int,
) -> tuple[Clause, int]:
    """The clause with the silence that belongs after it, and how many bytes of the voice's audio it uses."""
    if not timing:
        return Clause(index, text, (), 0), 0
    phonemes = [common_pb2.PhonemeTiming.FromString(p.SerializeToString()) for p in timing]
    last, pause = phonemes[-1], 0
    ending = text.rstrip()[-1]
    if ending.isalnum() and last.symbol in ("", "_"):
        # The sentence goes on: the silence that the voice ends with would tear it in two.
        last.end_us = min(last.end_us, last.start_us + _JOIN_US)
    elif not ending.isalnum() and ending not in ",;:":
        pause = sample_rate_hz * pause_ms // 1000
    samples = round(last.end_us * sample_rate_hz / 1_000_000)
    steps = -(-(samples + pause) // (sample_rate_hz // STEPS_PER_SECOND))
    end_us = steps * _STEP_US
    if end_us > last.end_us:
        phonemes.append(common_pb2.PhonemeTiming(symbol="_", start_us=last.end_us, end_us=end_us))
    return Clause(index, text, phonemes, end_us), samples * _BYTES


def _chunk_size(sample_rate_hz: int) -> int:
    return _step_size(sample_rate_hz) * (_CHUNK_US // _STEP_US)


def _step_size(sample_rate_hz: int) -> int:
    return sample_rate_hz // STEPS_PER_SECOND * _BYTES


def _cut_out(pcm: bytes, start_us: int, end_us: int, sample_rate_hz: int) -> bytes:
    """The audio between two whole steps."""
    step = _step_size(sample_rate_hz)
    return pcm[start_us // _STEP_US * step : end_us // _STEP_US * step]


def _chunks(
    clause: Clause,
    placed: SpokenClause,
    done_us: int,
    span: bytes,
    frames: Sequence[common_pb2.Frame],
    sample_rate_hz: int,
) -> Iterator[MediaChunk]:
    count = 0
    begin_us = end_us = placed.start_us + done_us
    for pcm in pieces(span, sample_rate_hz):
        start_us, end_us = end_us, end_us + duration(pcm, sample_rate_hz)
        inside = [f for f in frames if start_us <= f.time_us < end_us]
        count += len(inside)
        chunk = MediaChunk(start_us=start_us, pcm=pcm, frames=inside, clause=clause.index)
        if start_us == placed.start_us:
            chunk.clause_text = clause.text.strip()
            chunk.phonemes.extend(placed.phonemes)
        yield chunk
    if count != len(frames):
        raise UnavailableError(
            f"the a2bs worker made {len(frames)} frames, of which {count} lie inside the span "
            f"[{begin_us}, {end_us}) us"
        )
