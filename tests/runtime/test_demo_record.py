"""The bookkeeping of a demo: what was heard when, and how far picture and sound are apart."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoxr import arkit
from taoxr.client import MediaChunk, Rig, SessionStarted, State, TurnState
from taoxr_runtime.demo.figures import av_skew_ms, summary, timeline
from taoxr_runtime.demo.playback import CUSHION_US, Playback
from taoxr_runtime.demo.record import Arrival, Asked, Clock, Prompt, Record, Source, Turn
from taoxr_runtime.demo.voices import FILM_HZ, film_sound

pytestmark = pytest.mark.unit

RATE = 20_000
CHUNK_US = 100_000
SAMPLES = RATE * CHUNK_US // 1_000_000
FRAMES = 5


def test_plays_in_real_time_after_its_cushion() -> None:
    playback = Playback(RATE)
    playback.push(1_000_000, 0, SAMPLES, last=False)
    playback.push(1_050_000, CHUNK_US, SAMPLES, last=True)
    start = 1_000_000 + CUSHION_US
    assert playback.heard_us(start) == 0
    assert playback.heard_us(start + 30_000) == 30_000
    assert playback.heard_us(start + 150_000) == 150_000
    assert not playback.finished(start + 199_000)
    assert playback.finished(start + 200_000)
    assert playback.heard_us(start + 900_000) == 200_000
    assert playback.heard_at(start - 1) is None
    assert playback.heard_at(start + 120_000) == 120_000
    assert playback.heard_at(start + 200_000) is None
    assert playback.underruns == 0


def test_running_dry_is_counted_and_playing_goes_on_where_it_stopped() -> None:
    playback = Playback(RATE)
    playback.push(0, 0, SAMPLES, last=False)
    playback.push(500_000, CHUNK_US, SAMPLES, last=True)
    assert playback.underruns == 1
    assert playback.heard_us(450_000 + CUSHION_US) == CHUNK_US
    assert playback.heard_us(550_000 + CUSHION_US) == CHUNK_US + 50_000
    assert playback.heard_at(300_000) is None


def test_stopping_keeps_what_was_heard_and_nothing_else() -> None:
    playback = Playback(RATE)
    playback.push(0, 0, 10 * SAMPLES, last=False)
    playback.stop(CUSHION_US + 250_000)
    assert playback.finished(CUSHION_US + 250_000)
    assert playback.heard_us(9_000_000) == 250_000
    assert sum(span.samples for span in playback.spans) == RATE // 4


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 300_000), st.integers(1, 8000)), min_size=1, max_size=12),
    st.lists(st.integers(0, 400_000), max_size=8),
)
def test_every_sample_is_heard_once_in_order_and_never_early(
    chunks: list[tuple[int, int]], asks: list[int]
) -> None:
    playback, now, media = Playback(RATE), 0, 0
    pushed: list[int] = []
    for i, (wait, samples) in enumerate(chunks):
        now += wait
        playback.push(now, media, samples, last=i == len(chunks) - 1)
        pushed.append(now)
        media += samples * 1_000_000 // RATE
        if i < len(asks):
            now += asks[i]
            assert 0 <= playback.heard_us(now) <= media
    assert playback.finished(now + 100_000_000)
    assert [span.samples for span in playback.spans] == [samples for _, samples in chunks]
    for span, arrival in zip(playback.spans, pushed, strict=True):
        assert span.wall_us >= arrival
    ends = [s.wall_us + s.samples * 1e6 / RATE for s in playback.spans]
    assert all(b.wall_us >= a - 1 for a, b in zip(ends, playback.spans[1:], strict=False))


def chunk(number: int, count: int, turn_id: str = "t") -> MediaChunk:
    start = number * CHUNK_US
    times = start + np.arange(FRAMES, dtype=np.int64) * CHUNK_US // FRAMES
    weights = np.full((FRAMES, 52), 0.3, np.float32)
    tone = 8000 * np.sin(2 * np.pi * 400 * (np.arange(SAMPLES) + number * SAMPLES) / RATE)
    return MediaChunk(
        number, turn_id, 0, start, RATE, tone.astype(np.int16), times, weights,
        0, "Hello there." if number == 0 else "", (), number == count - 1,
    )  # fmt: skip


def make_record(
    *, fps: float = 25.0, count: int = 20, frames_late_us: int = 0, tick_late_us: int = 0
) -> Record:
    """A conversation of one turn, chunks arriving every 60 ms from 1 s on."""
    rig = Rig("arkit52", arkit.NAMES, 50.0, provisional=False)
    record = Record(Clock(), SessionStarted(0, "", 0, "s", 16_000, RATE, rig, 1_200_000), fps)
    record.asked.append(Asked(Prompt(Source.TEXT, "Hi?"), 200_000, 300_000, ["t"]))
    turn = Turn("t", 0, Playback(RATE))
    for n in range(count):
        at, piece = 1_000_000 + n * 60_000, chunk(n, count)
        turn.playback.push(at, piece.start_us, len(piece.pcm), last=piece.last)
        turn.chunks.append((at + frames_late_us, piece))
        record.arrivals.append(Arrival(at, piece))
    end = 1_000_000 + count * CHUNK_US + 500_000
    assert turn.playback.finished(end)
    turn.states.append((900_000, TurnState(0, "t", 0, State.THINKING, "")))
    turn.states.append((end, TurnState(0, "t", 0, State.DONE, "Hello there.")))
    record.turns.append(turn)
    record.ticks = [round(n * 1e6 / fps) + tick_late_us for n in range(round(end * fps / 1e6))]
    record.end_us = end
    return record


def test_skew_of_a_sound_conversation_is_nothing() -> None:
    record = make_record()
    skew = av_skew_ms(record, record.turns[0])
    assert len(skew) == pytest.approx(2.0 * record.fps, abs=2)
    assert np.abs(skew).max() < 0.01


def test_skew_shows_a_late_display() -> None:
    record = make_record(tick_late_us=35_000)
    assert np.median(av_skew_ms(record, record.turns[0])) == pytest.approx(35.0, abs=0.1)


def test_skew_shows_late_frames() -> None:
    # 100 ms of sound come every 60 ms: frames 400 ms late hurt at first, and no more in the end.
    record = make_record(frames_late_us=400_000)
    late = av_skew_ms(record, record.turns[0])
    assert late.min() <= -300.0
    assert late[-1] == 0.0
    assert np.percentile(np.abs(late), 99) > 250.0


def test_summary_and_timeline_are_json_and_say_what_happened() -> None:
    record = make_record()
    figures = json.loads(json.dumps(summary(record, None)))
    turn = figures["turns"][0]
    assert turn["transcript"] == "Hi?"
    assert turn["heard"] == "Hello there."
    assert turn["state"] == "done"
    assert turn["audio_s"] == 2.0
    assert turn["frames"] == 100
    assert turn["stages_ms"]["client_first_media"] == 700.0
    assert turn["stages_ms"]["client_first_heard"] == 700.0 + CUSHION_US / 1e3
    assert set(turn["av_skew_ms"]) == {"p50", "p99", "mean_signed", "pictures"}
    told = json.loads(json.dumps(timeline(record)))
    assert [e["at_us"] for e in told["events"]] == [a.at_us for a in record.arrivals]
    assert told["events"][0]["frame_weights"][0][0] == 0.3
    assert sum(s[2] for s in told["heard"][0]["spans"]) == 20 * SAMPLES


def test_film_sound_has_each_voice_where_it_was_heard() -> None:
    record = make_record()
    voice = (6000 * np.sin(np.arange(3200) / 5)).astype(np.int16)
    record.asked[0] = Asked(Prompt(Source.RECORDING, "", voice, 16_000), 200_000, 400_000, ["t"])
    sound = film_sound(record, 4_000_000).astype(float)
    assert sound.shape == (2, 4 * FILM_HZ)

    def level(start_s: float, end_s: float) -> np.ndarray:
        return np.sqrt((sound[:, int(start_s * FILM_HZ) : int(end_s * FILM_HZ)] ** 2).mean(axis=1))

    assert (level(0.0, 0.19) < 5).all()
    assert (level(0.21, 0.39) > 1500).all()
    assert level(0.21, 0.39)[0] > level(0.21, 0.39)[1]
    assert (level(0.5, 1.0) < 5).all()
    start = 1.0 + CUSHION_US / 1e6
    assert (level(start + 0.01, start + 1.99) > 3000).all()
    assert (level(start + 2.02, 4.0) < 5).all()
    # No click at the seams of the chunks: the tone's steepest slope is that of the tone alone.
    inside = sound[0, int((start + 0.02) * FILM_HZ) : int((start + 1.98) * FILM_HZ)]
    assert np.abs(np.diff(inside)).max() < 1.1 * 0.75 * 8000 * 2 * np.pi * 400 / FILM_HZ
