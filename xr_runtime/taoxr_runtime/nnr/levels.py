"""One scene at several levels of detail, for machines that are too slow for all of its splats."""

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from taoxr_runtime.nnr.errors import ThinningError
from taoxr_runtime.nnr.scene import Scene
from taoxr_runtime.nnr.thinning import thinned


class Levels:
    """A scene, and smaller ones made of it on a thread of their own when they are first asked for.

    A context manager, for one thread. Whoever loaded the scene closes it.

    Args:
        scene: With all splats.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = self._given = scene
        self._made: dict[float, Future[Scene]] = {}
        self._maker = ThreadPoolExecutor(1, thread_name_prefix="levels")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._maker.shutdown(cancel_futures=True)
        for made in self._made.values():
            if not made.cancelled() and made.exception() is None and made.result() is not self._scene:
                made.result().close()

    def at(self, share: float) -> Scene:
        """The scene with a share of its splats; until that is made, the one that was given last.

        Nothing waits here. A scene that cannot be thinned stays as it is: then `taoxr_runtime.render.lod`
        drops splats where they are drawn.

        Args:
            share: Over 0, up to 1.
        """
        if share >= 1:
            self._given = self._scene
        elif (made := self._made.get(share)) is None:
            self._made[share] = self._maker.submit(self._make, share)
        elif made.done():
            self._given = made.result()
        return self._given

    def _make(self, share: float) -> Scene:
        try:
            return Scene(thinned(self._scene.container, share))
        except ThinningError:
            return self._scene
