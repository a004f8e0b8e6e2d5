"""What takes the place of the avatar and of whom it converses with where a scene is only to be looked at."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.live import Captions, CompanionState, Remark
from taoxr_runtime.nnr import Scene
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.render import gl
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats


def is_still(scene: Scene) -> bool:
    """Whether a scene has no body that could move, such as one that `taoxr splat import` made."""
    return "pose" not in scene.inputs


class Still:
    """A scene whose colours follow the viewer and nothing else; stands in for `taoxr_runtime.live.Actor`.

    As there, a GPU colours it where it is drawn; on a software driver a worker thread does, and the frame
    loop draws what was finished last.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._on_gpu: GlScene | None = None
        self._running: Future[Splats] | None = None
        self._splats: Splats | None = None
        self._order: NDArray[np.int32] | None = None
        self._began = 0.0
        self.update_ms = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        if self._running is not None:
            self._running.result()

    @property
    def order(self) -> NDArray[np.int32] | None:
        """As `Actor.order`."""
        return self._order

    def update(self, camera_in_model: NDArray[np.float64], ahead_us: int = 0) -> Splats | SplatBuffers:
        """As `Actor.update`; only the first call waits."""
        if not gl.is_software():
            # Not released: it lives as long as the context.
            self._on_gpu = self._on_gpu or GlScene(self._scene.container)
            self._on_gpu.set("camera", camera_in_model)
            return self._on_gpu.update()
        if self._running is None:
            self._start(camera_in_model)
        assert self._running is not None
        if self._splats is None or self._running.done():
            self._splats, self._order = self._running.result(), self._scene.order
            self.update_ms = (time.perf_counter() - self._began) * 1e3
            self._start(camera_in_model)
        return self._splats

    def _start(self, camera: NDArray[np.float64]) -> None:
        self._scene.set("camera", camera)
        self._began = time.perf_counter()
        self._running = self._scene.update_async()


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
