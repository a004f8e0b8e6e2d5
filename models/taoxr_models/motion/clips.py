"""Plays a recording for as long as anybody likes: at ease or talking, without a jump.

MNN-TaoAvatar goes to and fro within a slice, and through the recording to get to another. Here, too, a slice
is gone through to and fro, slowing down at its ends; but another one is faded into, where its pose is the
most like the one that is left, so that no word waits for the body.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from taoxr_models.motion.curves import minimum_jerk
from taoxr_models.motion.recording import Recording, Slice
from taoxr_models.motion.rotations import Array, slerp

FADE_S: Final = 0.8
_TURN_S: Final = 0.5
"""In which it slows down or speeds up at the end of a slice, at most."""
_STAY_S: Final = (15.0, 35.0)
"""After so long it goes over to another slice of the kind."""
_CANDIDATES_S: Final = 0.1
_MOST_CANDIDATES: Final = 1000
_SOON_S: Final = 2.0
_LIVELY: Final = 0.5
"""How much it counts that a talk goes on lively, beside how alike the poses are."""


@dataclass(frozen=True, slots=True)
class _Run:
    """From a time on a slice is gone through, from a phase of its way to and fro."""

    start: float
    piece: Slice
    phase: float

    def places(self, times: Array) -> Array:
        """Seconds of the recording [n] at times [n]."""
        return self.piece.start + to_and_fro(
            self.phase + np.maximum(times - self.start, 0.0), self.piece.end - self.piece.start
        )


class Clips:
    """What a body does by a recording; a function of time, planned as far as it has been asked for.

    Args:
        recording: The recording.
        rng: Chooses slices.
        start: Where time begins, in seconds.
    """

    def __init__(self, recording: Recording, rng: np.random.Generator, start: float) -> None:
        self._recording, self._rng = recording, rng
        piece = next(piece for piece in recording.slices if not piece.talk)
        self._runs = [_Run(start, piece, 0.0)]
        self._next = start + float(rng.uniform(*_STAY_S))

    def turn_to(self, at: float, talk: bool) -> None:
        """From `at` seconds on the body talks, or is at ease; a recording without talk is always at ease."""
        if talk is not self._runs[-1].piece.talk and any(p.talk is talk for p in self._recording.slices):
            self._begin(at, talk)

    def cut(self, at: float) -> None:
        """What was planned after `at` seconds did not happen."""
        self._runs = [self._runs[0], *(run for run in self._runs[1:] if run.start <= at)]
        self._next = max(self._next, at)

    def at(self, times: Array) -> tuple[Array, Array]:
        """Rotations [n, bones, 4] and hips [n, 3] at times [n] in seconds, in order."""
        while self._next <= times[-1]:
            self._begin(self._next, self._runs[-1].piece.talk)
        q, hips = self._sample(times)
        # One of the two quaternions of a rotation, always the same, for whoever interpolates.
        return np.where(q[..., 3:] < 0.0, -q, q), hips

    def forget(self, before: float) -> None:
        """Nobody will ask about times before `before` seconds."""
        faded = [i for i, run in enumerate(self._runs) if run.start + FADE_S <= before]
        del self._runs[: faded[-1] if faded else 0]

    def _sample(self, times: Array) -> tuple[Array, Array]:
        q, hips = self._recording.at(self._runs[0].places(times))
        for run in self._runs[1:]:
            amount = minimum_jerk((times - run.start) / FADE_S)
            new_q, new_hips = self._recording.at(run.places(times))
            q = slerp(q, new_q, amount[:, None])
            hips = hips + amount[:, None] * (new_hips - hips)
        return q, hips

    def _begin(self, at: float, talk: bool) -> None:
        """Goes over to a slice of a kind, to another one if there are several."""
        now = self._runs[-1].piece
        pieces = [piece for piece in self._recording.slices if piece.talk is talk]
        others = [piece for piece in pieces if piece is not now] or pieces
        piece = others[int(self._rng.integers(len(others)))]
        self._next = at + float(self._rng.uniform(*_STAY_S))
        if piece is not now:
            self._runs.append(_Run(at, piece, self._entry(at, piece)))

    def _entry(self, at: float, piece: Slice) -> float:
        """The phase of a slice's way to and fro that is the best to go over to at `at` seconds.

        The one whose pose is the most like the one then; but for talk, one with something to see soon after.
        """
        length = piece.end - piece.start
        step = max(_CANDIDATES_S, period(length) / _MOST_CANDIDATES)
        phases = np.arange(0.0, period(length), step)
        now, _ = self._sample(np.array([at]))
        there, _ = self._recording.at(piece.start + to_and_fro(phases, length))
        apart = _unlike(now, there)
        if piece.talk:
            moved = _unlike(there, np.roll(there, -1, axis=0))
            window = min(max(round(_SOON_S / step), 1), len(phases))
            soon = np.convolve(np.tile(moved, 2), np.ones(window))[window - 1 :][: len(phases)]
            apart = apart / max(apart.max(), 1e-9) - _LIVELY * soon / max(soon.max(), 1e-9)
        return float(phases[apart.argmin()])


def _unlike(a: Array, b: Array) -> Array:
    """How much poses [n, bones, 4] differ, [n]; 0 for the same."""
    return (1.0 - np.abs((a * b).sum(axis=-1))).sum(axis=-1)


def period(length: float) -> float:
    """Seconds of the way to and fro through a stretch of a length in seconds."""
    return 2.0 * (length + _turn(length))


def to_and_fro(times: Array, length: float) -> Array:
    """Places 0 to `length` at times: at the pace of time, but slower towards both ends, without a corner."""
    turn = _turn(length)
    half = length + turn
    phase = times % (2.0 * half)
    there = np.minimum(phase, 2.0 * half - phase)  # 0 to half, and back
    from_end = np.minimum(there, half - there)
    u = np.clip(from_end / turn, 0.0, 1.0)
    # The integral of a smoothstep of the pace; from there on at full pace.
    near = np.where(u < 1.0, turn * u**3 * (1.0 - 0.5 * u), from_end - 0.5 * turn)
    return np.where(there <= half / 2.0, near, length - near)


def _turn(length: float) -> float:
    return min(_TURN_S, length / 2.0)
