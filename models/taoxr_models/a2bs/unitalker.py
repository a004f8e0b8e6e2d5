"""UniTalker-MNN: any voice to FLAME coefficients.

UniTalker (Fan et al. 2024, "UniTalker: Scaling up audio-driven 3D facial animation through a unified
model") as published for MNN-TaoAvatar: ``audio2verts.mnn`` takes [1, T] samples at 16 kHz with mean 0 and
variance 1, and gives [N, 53] coefficients (see `taoxr_models.a2bs.flame`) 25 times a second.

The app cuts audio into chunks without context, which leaves seams, and places frames by their number in the
row of all chunks, which drifts. Here windows overlap and are blended, and each frame has its clause's own
time.
"""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr import arkit
from taoxr.engine import Module
from taoxr.engine.probe import probe
from taoxr.errors import ModelError
from taoxr_models.a2bs import flame
from taoxr_models.a2bs.animate import Track, frame_times
from taoxr_models.dsp.resample import RATE, To16k

FILE: Final = "audio2verts.mnn"
MATRIX: Final = "arkit52.npy"
FRAME_RATE: Final = 25
WIDTH: Final = flame.EXPRESSIONS + 3
HOP: Final = RATE // FRAME_RATE
"""Samples per row."""

# Rows of one call on a whole clause, and of its overlap with the next: 5 s and 0.8 s. Longer calls hold up
# the worker.
_WINDOW: Final = 125
_OVERLAP: Final = 20
# Live: rows told at a time, and of context before and after them.
_STEP: Final = 20
_PAST: Final = 40
_FUTURE: Final = 5
LOOK_AHEAD_S: Final = (_STEP + _FUTURE) / FRAME_RATE
"""Live frames follow their audio by at most this much, plus the size of the chunks."""
# Less audio than this gives no row.
_SHORTEST: Final = 16 * HOP
# Digital silence is nothing that the network was trained on: the mouth would hang open.
_SILENCE_RMS: Final = 1e-4
# Clauses begin and end with a face at rest, so that they join.
_JOIN_S: Final = 0.08

Samples = NDArray[np.float32]


class UniTalker:
    """The network.

    Args:
        folder: Holds ``audio2verts.mnn``; it is probed before its first load.
        threads: Threads for one call.

    Raises:
        ModelError: The file is missing or damaged, or has other inputs and outputs.
    """

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        path = folder / FILE
        found = probe(path)
        if len(found.inputs) != 1 or found.inputs[0].kind != "float32" or not found.outputs:
            names = ", ".join(f"{i.name} ({i.kind})" for i in found.inputs)
            raise ModelError(f"{path} has the inputs {names}; expected one, float32 audio [1, T]")
        self._path = path
        self._network = Module(
            path, [found.inputs[0].name], found.outputs[:1], precision="high", memory="low", threads=threads
        )

    def rows(self, audio: Samples) -> flame.Rows:
        """One call: coefficients of one window.

        Args:
            audio: [T] at 16 kHz.

        Returns:
            [T // 640, 53]; row i is of time i / 25 s.

        Raises:
            ModelError: The network gave something else than 53 numbers per row, or no finite ones.
        """
        count = len(audio) // HOP
        if np.sqrt(np.mean(np.square(audio, dtype=np.float64))) < _SILENCE_RMS:
            return np.zeros((count, WIDTH), np.float32)
        if len(audio) < _SHORTEST:
            audio = np.pad(audio, (0, _SHORTEST - len(audio)))
        scaled = (audio - audio.mean()) / np.sqrt(audio.var() + 1e-7)
        out = self._network.run(scaled[None].astype(np.float32))[0]
        if out.shape[-1] != WIDTH:
            raise ModelError(
                f"{self._path} gave shape {out.shape}, expected [N, {WIDTH}]: 50 expressions and the jaw"
            )
        out = out.reshape(-1, WIDTH)
        if not len(out) or not np.isfinite(out).all():
            raise ModelError(f"{self._path} gave {len(out)} rows, or values that are no finite numbers")
        # The convolutions leave out the last row or two: the last one stands for them.
        return out[np.minimum(np.arange(count), len(out) - 1)]


