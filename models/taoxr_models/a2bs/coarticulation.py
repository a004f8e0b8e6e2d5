"""Coarticulation: from a row of segments to smooth control curves.

Every segment pulls each group of articulators towards its targets with a weight that is flat while the
sound lasts and decays exponentially before and after it; a control is the weighted mean of all targets
(dominance functions: Cohen and Massaro, 1993; see `taoxr_models.a2bs.articulation`). Because the log of
each weight changes by at most `rate` per second, so does the mean, which bounds every velocity.

Means alone never quite close the lips. So *holds* come on top: while a bilabial lasts, the controls of its
closure are moved to their target exactly (and likewise lip to teeth, and rest in a pause), with ramps of
fixed length on both sides.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_models.a2bs.articulation import CONTROL_INDEX, CONTROLS, GROUPS, SILENCE, Articulation
from taoxr_models.a2bs.phonemes import Segment

Curve = NDArray[np.float64]

# Length of the ramps around holds, in seconds.
CLOSING_S: Final = 0.07
OPENING_S: Final = 0.06
RESTING_S: Final = 0.12
# The dominance of a sound is flat over this middle share of it.
_CORE: Final = 0.5
# Stress opens the jaw a little more.
_STRESS_JAW: Final = 0.10
_BROW_HEIGHT: Final = 0.12
_BROW_HALF_WIDTH_S: Final = 0.16

_JAW: Final = CONTROL_INDEX["jawOpen"]
_COLUMNS: Final[dict[str, list[int]]] = {
    group: [CONTROL_INDEX[c] for c, g in CONTROLS.items() if g == group] for group in GROUPS
}


def target_vector(row: Articulation) -> Curve:
    """Targets of a row in the order of the controls, [controls]."""
    vector = np.zeros(len(CONTROLS))
    for control, value in row.targets.items():
        vector[CONTROL_INDEX[control]] = value
    return vector


def control_curves(
    row: Sequence[Segment], times: Curve, *, jaw_gain: Curve | float = 1.0, dwell: float = 0.07
) -> Curve:
    """Controls at the given times; silence is assumed before and after the row.

    Args:
        row: Segments without gaps, in order.
        times: [n] seconds.
        jaw_gain: Scale of the jaw, [n] or one number (loudness).
        dwell: Shortest time that a closure is held, in seconds; two frame periods, so that two frames show
            it whatever their phase (animators hold m, b and p for two frames for the same reason).

    Returns:
        [n, controls] in [0, 1].
    """
    padded = _with_silence(row)
    curves = _dominated(padded, times)
    curves[:, _JAW] = np.clip(curves[:, _JAW] * jaw_gain, 0.0, 1.0)
    for s in _by_priority(padded):
        amount = hold(times, *_held_span(s, dwell))
        columns = [CONTROL_INDEX[c] for c in s.articulation.hold]
        goal = target_vector(s.articulation)[columns]
        curves[:, columns] += amount[:, None] * (goal - curves[:, columns])
    return curves * (1.0 - rest(padded, times))[:, None]


def brow_curve(row: Sequence[Segment], times: Curve) -> Curve:
    """Lift of the inner brows, a small bump on each stressed syllable, [n] in [0, 1]."""
    padded = _with_silence(row)
    lift = np.zeros_like(times)
    for s in padded:
        if s.stress > 0.0:
            x = np.clip((times - s.middle) / _BROW_HALF_WIDTH_S, -1.0, 1.0)
            lift = np.maximum(lift, _BROW_HEIGHT * s.stress * 0.5 * (1.0 + np.cos(np.pi * x)))
    return lift * (1.0 - rest(padded, times))


def rest(row: Sequence[Segment], times: Curve) -> Curve:
    """How far the face is at rest, 1 well inside pauses, [n]."""
    amount = np.zeros_like(times)
    for s in row:
        start, end = s.start + RESTING_S, s.end - RESTING_S
        if s.silent and start <= end:
            amount = np.maximum(amount, hold(times, start, end, RESTING_S, RESTING_S))
    return amount


def hold(times: Curve, start: float, end: float, ramp_in: float, ramp_out: float) -> Curve:
    """1 from start to end, 0 beyond the ramps, raised cosine between; [n]."""
    before = np.clip((start - times) / ramp_in, 0.0, 1.0)
    after = np.clip((times - end) / ramp_out, 0.0, 1.0)
    return 0.5 * (1.0 + np.cos(np.pi * np.maximum(before, after)))


def _with_silence(row: Sequence[Segment]) -> list[Segment]:
    """The row with endless silence on both sides, merged with silence already there."""
    far = 1e6
    first = row[0].start if row else 0.0
    last = row[-1].end if row else 0.0
    inner = list(row)
    if inner and inner[0].silent:
        first = inner.pop(0).end
    if inner and inner[-1].silent:
        last = inner.pop().start
    return [Segment(SILENCE, -far, first), *inner, Segment(SILENCE, max(first, last), far)]


def _dominated(row: Sequence[Segment], times: Curve) -> Curve:
    inset = np.array([0.5 * (1.0 - _CORE) * min(s.end - s.start, 0.1) for s in row])
    start = np.array([s.start for s in row]) + inset
    end = np.array([s.end for s in row]) - inset
    outside = np.maximum(start - times[:, None], 0.0) + np.maximum(times[:, None] - end, 0.0)
    targets = np.stack([target_vector(s.articulation) for s in row])
    targets[:, _JAW] *= [1.0 + _STRESS_JAW * s.stress for s in row]
    curves = np.empty((len(times), len(CONTROLS)))
    for group in GROUPS:
        claims = [getattr(s.articulation, group) for s in row]
        strength = np.log([c.strength for c in claims])
        exponent = strength - np.array([c.rate for c in claims]) * outside
        weight = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        curves[:, _COLUMNS[group]] = weight @ targets[:, _COLUMNS[group]]
    return curves


def _held_span(s: Segment, dwell: float) -> tuple[float, float, float, float]:
    half = 0.5 * max(dwell, s.end - s.start)
    return s.middle - half, s.middle + half, CLOSING_S, OPENING_S


def _by_priority(row: Sequence[Segment]) -> list[Segment]:
    """Segments with holds, lip to teeth first: where two overlap, full closure has the last word."""
    held = [s for s in row if s.articulation.hold]
    return sorted(held, key=lambda s: s.articulation.targets["lipClose"])
