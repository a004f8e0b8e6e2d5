"""What takes the place of the avatar and of whom it converses with where a scene is only to be looked at."""

from __future__ import annotations

from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.live import Captions, CompanionState, Remark
from taoxr_runtime.nnr import Scene
from taoxr_runtime.splats import Splats


def is_still(scene: Scene) -> bool:
    """Whether a scene has no body that could move, such as one that `taoxr splat import` made."""
    return "pose" not in scene.inputs


class Still:
    """A scene whose colours follow the viewer and nothing else; stands in for `taoxr_runtime.live.Actor`."""

    update_ms: Final = 0.0

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        pass

    @property
    def order(self) -> NDArray[np.int32] | None:
        """As `Actor.order`."""
        return self._scene.order

    def update(self, camera_in_model: NDArray[np.float64], ahead_us: int = 0) -> Splats:
        """As `Actor.update`; waits for the colours."""
        self._scene.set("camera", camera_in_model)
        return self._scene.update()


class Nobody:
    """Hears nothing and says nothing; stands in for `taoxr_runtime.live.Companion`."""

    state: Final = CompanionState.IDLE
    notices: Final[tuple[Remark, ...]] = ()

    def ask(self, text: str) -> None:
        """Nobody answers."""

    def talk(self, pressed: bool) -> None:
        """Nobody listens."""

    def interrupt(self) -> None:
        """Nobody speaks."""

    def captions(self) -> Captions:
        """Nothing was said."""
        return Captions("", "")

    def latency_ms(self) -> dict[str, float]:
        """Nothing was measured."""
        return {}