def whole(model: UniTalker, audio: Samples) -> flame.Rows:
    """Coefficients of a whole clause, [ceil(T / 640), 53]; windows are blended where they overlap."""
    count = -(-len(audio) // HOP)
    audio = np.pad(audio, (0, count * HOP - len(audio)))
    total = np.zeros((count, WIDTH), np.float64)
    weight = np.zeros((count, 1))
    start = 0
    while True:
        end = min(count, start + _WINDOW)
        rows = model.rows(audio[start * HOP : end * HOP])
        share = _ramp(len(rows), first=start == 0, last=end == count)
        total[start:end] += rows * share
        weight[start:end] += share
        if end == count:
            return (total / weight).astype(np.float32)
        # The last window is a full one too: a short one would be normalised over a few sounds.
        start = min(end - _OVERLAP, max(0, count - _WINDOW))


def _ramp(count: int, *, first: bool, last: bool) -> NDArray[np.float64]:
    share = np.ones(count)
    slope = (np.arange(min(_OVERLAP, count)) + 1.0) / (_OVERLAP + 1.0)
    if not first:
        share[: len(slope)] = slope
    if not last:
        share[count - len(slope) :] = np.minimum(share[count - len(slope) :], slope[::-1])
    return share[:, None]


class Face:
    """What frames are: FLAME's own coefficients, or ARKit's weights by the user's matrix.

    Args:
        to_arkit: The mapping, or None: frames are ``flame53``.

    Attributes:
        space: ``"flame53"`` or ``"arkit52"``.
        names: Names in the order of the frames' weights.
    """

    def __init__(self, to_arkit: flame.ToArkit | None) -> None:
        self._to_arkit = to_arkit
        self.space: str = flame.SPACE if to_arkit is None else arkit.SPACE
        self.names: tuple[str, ...] = flame.FLAME_NAMES if to_arkit is None else arkit.NAMES

    @classmethod
    def of_folder(cls, folder: Path) -> "Face":
        """ARKit's weights where the model's folder holds ``arkit52.npy``, FLAME's coefficients otherwise.

        Raises:
            ModelError: The matrix is wrong.
        """
        path = folder / MATRIX
        return cls(flame.ToArkit.load(path) if path.exists() else None)

    def track(
        self, rows: flame.Rows, first_row: int, times_us: NDArray[np.int64], start_us: int = 0
    ) -> Track:
        """Frames at times.

        Args:
            rows: [n, 53], at 25 Hz.
            first_row: Number of the first since ``start_us``.
            times_us: [m] times in microseconds.
            start_us: Time of row 0.
        """
        at = (times_us - start_us) * (FRAME_RATE * 1e-6) - first_row
        mixed = flame.between(rows, np.asarray(at, np.float64)) if len(times_us) else rows[:0]
        return Track(times_us, mixed if self._to_arkit is None else self._to_arkit(mixed))


def animate_clause(
    model: UniTalker,
    face: Face,
    pcm: NDArray[np.int16],
    sample_rate_hz: int,
    *,
    frame_rate: float,
    clock_offset_us: int = 0,
) -> Track:
    """Animates one clause from its audio.

    The face comes from rest within 80 ms and goes back to it, so that clauses join without a step.

    Args:
        model: The network.
        face: What frames are.
        pcm: [n] the clause's audio.
        sample_rate_hz: Its rate.
        frame_rate: Frames per second.
        clock_offset_us: Time of the clause's start on the media clock.
    """
    length_us = len(pcm) * 1_000_000 // sample_rate_hz
    times_us = frame_times(clock_offset_us, clock_offset_us + length_us, frame_rate)
    audio = To16k(sample_rate_hz).push(pcm, last=True)
    if not len(audio) or not len(times_us):
        return face.track(np.zeros((1, WIDTH), np.float32), 0, times_us[:0])
    rows = whole(model, audio)
    seconds = np.arange(len(rows)) / FRAME_RATE
    edge = np.clip(np.minimum(seconds, len(audio) / RATE - seconds) / _JOIN_S, 0.0, 1.0)
    return face.track((rows * edge[:, None]).astype(np.float32), 0, times_us, clock_offset_us)


class UniTalkerAnimator:
    """Frames of one clip, as its audio comes; see `LOOK_AHEAD_S`.

    Args:
        model: The network.
        face: What frames are.
        sample_rate_hz: Rate of the audio, 8000 to 48000.
        frame_rate: Frames per second.
    """

    def __init__(self, model: UniTalker, face: Face, sample_rate_hz: int, frame_rate: float) -> None:
        self._model = model
        self._face = face
        self._rate = sample_rate_hz
        self._frame_rate = frame_rate
        self._resampler = To16k(sample_rate_hz)
        self._taken = 0  # input samples
        self._audio = np.zeros(0, np.float32)
        self._first = 0  # row of the first sample held
        self._done = 0  # rows told
        self._tail = np.zeros((0, WIDTH), np.float32)  # of the step before, beyond what was told
        self._last = np.zeros((1, WIDTH), np.float32)
        self._told_us = 0

    def push(self, samples: NDArray[np.int16]) -> Track:
        """Takes the next samples, [n]; returns the frames that are certain now."""
        self._taken += len(samples)
        self._audio = np.concatenate([self._audio, self._resampler.push(samples)])
        parts: list[Track] = []
        while self._first * HOP + len(self._audio) >= (self._done + _STEP + _FUTURE) * HOP:
            parts.append(self._step(self._done + _STEP, self._done + _STEP + _FUTURE))
        return _joined(parts, self._face)

    def finish(self) -> Track:
        """The remaining frames, to the end of the clip."""
        self._audio = np.concatenate([self._audio, self._resampler.push(np.zeros(0, np.int16), last=True)])
        rows = -(-(self._first * HOP + len(self._audio)) // HOP)
        self._audio = np.pad(self._audio, (0, max(0, (rows - self._first) * HOP - len(self._audio))))
        end_us = self._taken * 1_000_000 // self._rate
        if rows <= self._done:
            return self._tell(self._last, self._done - 1, end_us)
        return self._step(rows, rows, end_us)

    def _step(self, until: int, heard: int, end_us: int | None = None) -> Track:
        """Tells rows up to ``until`` from a window that ends with row ``heard``."""
        start = max(0, self._done - _PAST)
        window = self._audio[(start - self._first) * HOP : (heard - self._first) * HOP]
        rows = self._model.rows(window)[self._done - start :]
        # Windows are normalised each for itself: go from the one before to this one step by step.
        overlap = min(len(self._tail), len(rows))
        share = ((np.arange(overlap) + 1.0) / (overlap + 1.0))[:, None]
        rows[:overlap] = self._tail[:overlap] * (1.0 - share) + rows[:overlap] * share
        told = np.concatenate([self._last, rows[: until - self._done]])
        first = self._done - 1
        self._tail, self._last, self._done = rows[until - self._done :], told[-1:], until
        keep = max(0, until - _PAST)
        self._audio = self._audio[(keep - self._first) * HOP :]
        self._first = keep
        # The row at the end belongs to a time; what comes after it needs the next.
        return self._tell(told, first, (until - 1) * 1_000_000 // FRAME_RATE if end_us is None else end_us)

    def _tell(self, rows: flame.Rows, first: int, until_us: int) -> Track:
        times_us = frame_times(self._told_us, max(self._told_us, until_us), self._frame_rate)
        self._told_us = max(self._told_us, until_us)
        return self._face.track(rows, first, times_us)


def _joined(parts: list[Track], face: Face) -> Track:
    if not parts:
        return face.track(np.zeros((1, WIDTH), np.float32), 0, np.zeros(0, np.int64))
    times = np.concatenate([p.times_us for p in parts])
    return Track(times, np.concatenate([p.weights for p in parts]))
