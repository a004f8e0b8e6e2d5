"""How far the avatar is, for runtimes that move a picture to where the head has got to meanwhile.

``XR_KHR_composition_layer_depth``: beside each eye's picture goes a texture of depths, and between which
distances they lie. Drawn from the body's mesh; see ``render.depth``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render import View
from taoxr_runtime.render.depth import DepthPass, Mesh, distance, read_depth
from taoxr_runtime.xr import api
from taoxr_runtime.xr.runtime import Size
from taoxr_runtime.xr.session import Session
from taoxr_runtime.xr.swapchain import EyeImages


class DepthImages:
    """The depths of one session.

    Args:
        session: Its owner.
        format: As ``choose_depth_format`` gives it.
        sizes: Of the picture for each eye.
        layers: As of ``EyeImages``.

    Attributes:
        distances_m: For each eye what was drawn last, with ``capture``: float32 [H, W] in metres along the
            line of sight, row 0 at the top, infinity where the body is not.
    """

    def __init__(self, session: Session, format: str, sizes: Sequence[Size], layers: int | None) -> None:
        self._images = EyeImages(session, format, sizes, layers)
        self._pass: DepthPass | None = None
        # Layers refer to these; they must live until the frame has been handed over.
        self._infos: list[Any] = []
        self.distances_m: list[NDArray[np.float32]] = []

    def draw(self, mesh: Mesh, views: Sequence[View], sizes: Sequence[Size], capture: bool) -> list[Any]:
        """Draw the depths of a frame.

        Args:
            mesh: In the views' world.
            views: Of the eyes, as the pictures are drawn.
            sizes: Of the pictures.
            capture: Also read the depths back, which waits for the GPU.

        Returns:
            ``XrCompositionLayerDepthInfoKHR`` of each eye, valid until the next call.
        """
        xr = api.xr()
        self._pass = self._pass or DepthPass()
        with self._images.targets(sizes) as targets:
            self._pass.draw(mesh, views, targets)
            drawn = [read_depth(target) for target in targets] if capture else []
        self._infos = [
            xr.CompositionLayerDepthInfoKHR(
                sub_image=part, min_depth=0.0, max_depth=1.0, near_z=view.near, far_z=view.far
            )
            for view, part in zip(views, self._images.parts(sizes), strict=True)
        ]
        # With the planes that the runtime is told.
        self.distances_m = [
            distance(depth, info.near_z, info.far_z).astype(np.float32)
            for depth, info in zip(drawn, self._infos, strict=capture)
        ]
        return self._infos

    def close(self) -> None:
        """Give the textures back; harmless when the runtime is gone."""
        self._images.close()
        if self._pass is not None:
            self._pass.release()
            self._pass = None
