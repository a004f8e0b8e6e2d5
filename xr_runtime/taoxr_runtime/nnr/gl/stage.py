"""Several scenes in one pool of splats, so that they are sorted and blended together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.gl.scene import GlScene, Room
from taoxr_runtime.nnr.graph import build
from taoxr_runtime.render import objects
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.stage import Placed, check_rigid


class GlStage:
    """Scenes on the GPU that share a world; needs the same current context at every call.

    Inputs are set on each of `scenes`; their ``camera`` is a place in the world.

    Args:
        placed: Each file and where it stands. One file may stand in several places.

    Attributes:
        scenes: In the order given.
        splats: Of all of them, in world coordinates, for the renderer.

    Raises:
        InvalidInputError: There is none, a transform is not rigid, or a scene has no bones to move it by.
    """

    def __init__(self, placed: Sequence[Placed[Container]]) -> None:
        if not placed:
            raise InvalidInputError("placed", "none", "at least one scene")
        for i, one in enumerate(placed):
            check_rigid(f"placed[{i}].model", one.model)
            kinds = {node.kind for node in one.what.scene.nodes}
            if "skinning" not in kinds and not np.array_equal(one.model, np.eye(4)):
                raise InvalidInputError(f"placed[{i}].model", "a move", "the identity: it has no bones")
        graphs = [build(one.what) for one in placed]
        counts = [graph.count for graph in graphs]
        self.splats = SplatBuffers(sum(counts))
        firsts = np.cumsum([0, *counts[:-1]]).tolist()
        self.scenes = tuple(
            GlScene(one.what, graph=graph, room=Room(self.splats, first, one.model.astype(np.float64)))
            for one, graph, first in zip(placed, graphs, firsts, strict=True)
        )

    def look_from(self, eyes: NDArray[Any] | None) -> None:
        """As `GlScene.look_from`, in world coordinates.

        Raises:
            InvalidInputError: As there; or one of the scenes has one set of colours for all eyes.
        """
        if eyes is not None and not all(scene.lights_each_eye for scene in self.scenes):
            raise InvalidInputError("eyes", list(eyes.shape), "None: a network makes the colours of a scene")
        for scene in self.scenes:
            scene.look_from(eyes)

    def update(self, clock: objects.GpuClock | None = None, time_us: int | None = None) -> SplatBuffers:
        """Brings all scenes up to date; see `GlScene.update`."""
        for scene in self.scenes:
            scene.update(clock, time_us)
        return self.splats

    def release(self) -> None:
        """Deletes everything from the GPU."""
        for scene in self.scenes:
            scene.release()
        self.splats.release()
