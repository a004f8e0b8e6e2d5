"""A stage: several sets of splats in one world, sorted and blended together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.splats import Splats, full, upper

T = TypeVar("T")
_RIGID: Final = 1e-4


@dataclass(frozen=True)
class Placed(Generic[T]):
    """Something and where in the world it stands.

    Attributes:
        what: It.
        model: Rigid transform from its own frame to the world, floats [4, 4], metres.
    """

    what: T
    model: NDArray[Any]


def gather(placed: Sequence[Placed[Splats]]) -> Splats:
    """All splats in world coordinates, one set after another; the renderer sorts them together.

    Raises:
        InvalidInputError: There are none, or a transform is not rigid.
    """
    if not placed:
        raise InvalidInputError("placed", "none", "at least one set of splats")
    means: list[NDArray[np.float32]] = []
    covariances: list[NDArray[np.float32]] = []
    for i, one in enumerate(placed):
        check_rigid(f"placed[{i}].model", one.model)
        turn, move = one.model[:3, :3].astype(np.float32), one.model[:3, 3].astype(np.float32)
        means.append((one.what.means @ turn.T + move).astype(np.float32))
        covariances.append(upper(turn @ full(one.what.covariances) @ turn.T).astype(np.float32, copy=False))
    return Splats(
        np.concatenate(means),
        np.concatenate(covariances),
        np.concatenate([one.what.opacities for one in placed]),
        np.concatenate([one.what.colors_srgb for one in placed]),
    )


def check_rigid(field: str, model: NDArray[Any]) -> None:
    """Refuses what is no rotation and translation.

    Raises:
        InvalidInputError: The matrix scales, shears, mirrors or has another shape.
    """
    if model.shape != (4, 4):
        raise InvalidInputError(field, list(model.shape), "[4, 4]")
    turn = model[:3, :3].astype(np.float64)
    off = np.abs(turn @ turn.T - np.eye(3)).max()
    if not off <= _RIGID or np.linalg.det(turn) < 0 or not np.array_equal(model[3], [0, 0, 0, 1]):
        raise InvalidInputError(field, model.tolist(), "a rotation and a translation")
