"""From clauses to media: TTS, then A2BS, overlapping, on one media clock."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from taoxr.errors import UnavailableError
from taoxr.v1 import common_pb2
from taoxr.v1.conversation_pb2 import MediaChunk
from taoxr.worker.v1 import a2bs_pb2, tts_pb2
from taoxr_bridge import calls
from taoxr_bridge.clauses import Chunker
from taoxr_bridge.history import SpokenClause
from taoxr_bridge.pipe import Pipe
from taoxr_bridge.settings import Settings
from taoxr_bridge.stages import Stages
from taoxr_bridge.worker import Worker

# Clauses are padded to whole steps of 20 ms, so that every time on the media clock is a whole number
# of microseconds and of samples at the usual rates, and nothing ever needs rounding.
_STEP_US: Final = 20_000
_STEPS_PER_SECOND: Final = 50
_CHUNK_US: Final = 8 * _STEP_US
_BYTES: Final = 2
# Silence left at the end of a clause that was cut in the middle of a sentence.
_JOIN_US: Final = 40_000
# Enough for coarticulation to cross the join of two clauses.
_PREVIOUS_PHONEMES: Final = 6


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
        speed: Speaking rate; 0 is the voice's own.
    """

    tts: Worker
    a2bs: Worker
    sample_rate_hz: int
    frame_rate: float
    pause_ms: int
    wait_s: float
    speed: float = 0.0


@dataclass(frozen=True, slots=True)
class Voiced:
    """A clause that has a voice but no face yet; `pcm` is padded to whole steps."""

    index: int
    text: str
    pcm: bytes
    phonemes: Sequence[common_pb2.PhonemeTiming]


@dataclass(frozen=True, slots=True)
class Spoken:
    """A clause ready to send; a clause with nothing to pronounce has no chunks."""

    clause: SpokenClause
    chunks: Sequence[MediaChunk] = ()


async def open_voice(
    tts: Worker, a2bs: Worker, settings: Settings, *, frame_rate: float = 0.0, speed: float = 0.0
) -> Voice:
    """The voice of these workers.

    Raises:
        UnavailableError: The tts worker is down, or speaks at a rate that the media clock cannot hold.
    """
    async with calls.calling(tts, settings.worker_wait_s):
        rate = (await tts.status()).sample_rate_hz
    if rate <= 0 or rate % _STEPS_PER_SECOND:
        raise UnavailableError(
            f"the tts worker speaks at {rate} Hz, expected a multiple of {_STEPS_PER_SECOND} Hz"
        )
    return Voice(tts, a2bs, rate, frame_rate, settings.sentence_pause_ms, settings.worker_wait_s, speed)


def start_voice(tasks: asyncio.TaskGroup, text: str, voice: Voice, stages: Stages) -> Pipe[Voiced]:
    """Starts the stages that speak a whole text, and returns where its clauses come out."""
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
    index = 0
    async for text in clauses:
        if not text.strip():
            continue
        reply = await calls.synthesize(voice.tts, text.strip(), voice.wait_s, voice.speed)
        if reply.pcm and reply.sample_rate_hz != voice.sample_rate_hz:
            raise UnavailableError(
                f"the tts worker speaks at {reply.sample_rate_hz} Hz but said {voice.sample_rate_hz} Hz"
            )
        stages.mark("tts_first_audio")
        await voiced.put(_padded(index, text, reply, voice.pause_ms))
        index += 1
    await voiced.close()


async def add_face(voiced: Pipe[Voiced], spoken: Pipe[Spoken], voice: Voice, stages: Stages) -> None:
    """Stage: gives each clause its place on the media clock and its frames, and cuts it into chunks.

    Marks "a2bs_first_frames" and "total".
    """
    start_us = 0
    previous: Sequence[common_pb2.PhonemeTiming] = ()
    mood: Sequence[float] = ()
    async for part in voiced:
        duration_us = duration(part.pcm, voice.sample_rate_hz)
        phonemes = [shifted(p, start_us) for p in part.phonemes]
        clause = SpokenClause(part.text, start_us, start_us + duration_us, phonemes)
        if not part.pcm:
            await spoken.put(Spoken(clause))
            continue
        reply = await calls.animate_phonemes(
            voice.a2bs,
            a2bs_pb2.AnimatePhonemesRequest(
                phonemes=part.phonemes,
                pcm=part.pcm,
                sample_rate_hz=voice.sample_rate_hz,
                frame_rate=voice.frame_rate,
                clock_offset_us=start_us,
                previous=previous,
                text=part.text,
                mood_before=mood,
            ),
            voice.wait_s,
        )
        stages.mark("a2bs_first_frames")
        stages.mark_again("total")
        chunks = tuple(_chunks(part, clause, reply.frames, voice.sample_rate_hz))
        await spoken.put(Spoken(clause, chunks))
        mood = reply.mood_after
        # On the next clause's own clock, which begins where this one ends.
        previous = [shifted(p, -duration_us) for p in part.phonemes[-_PREVIOUS_PHONEMES:]]
        start_us = clause.end_us
    await spoken.close()


