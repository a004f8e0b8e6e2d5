"""A recording as MNN-TaoAvatar has it, made of our own motion: the real one is not to be had here."""

from pathlib import Path

import numpy as np
from motion_steps import Array, clause, length_us

from taoxr_models.motion import recording
from taoxr_models.motion.mover import Activity, Mover
from taoxr_models.motion.recording import Slice
from taoxr_models.motion.smplx import RATE_HZ

SLICES = (Slice(False, 0.0, 9.0), Slice(True, 10.0, 19.0), Slice(False, 21.0, 29.0), Slice(True, 31.0, 38.0))


def motion(seed: int = 11) -> Array:
    """Local rotations of the humanoid's bones [n, bones, 4]: at ease, talking, at ease, talking."""
    mover, spans = Mover(seed, frame_rate=RATE_HZ), []
    for talks in (False, True, False, True):
        end = mover.now_us + 10_000_000
        while mover.now_us < end:
            if talks:
                mover.speak("The weather is wonderful today", clause())
            step = min(length_us(clause()), end - mover.now_us)
            activity = Activity.TALKING if talks else Activity.IDLE
            spans.append(mover.advance(activity, step, mover.now_us))
    return np.concatenate([span.rotations for span in spans])


def make(folder: Path, seed: int = 11, slices: tuple[Slice, ...] = SLICES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    recording.write(folder, motion(seed), slices)
    return folder
