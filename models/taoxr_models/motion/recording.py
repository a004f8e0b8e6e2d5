"""Recorded motion: poses at an even rate, and which stretches of it are at ease and which talk."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from taoxr.errors import ModelError
from taoxr_models.motion import legs, smplx
from taoxr_models.motion.rotations import Array

POSES: Final = "body_params.bin"
SLICES: Final = "idle_speech_slices.json"
_SHORTEST_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of a recording, in seconds.

    Attributes:
        talk: Whether the body talks there; else it is at ease.
        start: Where it begins.
        end: Where it ends.
    """

    talk: bool
    start: float
    end: float


class _Stretch(BaseModel):
    model_config = ConfigDict(frozen=True)

    status: Literal["idle", "talk"]
    start: Annotated[float, Field(ge=0)]
    end: float


_STRETCHES: Final = TypeAdapter(Annotated[list[_Stretch], Field(min_length=1, max_length=10_000)])


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """Motion on the humanoid's bones.

    Attributes:
        rotations: [n, bones, 4] local rotations from the T-pose, neighbours on one side of the sphere.
        hips: [n, 3] translation of the hips in metres.
        rate_hz: Poses a second.
        slices: In order of time; at least one is at ease.
    """

    rotations: Array
    hips: Array
    rate_hz: float
    slices: tuple[Slice, ...]

    @classmethod
    def of_folder(cls, folder: Path) -> Self:
        """A recording of MNN-TaoAvatar: ``body_params.bin`` and ``idle_speech_slices.json``.

        Raises:
            ModelError: A file is missing or damaged, or they do not fit together; says where.
        """
        try:
            rotations = smplx.humanoid(smplx.read(folder / POSES))
            stretches = _STRETCHES.validate_json((folder / SLICES).read_bytes())
        except OSError as error:
            raise ModelError(f"the recording cannot be read: {error}") from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "it"
            raise ModelError(f"{SLICES}: {where}: {first['msg']}") from error
        length = (len(rotations) - 1) / smplx.RATE_HZ
        slices = tuple(_slice(i, stretch, length) for i, stretch in enumerate(stretches))
        if all(piece.talk for piece in slices):
            raise ModelError(f'{SLICES}: no slice is "idle", so the body never rests')
        return cls(rotations, legs.over_the_feet(rotations), smplx.RATE_HZ, slices)

    @property
    def length(self) -> float:
        """Seconds."""
        return (len(self.rotations) - 1) / self.rate_hz

    def at(self, seconds: Array) -> tuple[Array, Array]:
        """Rotations [n, bones, 4] and hips [n, 3] at times [n], without corners between the poses.

        A cubic through the four poses around (Catmull and Rom 1974), component by component: neighbours are a
        few degrees apart.
        """
        place = np.clip(seconds, 0.0, self.length) * self.rate_hz
        first = np.minimum(place.astype(np.int64), len(self.rotations) - 2)
        x = (place - first)[:, None]
        weights = np.concatenate(
            [
                x * (-0.5 + x * (1.0 - 0.5 * x)),
                1.0 + x * x * (-2.5 + 1.5 * x),
                x * (0.5 + x * (2.0 - 1.5 * x)),
                x * x * (-0.5 + 0.5 * x),
            ],
            axis=1,
        )
        around = np.clip(first[:, None] + np.arange(-1, 3), 0, len(self.rotations) - 1)
        q = np.einsum("nk,nkbc->nbc", weights, self.rotations[around])
        hips = np.einsum("nk,nkc->nc", weights, self.hips[around])
        return q / np.linalg.norm(q, axis=-1, keepdims=True), hips


def _slice(number: int, stretch: _Stretch, length: float) -> Slice:
    if not stretch.start + _SHORTEST_S <= stretch.end <= length + 0.5:
        raise ModelError(
            f"{SLICES}: slice {number} goes from {stretch.start:g} s to {stretch.end:g} s; expected at least "
            f"{_SHORTEST_S:g} s within the recording's {length:g} s"
        )
    return Slice(stretch.status == "talk", stretch.start, min(stretch.end, length))


def write(folder: Path, rotations: Array, slices: tuple[Slice, ...]) -> None:
    """Writes a recording as MNN-TaoAvatar has it; see `smplx.write`."""
    smplx.write(folder / POSES, rotations)
    stretches = [{"status": "talk" if s.talk else "idle", "start": s.start, "end": s.end} for s in slices]
    (folder / SLICES).write_text(json.dumps(stretches, indent=1), encoding="utf-8")
