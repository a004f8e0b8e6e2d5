"""What the tests of the motion worker share."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taoxr_models.a2bs.phonemes import Phoneme
from taoxr_models.motion.bones import INDEX
from taoxr_models.motion.mover import Activity, Mover, Span
from taoxr_models.motion.rotations import chain, rotate

Array = NDArray[np.float64]
STEP_US = 160_000

# "The weather is wonderful today, and tomorrow it gets even better", as a voice might time it.
SPOKEN = "ð ə w ˈɛ ð ɚ ɪ z w ˈʌ n d ɚ f ə l t ə d ˈeɪ _ ə n d t ə m ˈɑ ɹ oʊ ɪ t ɡ ˈɛ t s ˈiː v ə n b ˈɛ ɾ ɚ"


def clause(spoken: str = SPOKEN, seconds: float = 0.085) -> list[Phoneme]:
    """Phonemes of even length; stressed ones half as long again."""
    out: list[Phoneme] = []
    at = 0.0
    for symbol in spoken.split():
        length = seconds * (1.5 if symbol.startswith("ˈ") else 1.0)
        out.append(Phoneme(symbol, at, at + length))
        at += length
    return out


def length_us(phonemes: Sequence[Phoneme]) -> int:
    return round(phonemes[-1].end * 1e6)


def talk(mover: Mover, clauses: int = 1, text: str = "The weather is wonderful today") -> list[Span]:
    """Speaks clauses in steps of a media chunk, on the body's own clock."""
    spans: list[Span] = []
    for _ in range(clauses):
        phonemes = clause()
        mover.speak(text, phonemes)
        left = length_us(phonemes)
        while left > 0:
            step = min(STEP_US, left)
            spans.append(mover.advance(Activity.TALKING, step, mover.now_us))
            left -= step
    return spans


def joined(spans: Sequence[Span]) -> tuple[NDArray[np.int64], Array, Array]:
    """Times, rotations and hips of spans that follow each other."""
    times = np.concatenate([s.times_us for s in spans])
    rotations = np.concatenate([s.rotations for s in spans if len(s.times_us)])
    return times, rotations, np.concatenate([s.hips for s in spans])


def turning(rotations: Array) -> Array:
    """Rotation from each frame to the next as a vector in degrees, [n - 1, bones, 3]."""
    a, b = rotations[:-1], rotations[1:]
    w = (a * b).sum(-1)
    v = a[..., 3:] * b[..., :3] - b[..., 3:] * a[..., :3] + np.cross(b[..., :3], a[..., :3])
    half = np.arcsin(np.clip(np.linalg.norm(v, axis=-1), 0.0, 1.0))
    assert (w > 0.0).all(), "neighbouring frames are on one side of the sphere"
    scale = np.where(half > 1e-9, 2.0 * half / np.maximum(np.sin(half), 1e-12), 2.0)
    return np.rad2deg(v * scale[..., None])


def elbow_deg(rotations: Array, side: str) -> Array:
    """How far an elbow is bent, [n] degrees."""
    out = np.array([1.0 if side == "left" else -1.0, 0.0, 0.0])
    along = rotate(rotations[:, INDEX[f"{side}LowerArm"]], out)
    return np.rad2deg(np.arctan2(along[:, 2], along[:, 0] * out[0]))


def world(rotations: Array, *bones: str) -> Array:
    """How the last of a chain of bones is turned in the avatar's axes, [n, 4]."""
    return chain(*(rotations[:, INDEX[bone]] for bone in bones))
