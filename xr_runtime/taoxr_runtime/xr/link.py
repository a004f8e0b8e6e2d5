"""Everything that lives as long as one connection to the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import UnavailableError
from taoxr_runtime.render import SplatRenderer, View
from taoxr_runtime.render.depth import Mesh
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats
from taoxr_runtime.xr import poses
from taoxr_runtime.xr.api import XrError
from taoxr_runtime.xr.binding import Binding
from taoxr_runtime.xr.captions import CaptionPanel, Words
from taoxr_runtime.xr.controls import Hands, Wishes
from taoxr_runtime.xr.depth import DepthImages
from taoxr_runtime.xr.environment import Surroundings
from taoxr_runtime.xr.inputs import Inputs
from taoxr_runtime.xr.placing import Placing
from taoxr_runtime.xr.poses import Eye, Pose
from taoxr_runtime.xr.refresh import DisplayRate
from taoxr_runtime.xr.runtime import DEPTH, Runtime, Size
from taoxr_runtime.xr.session import Frame, Session
from taoxr_runtime.xr.swapchain import (
    EyeImages,
    FormatName,
    choose_depth_format,
    choose_format,
    read_srgb,
)

BACKGROUND_SRGB = (0.77, 0.80, 0.84)
"""Behind the avatar, where the headset shows nothing else."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """What the swapchains should be.

    Attributes:
        format: See ``choose_format``.
        layers: 1 for two swapchains, 2 for one with two layers; None: see ``EyeImages``.
        scale: Width and height as parts of what the runtime recommends.
        size: Width and height in pixels in place of that.
        smallest: Part of width and height that may be drawn in their place, to keep up with the headset.
        depth: Tell the runtime how far the avatar is, where it takes that.
    """

    format: FormatName = "auto"
    layers: Literal[1, 2] | None = None
    scale: float = 1.0
    size: tuple[int, int] | None = None
    smallest: float = 1.0
    depth: bool = True

    def sizes(self, recommended: Sequence[Size]) -> list[Size]:
        """Of each eye's picture."""
        if self.size is not None:
            return [Size(*self.size)] * len(recommended)
        return [
            Size(max(round(size.width * self.scale), 16), max(round(size.height * self.scale), 16))
            for size in recommended
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """What one frame showed.

    Attributes:
        eyes: Where they were.
        model: Where the avatar stood.
        views: As drawn, in the model's frame.
        splats: As drawn.
        order: As drawn, if given.
        pictures: For each eye uint8 [H, W, 3], sRGB.
        distances_m: For each eye how far the runtime was told that the avatar is; see ``DepthImages``.
    """

    eyes: list[Eye]
    model: Pose
    views: list[View]
    splats: Splats
    order: NDArray[np.int32] | None
    pictures: list[NDArray[np.uint8]]
    distances_m: list[NDArray[np.float32]] = field(default_factory=list[NDArray[np.float32]])


class Link:
    """Runtime, session, swapchains, controllers and captions; a context manager.

    Args:
        binding: Our OpenGL context, current.
        pictures: What the swapchains should be.
        eye_height: Of the avatar, metres.
        surroundings: Among what it shall stand; None: what the runtime prefers.

    Attributes:
        runtime: The runtime.
        session: The session.
        format: Of the swapchains.
        layers: Of each: 2 if both eyes' pictures lie in one.
        display: The headset's refresh rate.
        sizes: Of each eye's picture at most.
        views: The user's eyes in the frame under way, from the avatar's frame; empty while tracking is lost.

    Raises:
        NoRuntimeError: No runtime is running.
        NoHeadsetError: No headset is connected.
        LostError: The runtime went away.
    """

    def __init__(
        self,
        binding: Binding,
        pictures: Pictures,
        eye_height: float,
        surroundings: Surroundings | None = None,
    ) -> None:
        surroundings = surroundings or Surroundings()
        self._follow = surroundings.follow
        with ExitStack() as made:
            self.runtime = made.enter_context(Runtime(binding.extensions, surroundings))
            self.session = made.enter_context(Session(self.runtime, binding))
            self._inputs = Inputs(self.runtime, self.session)
            made.callback(self._inputs.close)
            self.display = DisplayRate(self.runtime, self.session)
            self.sizes = pictures.sizes(self.runtime.sizes)
            formats = self.session.formats()
            self.format = choose_format(pictures.format, formats)
            self._images = EyeImages(self.session, self.format, self.sizes, pictures.layers)
            made.callback(self._images.close)
            self.layers = self._images.layers
            wanted = pictures.depth and DEPTH in self.runtime.extensions
            depth_format = choose_depth_format(formats) if wanted else None
            self._depths: DepthImages | None = None
            if depth_format is not None:
                try:
                    self._depths = DepthImages(self.session, depth_format, self.sizes, pictures.layers)
                except XrError as error:
                    raise UnavailableError(
                        f"the OpenXR runtime takes no depth ({error}): use --no-depth"
                    ) from error
                made.callback(self._depths.close)
            self._captions = CaptionPanel(self.session, self.format, eye_height)
            made.callback(self._captions.close)
            self._made = made.pop_all()
        self.views: list[View] = []
        self._drawn = self.sizes
        self._eyes: list[Eye] = []
        self._placing = Placing()

    def __enter__(self) -> Link:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._made.close()

    @property
    def head(self) -> poses.Matrix:
        """Pose of the user's head in the avatar's frame, float64 [4, 4], where there are `views`."""
        head = np.eye(4)
        head[:3, :3] = self.views[0].world_to_view[:3, :3].T
        head[:3, 3] = np.mean([view.position for view in self.views], axis=0)
        return head

    def hands(self, frame: Frame) -> Hands | None:
        """What the user's hands do in a frame; None while that is not meant for us.

        It is not without the focus, and never over another app: runtimes may give both the focus.
        """
        return None if self.runtime.surroundings.overlay else self._inputs.read(frame)

    def pulse(self, side: int) -> None:
        """Let a hand feel a short pulse; 0 is the left one, 1 the right one."""
        self._inputs.pulse(side)

    def resize(self, scale: float) -> None:
        """Draw smaller pictures, or larger ones again.

        Args:
            scale: Part of the full width and height, up to 1.
        """
        self._drawn = [
            Size(max(round(size.width * scale), 1), max(round(size.height * scale), 1)) for size in self.sizes
        ]

    def look(self, frame: Frame, wishes: Wishes) -> NDArray[np.float64] | None:
        """Find the user's eyes for a frame, and where the avatar stands.

        Args:
            frame: The frame.
            wishes: The user's.

        Returns:
            float64 [3], the middle between the eyes in the avatar's frame; None while tracking is lost.
        """
        self.views = []
        self._eyes = self.session.eyes(frame)
        if not self._eyes:
            return None
        head = poses.head(self._eyes)
        model = self._placing.update(head, self.session.floor_y, self.session.recentred, wishes)
        if self._follow is not None and not self._placing.anew and not any(wishes.grips):
            model = self._placing.model = self._follow(model, head, frame.display_time)
        for eye, size in zip(self._eyes, self._drawn, strict=True):
            self.views.append(eye.view(model, size.width, size.height))
        return np.mean([view.position for view in self.views], axis=0)

    def draw(
        self,
        frame: Frame,
        renderer: SplatRenderer,
        splats: Splats | SplatBuffers,
        order: NDArray[np.int32] | None,
        words: Words,
        capture: bool,
        mesh: Mesh | None = None,
    ) -> Shot | None:
        """Draw a frame for the eyes last found.

        Args:
            frame: The frame, which gets its layers.
            renderer: Made in our context.
            splats: The avatar in its own frame.
            order: Which splats to draw, farthest first; None lets the renderer sort.
            words: The captions.
            capture: Also read the pictures back, which waits for the GPU.
            mesh: The avatar's surface, from which the runtime is told how far it is.

        Returns:
            What was drawn, with ``capture``.
        """
        model = self._placing.model
        assert model is not None, "look() has found eyes"
        background = BACKGROUND_SRGB if self.runtime.opaque else None
        with self._images.targets(self._drawn) as targets:
            renderer.draw(splats, self.views, targets, background, order)
            pictures = [read_srgb(target, self.format) for target in targets] if capture else []
        depths: list[Any] = []
        distances: list[NDArray[np.float32]] = []
        if mesh is not None and self._depths is not None:
            # After the picture, which keeps the GPU busy meanwhile.
            depths = self._depths.draw(mesh, self.views, self._drawn, capture)
            distances = self._depths.distances_m
        shot = None
        if capture:
            drawn = splats.read() if isinstance(splats, SplatBuffers) else splats
            shot = Shot(self._eyes, model, self.views, drawn, order, pictures, distances)
        parts = self._images.parts(self._drawn)
        frame.layers.append(self.session.projection_layer(self._eyes, parts, depths))
        self._captions.show(words, renderer)
        if (panel := self._captions.layer(model, poses.head(self._eyes))) is not None:
            frame.layers.append(panel)
        return shot
