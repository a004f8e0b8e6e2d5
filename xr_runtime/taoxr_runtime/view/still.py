"""What takes the place of the avatar and of whom it converses with where a scene is only to be looked at."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.live import Captions, CompanionState, Remark
from taoxr_runtime.nnr import Scene
from taoxr_runtime.nnr.background import Background
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.nnr.nodes.cloud import Cloud
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats


def is_still(scene: Scene) -> bool:
    """Whether a scene has no body that could move, such as one that `taoxr splat import` made."""
    return "pose" not in scene.inputs


def means_of(scene: Scene) -> NDArray[np.float32]:
    """Where its splats are, float32 [N, 3], metres; without an update where the file says it."""
    clouds = [step.node for step in scene.graph.steps if isinstance(step.node, Cloud)]
    return clouds[0].mean if len(clouds) == 1 else scene.splats.means


class Still:
    """A scene whose colours follow the viewer and nothing else; stands in for `taoxr_runtime.live.Actor`.

    As there, a GPU colours it where it is drawn; on a software driver a worker thread does, and the frame
    loop draws what was finished last.

    Args:
        scene: What to look at. Whoever loaded it closes it.
        device: Where it is coloured.
    """

    def __init__(self, scene: Scene, device: Literal["cpu", "gpu"]) -> None:
        # On the GPU the scene itself never runs. Not released: it lives as long as the context.
        self._on_gpu = GlScene(scene.container, graph=scene.graph) if device == "gpu" else None
        self._background = Background(scene)
        self._ms = 0.0

    def __enter__(self) -> Self:
        self._background.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._background.__exit__(kind, error, trace)

    @property
    def order(self) -> NDArray[np.int32] | None:
        """As `Actor.order`."""
        return self._background.order

    @property
    def update_ms(self) -> float:
        """How long an update takes, in milliseconds; on a GPU how long it took to submit the last one."""
        return self._background.update_ms if self._on_gpu is None else self._ms

    def update(
        self,
        camera_in_model: NDArray[np.float64],
        ahead_us: int = 0,
        share: float = 1.0,
        *,
        wait: bool = False,
    ) -> Splats | SplatBuffers:
        """As `Actor.update`; only the first call waits."""
        if self._on_gpu is None:
            return self._background.update(
                lambda scene: scene.set("camera", camera_in_model), share, wait=wait
            )
        began = time.perf_counter()
        self._on_gpu.set("camera", camera_in_model)
        splats = self._on_gpu.update()
        self._ms = (time.perf_counter() - began) * 1e3
        return splats


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
