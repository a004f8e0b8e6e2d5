"""What the client returns for a whole clip or text, as frozen dataclasses with NumPy arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taoxr.client.body import NO_BODY, BodyTrack, Bones, Cue
from taoxr.client.events import Phoneme, Rig


@dataclass(frozen=True, slots=True, eq=False)
class FaceTrack:
    """Frames of a clip.

    Attributes:
        rig: What the columns mean.
        times_us: int64 [k], microseconds since the clip's first sample.
        weights: float32 [k, names of the rig].
    """

    rig: Rig
    times_us: NDArray[np.int64]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Speech:
    """A spoken text.

    Attributes:
        pcm: int16 [n], mono.
        sample_rate_hz: Rate of `pcm`.
        face: Frames on the clock of `pcm`.
        phonemes: Phonemes on the clock of `pcm`.
        bones: What `body` moves; None unless `Track.BODY` was asked for.
        body: Poses on the clock of `pcm`, going on after its end until the body is at rest.
        cues: What `Track.CUES` brought, on the clock of `pcm`.
    """

    pcm: NDArray[np.int16]
    sample_rate_hz: int
    face: FaceTrack
    phonemes: tuple[Phoneme, ...]
    bones: Bones | None = None
    body: BodyTrack = NO_BODY
    cues: tuple[Cue, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SpokenText:
    """A spoken text without a face.

    Attributes:
        pcm: int16 [n], mono.
        sample_rate_hz: Rate of `pcm`.
        phonemes: Phonemes on the clock of `pcm`.
    """

    pcm: NDArray[np.int16]
    sample_rate_hz: int
    phonemes: tuple[Phoneme, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnimatedText:
    """The face of a text, without the audio.

    Attributes:
        face: Frames, since the start of the text.
        phonemes: Phonemes on the same clock.
        duration_us: Length of the speech in microseconds.
        bones: What `body` moves; None unless `Track.BODY` was asked for.
        body: Poses on the same clock, going on after the speech until the body is at rest.
        cues: What `Track.CUES` brought, on the same clock.
    """

    face: FaceTrack
    phonemes: tuple[Phoneme, ...]
    duration_us: int
    bones: Bones | None = None
    body: BodyTrack = NO_BODY
    cues: tuple[Cue, ...] = ()
