"""A scene that is updated beside a frame loop."""

from collections.abc import Callable
from concurrent.futures import Future
from time import perf_counter
from types import TracebackType
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.levels import Levels
from taoxr_runtime.nnr.scene import Scene
from taoxr_runtime.render.depth import Mesh
from taoxr_runtime.splats import Splats

# Weight of the newest measurement of how long an update takes.
_NEWEST: Final = 0.1


class Background:
    """Runs a scene on its worker thread, hands out what was finished last; a context manager for one thread.

    Args:
        scene: What to run. Whoever loaded it closes it.

    Attributes:
        order: Blending order of the splats that were handed out last, farthest first; None if none is made.
        update_ms: How long an update takes, in milliseconds (a running average).
    """

    def __init__(self, scene: Scene) -> None:
        self._levels = Levels(scene)
        self._running: tuple[Scene, Future[Splats]] | None = None
        self._splats: Splats | None = None
        self.order: NDArray[np.int32] | None = None
        self.mesh: Mesh | None = None
        self.update_ms = 0.0

    def __enter__(self) -> Self:
        self._levels.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.finish()
        finally:
            self._levels.__exit__(kind, error, trace)

    def update(self, prepare: Callable[[Scene], None], share: float = 1.0, *, wait: bool = False) -> Splats:
        """The newest splats, valid until the next call; starts an update when none is running.

        Args:
            prepare: Sets the inputs of the scene that is updated next.
            share: What share of the splats it is to have, over 0 and up to 1; see `Levels`.
            wait: Whether to return the splats of these inputs; else only the first call waits.
        """
        if wait:
            self.finish()
        if self._running is None:
            self._start(prepare, share)
        if wait or self._splats is None or self._done():
            self.finish()
        if self._running is None and not wait:
            self._start(prepare, share)
        assert self._splats is not None
        return self._splats

    def finish(self) -> None:
        """Waits for the update that is running, if any."""
        if self._running is not None:
            scene, future = self._running
            self._running = None
            self._splats, self.order, self.mesh = future.result(), scene.order, scene.mesh

    def _done(self) -> bool:
        return self._running is not None and self._running[1].done()

    def _start(self, prepare: Callable[[Scene], None], share: float) -> None:
        scene = self._levels.at(share)
        prepare(scene)
        began = perf_counter()
        future = scene.update_async()
        future.add_done_callback(lambda _: self._measure(1e3 * (perf_counter() - began)))
        self._running = scene, future

    def _measure(self, ms: float) -> None:
        self.update_ms += (ms - self.update_ms) * (_NEWEST if self.update_ms else 1.0)
