"""The avatar on a stage: scene, renderer and backdrop, drawn picture by picture."""

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime import nnr
from taoxr_runtime.animation import Motion
from taoxr_runtime.nnr import Scene
from taoxr_runtime.render import OffscreenRenderer
from taoxr_runtime.render.camera import View
from taoxr_runtime.splats import Splats

Picture = NDArray[np.uint8]


def load_avatar(path: Path | None) -> Scene:
    """The scene of a file, or the default avatar.

    Raises:
        InvalidInputError: The file is missing.
        NnrFormatError: The file is no sound `.nnr`.
        UnavailableError: This installation lacks the default avatar.
    """
    if path is not None:
        if not path.is_file():
            raise InvalidInputError("avatar", str(path), "a .nnr file that exists")
        return nnr.load(path)
    resource = files("taoxr_runtime") / "assets" / "default.nnr"
    if not resource.is_file():
        raise UnavailableError(
            "the default avatar is not installed: build it with `python -m taoxr_runtime.avatar.build` "
            "(needs the extra `avatar`), or name a scene with --avatar"
        )
    with as_file(resource) as found:
        return nnr.load(found)


class Stage:
    """Draws one avatar; made by `open_stage`."""

    def __init__(self, scene: Scene, renderer: OffscreenRenderer) -> None:
        self.scene = scene
        self._renderer = renderer

    def draw(self, motion: Motion, view: View) -> Picture:
        """One picture, uint8 [height, width, 3], sRGB."""
        return next(self.draw_all([(motion, view)]))

    def draw_all(self, states: Iterable[tuple[Motion, View]]) -> Iterator[Picture]:
        """Pictures in order; the splats of the next one are made while one is drawn."""
        ahead: tuple[View, Future[Splats]] | None = None
        for motion, view in states:
            done = None if ahead is None else (ahead[0], ahead[1].result(), self.scene.order)
            self.scene.set("expression", motion.expression)
            self.scene.set("pose", motion.pose)
            self.scene.set("camera", view.position)
            ahead = (view, self.scene.update_async())
            if done is not None:
                yield self._picture(*done)
        if ahead is not None:
            yield self._picture(ahead[0], ahead[1].result(), self.scene.order)

    def _picture(self, view: View, splats: Splats, order: NDArray[np.int32] | None) -> Picture:
        behind = backdrop(view.width, view.height)
        return self._renderer.render(splats, [view], behind, order)[0][..., :3]


@contextmanager
def open_stage(scene: Scene) -> Generator[Stage]:
    """A stage for a scene; the GL context ends with the block.

    Raises:
        UnavailableError: There is no OpenGL to draw with.
    """
    with OffscreenRenderer() as renderer:
        try:
            yield Stage(scene, renderer)
        finally:
            scene.close()


@lru_cache(maxsize=4)
def backdrop(width: int, height: int) -> Picture:
    """A plain studio wall: uint8 [height, width, 3], lighter above and around the middle."""
    y = np.linspace(0.0, 1.0, height)[:, None, None]
    x = np.linspace(-1.0, 1.0, width)[None, :, None]
    top, foot = np.array([218.0, 225.0, 236.0]), np.array([164.0, 171.0, 184.0])
    wall = top + (foot - top) * y - 14.0 * x**2
    return np.clip(np.round(wall), 0, 255).astype(np.uint8)
