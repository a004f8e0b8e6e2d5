"""A clause's phonemes and audio to frames on the media clock."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_models.a2bs.coarticulation import RESTING_S, Curve, brow_curve, control_curves
from taoxr_models.a2bs.phonemes import Phoneme, Segment, segments
from taoxr_models.a2bs.prosody import brow_gain
from taoxr_models.a2bs.rig import arkit_weights, raise_brows

DEFAULT_FRAME_RATE: Final = 30.0
MIN_FRAME_RATE: Final = 12.0
MAX_FRAME_RATE: Final = 240.0

# A clause takes over from the one before within this time.
JOIN_S: Final = 0.08
# Louder speech opens the jaw more, within these limits. Loud is what is above four fifths of our voice,
# whose level is fixed: so the gain of a moment does not wait for the rest of the clause.
_LOUD: Final = 32768 * 10 ** (-18.5 / 20)
_GAIN_RANGE: Final = (0.8, 1.15)
_GAIN_EXPONENT: Final = 0.3
_ENVELOPE_S: Final = 0.06
CONTEXT_S: Final = 0.1
"""Audio after a moment that tells how loud and high it is: the envelope, and a block of 10 ms."""


@dataclass(frozen=True, slots=True)
class Track:
    """Frames in time.

    Attributes:
        times_us: [n] int64 microseconds on the media clock.
        weights: [n, 52] float32 ARKit weights.
    """

    times_us: NDArray[np.int64]
    weights: NDArray[np.float32]


def frame_times(start_us: int, end_us: int, frame_rate: float) -> NDArray[np.int64]:
    """Times k / frame_rate in [start_us, end_us), rounded to microseconds.

    Exact (no drift), so that neighbouring spans share no frame and miss none.
    """
    period = Fraction(1_000_000) / Fraction(frame_rate)
    first = math.floor(start_us / period) - 1
    last = math.ceil(end_us / period) + 1
    times = (round(k * period) for k in range(first, last + 1))
    return np.array([t for t in times if start_us <= t < end_us], dtype=np.int64)


def check_frame_rate(value: float, field: str = "frame_rate") -> float:
    """The frame rate to use for a requested one; 0 asks for the default.

    Raises:
        InvalidInputError: It is out of range.
    """
    if value == 0:
        return DEFAULT_FRAME_RATE
    if not MIN_FRAME_RATE <= value <= MAX_FRAME_RATE:
        raise InvalidInputError(field, value, f"{MIN_FRAME_RATE:g} to {MAX_FRAME_RATE:g}, or 0")
    return value


def animate_phonemes(
    phonemes: Sequence[Phoneme],
    pcm: NDArray[np.int16],
    sample_rate_hz: int,
    *,
    frame_rate: float = DEFAULT_FRAME_RATE,
    clock_offset_us: int = 0,
    previous: Sequence[Phoneme] = (),
    pcm_start_us: int = 0,
    span_us: tuple[int, int] | None = None,
) -> Track:
    """Animates one clause, or a span of it: the frames of a span are those of the whole clause there.

    At its first instant the clause shows exactly what the clause before ended with (given enough of
    `previous`; half a second is plenty), so tracks of successive clauses join without a step. The one
    exception are clauses shorter than `JOIN_S`, which end before they have taken over.

    Args:
        phonemes: The clause's phonemes, times in seconds from its start.
        pcm: [n] audio, for loudness and pitch: the clause, or the span with `prosody.CONTEXT_S` before it
            and `CONTEXT_S` after it. When there are no phonemes, it tells the length.
        sample_rate_hz: Rate of `pcm`.
        frame_rate: Frames per second.
        clock_offset_us: Time of the clause's start on the media clock.
        previous: Last phonemes of the clause before, on any clock; they end where this clause starts.
        pcm_start_us: Where in the clause `pcm` begins.
        span_us: First and end of the span on the clause's clock; None for the clause.

    Raises:
        InvalidInputError: Phonemes are out of order or not IPA.
    """
    length_us = round(phonemes[-1].end * 1e6) if phonemes else len(pcm) * 1_000_000 // sample_rate_hz
    seconds = length_us * 1e-6
    start_us, end_us = span_us or (0, length_us)
    times_us = frame_times(clock_offset_us + start_us, clock_offset_us + min(end_us, length_us), frame_rate)
    times = np.asarray((times_us - clock_offset_us) * 1e-6, dtype=np.float64)
    before = _ending_at_zero(segments(previous, "previous"))
    clause = segments(phonemes)
    pcm_start = pcm_start_us * 1e-6
    jaw = loudness_gain(pcm, sample_rate_hz, times, seconds, pcm_start)
    brows = 1.0 + _inside(times, seconds) * (brow_gain(pcm, sample_rate_hz, times, pcm_start) - 1.0)
    dwell = min(2.0 / frame_rate, 0.09)
    joint = _weights([*before, *_reachable(clause, before, dwell)], times, jaw, brows, dwell)
    alone = _weights(before, times, 1.0, 1.0, dwell)
    x = np.clip(times / JOIN_S, 0.0, 1.0)
    taken_over = (x * x * (3.0 - 2.0 * x))[:, None]
    weights = alone + taken_over * (joint - alone)
    return Track(times_us, weights.astype(np.float32))


def loudness_gain(
    pcm: NDArray[np.int16], sample_rate_hz: int, times: Curve, seconds: float, start: float = 0.0
) -> Curve:
    """Scale of the jaw from loudness, against the level of our own voice.

    Args:
        pcm: [n] audio with `CONTEXT_S` before and after the times at least, as far as the clause goes.
        sample_rate_hz: Its rate.
        times: [n] seconds from the start of the clause.
        seconds: Length of the clause.
        start: Where in the clause `pcm` begins, in seconds.

    Returns:
        [n] about 0.8 to 1.15; 1 at both ends of the clause, so that clauses join.
    """
    hop = max(1, sample_rate_hz // 100)
    # On the clause's own grid of blocks, wherever the audio begins.
    first_sample = round(start * sample_rate_hz)
    first = -(-first_sample // hop)
    pcm = pcm[first * hop - first_sample :]
    blocks = len(pcm) // hop
    if blocks == 0:
        return np.ones_like(times)
    power = (pcm[: blocks * hop].reshape(blocks, hop).astype(np.float64) ** 2).mean(axis=1)
    rms = np.sqrt(power) + 1.0
    gain = np.clip((rms / _LOUD) ** _GAIN_EXPONENT, *_GAIN_RANGE)
    window = np.hanning(2 * round(_ENVELOPE_S * 100) + 1)
    gain = np.convolve(np.pad(gain, len(window) // 2, mode="edge"), window / window.sum(), mode="valid")
    at = np.interp(times, (first + np.arange(blocks) + 0.5) * hop / sample_rate_hz, gain)
    return 1.0 + _inside(times, seconds) * (at - 1.0)


def _inside(times: Curve, seconds: float) -> Curve:
    """0 at both ends of a clause, 1 within; so what is scaled by it joins."""
    return np.clip(np.minimum(times, seconds - times) / JOIN_S, 0.0, 1.0)


def _weights(
    row: Sequence[Segment], times: Curve, jaw: Curve | float, brows: Curve | float, dwell: float
) -> Curve:
    weights = arkit_weights(control_curves(row, times, jaw_gain=jaw, dwell=dwell))
    raise_brows(weights, brows * brow_curve(row, times))
    return weights


def _reachable(clause: list[Segment], before: Sequence[Segment], dwell: float) -> list[Segment]:
    """Lengthens closures so early in the clause that open lips could not reach them in time."""
    if not before or (before[-1].silent and before[-1].end - before[-1].start >= RESTING_S):
        return clause
    until = JOIN_S + dwell
    early = [bool(s.articulation.hold) and s.middle < JOIN_S for s in clause]
    return [replace(s, end=max(s.end, until)) if e else s for s, e in zip(clause, early, strict=True)]


def _ending_at_zero(row: Sequence[Segment]) -> list[Segment]:
    """Moves segments so that the last ends at time 0."""
    return [Segment(s.articulation, s.start - row[-1].end, s.end - row[-1].end, s.stress) for s in row]