async def chunks_of(
    spoken: Pipe[Spoken],
    on_clause: Callable[[SpokenClause], None],
    enough: Callable[[], bool] = lambda: False,
) -> AsyncGenerator[MediaChunk]:
    """The chunks of all clauses, the last one marked; `on_clause` hears of each clause before its chunks.

    A chunk is held back until the next is there, since only then it is known not to be the last. No
    clause is begun, apart from the first, once `enough` is true.
    """
    held: MediaChunk | None = None
    async for part in spoken:
        if held is not None and enough():
            break
        on_clause(part.clause)
        for chunk in part.chunks:
            if held is not None:
                yield held
            held = chunk
    if held is not None:
        held.last = True
        yield held


def duration(pcm: bytes, sample_rate_hz: int) -> int:
    """Length of mono s16le audio in microseconds."""
    return len(pcm) // _BYTES * 1_000_000 // sample_rate_hz


def pieces(pcm: bytes, sample_rate_hz: int) -> Iterator[bytes]:
    """The audio of a clause in pieces of a chunk's length."""
    size = sample_rate_hz // _STEPS_PER_SECOND * (_CHUNK_US // _STEP_US) * _BYTES
    for start in range(0, len(pcm), size):
        yield pcm[start : start + size]


def shifted(phoneme: common_pb2.PhonemeTiming, by_us: int) -> common_pb2.PhonemeTiming:
    """The phoneme on a clock that began `by_us` earlier."""
    return common_pb2.PhonemeTiming(
        symbol=phoneme.symbol, start_us=phoneme.start_us + by_us, end_us=phoneme.end_us + by_us
    )


def _padded(index: int, text: str, reply: tts_pb2.SynthesizeResponse, pause_ms: int) -> Voiced:
    if not reply.pcm:
        return Voiced(index, text, b"", ())
    pcm, phonemes = reply.pcm, list(reply.phonemes)
    ending = text.rstrip()[-1]
    if ending.isalnum():
        # The sentence goes on: the silence that the voice ends with would tear it in two.
        pcm = _without_end(pcm, phonemes, reply.sample_rate_hz)
    elif ending not in ",;:":
        pcm += bytes(reply.sample_rate_hz * pause_ms // 1000 * _BYTES)
    pcm += bytes(-len(pcm) % (reply.sample_rate_hz // _STEPS_PER_SECOND * _BYTES))
    # From the end of the last phoneme, not of the audio: the two may be rounded differently.
    spoken_us, end_us = max((p.end_us for p in phonemes), default=0), duration(pcm, reply.sample_rate_hz)
    if end_us > spoken_us:
        phonemes.append(common_pb2.PhonemeTiming(symbol="_", start_us=spoken_us, end_us=end_us))
    return Voiced(index, text, pcm, phonemes)


def _without_end(pcm: bytes, phonemes: Sequence[common_pb2.PhonemeTiming], sample_rate_hz: int) -> bytes:
    """The audio with all but `_JOIN_US` of its last silence cut off; shortens the last phoneme as well."""
    if not phonemes or phonemes[-1].symbol not in ("", "_"):
        return pcm
    last = phonemes[-1]
    last.end_us = min(last.end_us, last.start_us + _JOIN_US)
    return pcm[: last.end_us * sample_rate_hz // 1_000_000 * _BYTES]


def _chunks(
    part: Voiced, clause: SpokenClause, frames: Sequence[common_pb2.Frame], sample_rate_hz: int
) -> Iterator[MediaChunk]:
    placed = 0
    end_us = clause.start_us
    for i, pcm in enumerate(pieces(part.pcm, sample_rate_hz)):
        start_us, end_us = end_us, end_us + duration(pcm, sample_rate_hz)
        inside = [f for f in frames if start_us <= f.time_us < end_us]
        placed += len(inside)
        chunk = MediaChunk(start_us=start_us, pcm=pcm, frames=inside, clause=part.index)
        if i == 0:
            chunk.clause_text = part.text.strip()
            chunk.phonemes.extend(clause.phonemes)
        yield chunk
    if placed != len(frames):
        raise UnavailableError(
            f"the a2bs worker made {len(frames)} frames, of which {placed} lie inside the clause "
            f"[{clause.start_us}, {clause.end_us}) us"
        )
