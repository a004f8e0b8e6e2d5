"""The avatar on a stage: scene, renderer and backdrop, drawn picture by picture."""

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime import nnr
from taoxr_runtime.animation import Motion, Skeleton
from taoxr_runtime.nnr import Scene
from taoxr_runtime.render import OffscreenRenderer
from taoxr_runtime.render.backdrop import backdrop, sees_floor
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.stereo import Stereo, anaglyph, pair, side_by_side
from taoxr_runtime.splats import Splats

Picture = NDArray[np.uint8]

_FEET: Final = ("foot.L", "foot.R")


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

    def __init__(
        self, scene: Scene, renderer: OffscreenRenderer, stereo: Stereo = "off", distance: float = 1.5
    ) -> None:
        self.scene = scene
        self._renderer = renderer
        self._stereo: Stereo = stereo
        self._distance = distance
        skeleton = Skeleton.of(scene)
        feet = [skeleton.heads[skeleton.index[name]] for name in _FEET if name in skeleton.index]
        self._feet = np.array(feet) * (1.0, 0.0, 1.0) if feet else None

    @property
    def eyes_across(self) -> int:
        """How many views' widths a picture has."""
        return 2 if self._stereo == "sbs" else 1

    def draw(self, motion: Motion, view: View) -> Picture:
        """One picture, uint8 [height, width, 3], sRGB; both eyes in it if the stage is for two."""
        return next(self.draw_all([(motion, view)]))

    def draw_all(self, states: Iterable[tuple[Motion, View]]) -> Iterator[Picture]:
        """Pictures in order; the splats of the next one are made while one is drawn."""
        ahead: tuple[View, Future[Splats]] | None = None
        for motion, view in states:
            done = None if ahead is None else (ahead[0], ahead[1].result(), self.scene.order)
            self.scene.set("expression", motion.expression)
            self.scene.set("pose", motion.pose)
            self.scene.set("root", motion.root)
            self.scene.set("camera", view.position)
            ahead = (view, self.scene.update_async())
            if done is not None:
                yield self._picture(*done)
        if ahead is not None:
            yield self._picture(ahead[0], ahead[1].result(), self.scene.order)

    def _picture(self, view: View, splats: Splats, order: NDArray[np.int32] | None) -> Picture:
        views = [view] if self._stereo == "off" else list(pair(view, self._distance))
        behind = [backdrop(eye, self._feet if sees_floor(eye) else None) for eye in views]
        eyes = [eye[..., :3] for eye in self._renderer.render(splats, views, behind, order)]
        match self._stereo:
            case "off":
                return eyes[0]
            case "sbs":
                return side_by_side(*eyes)
            case "anaglyph":
                return anaglyph(*eyes)


@contextmanager
def open_stage(scene: Scene, stereo: Stereo = "off", distance: float = 1.5) -> Generator[Stage]:
    """A stage for a scene; the GL context ends with the block.

    Args:
        scene: The avatar.
        stereo: How the pictures of both eyes become one; side by side they are twice as wide.
        distance: Of what has no disparity, metres.

    Raises:
        UnavailableError: There is no OpenGL to draw with.
    """
    with OffscreenRenderer() as renderer:
        try:
            yield Stage(scene, renderer, stereo, distance)
        finally:
            scene.close()
