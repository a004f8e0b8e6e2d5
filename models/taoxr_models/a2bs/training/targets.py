"""What the network shall say, 50 times a second, from exact phoneme times."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_models.a2bs.articulation import CONTROLS, TABLE
from taoxr_models.a2bs.coarticulation import brow_curve, control_curves
from taoxr_models.a2bs.phonemes import Segment, segments
from taoxr_models.a2bs.training.utterances import Utterance
from taoxr_models.dsp.resample import RATE

FRAME: Final = 320
"""Samples per frame: Whisper's encoder makes 50 a second, frame k centred on sample 320 k."""
FRAME_S: Final = FRAME / RATE
CLASS_INDEX: Final = {row.name: i for i, row in enumerate(TABLE)}


@dataclass(frozen=True)
class Targets:
    """Targets of a row of frames.

    Attributes:
        classes: [n] uint8, rows of the table.
        controls: [n, controls] float32, the teacher's curves.
        brow: [n] float32.
    """

    classes: NDArray[np.uint8]
    controls: NDArray[np.float32]
    brow: NDArray[np.float32]


def targets_of(row: list[Segment], count: int) -> Targets:
    """Targets of ``count`` frames; silence before and after the row."""
    times = np.arange(count) * FRAME_S
    controls = control_curves(row, times)
    return Targets(
        classes_at(row, times), controls.astype(np.float32), brow_curve(row, times).astype(np.float32)
    )


def classes_at(row: list[Segment], times: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Rows of the table that sound at the given times, [n]."""
    classes = np.zeros(len(times), np.uint8)
    for s in row:
        first, last = np.searchsorted(times, [s.start, s.end])
        classes[first:last] = CLASS_INDEX[s.articulation.name]
    return classes


def timeline(said: list[Utterance]) -> tuple[NDArray[np.float32], Targets]:
    """Utterances one after another, each cut to whole frames."""
    samples: list[NDArray[np.float32]] = []
    parts: list[Targets] = []
    for u in said:
        count = len(u.samples) // FRAME
        samples.append(u.samples[: count * FRAME])
        parts.append(targets_of(segments(u.phonemes), count))
    return np.concatenate(samples), Targets(
        np.concatenate([p.classes for p in parts]),
        np.concatenate([p.controls for p in parts]),
        np.concatenate([p.brow for p in parts]),
    )


N_CLASSES: Final = len(TABLE)
N_CONTROLS: Final = len(CONTROLS)
