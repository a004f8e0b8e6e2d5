"""Which splats can be left out first, where there is no time for all of them.

Every part is thinned evenly: the splats that crowd their neighbours most go first, again and again. This is
sample elimination (Yuksel, "Sample Elimination for Generating Poisson Disk Sample Sets", Eurographics 2015),
many splats at a time: its order is progressive, so that any beginning of it covers the part without clumps.
What people look at (face, eyes, hands) keeps more than cloth.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from taoxr_runtime.nnr import Scene
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.nodes.color import Color
from taoxr_runtime.splats import full

from .fields import Floats, Ints
from .parts import SEGMENTS

ENTRY = "tensors/importance.npy"
_LEVELS = 256
_NEIGHBOURS = 12
_CLOSE = 8
_ROUND = 0.2
_CROWDING = 8  # Yuksel's alpha
_CROWDED = 1 / 3  # the share of splats from which those of a round are taken
_FEW = 32
_FACE_RADIUS = 0.085  # metres about the middle of eyes and mouth
_CLOTHES = ("cloth", "denim", "shoe")
_CLOSE_TO_CLOTH = 0.010  # metres
_HAND = ("wrist", "finger", "metacarpal")
# How much more of a part stays than of skin in general.
_WEIGHTS = {
    "face": 1.8, "hand": 1.6, "eye": 3.0, "brow": 2.0, "lash": 1.5, "teeth": 0.9, "mouth": 0.9, "hair": 0.9,
    "cloth": 1.1, "denim": 0.9, "shoe": 0.7, "rubber": 0.7, "scalp": 0.7, "under": 0.01,
}  # fmt: skip


def of(container: Container) -> NDArray[np.uint8]:
    """The order of importance of an avatar's splats.

    Args:
        container: What the builder makes, with or without an order.

    Returns:
        uint8 [N]; the larger, the later a splat is left out. Every level has as many.
    """
    scene = Scene(container)
    splats = scene.update()
    parts, part = np.unique(_parts(scene, splats.means), return_inverse=True)
    shape = full(splats.covariances.astype(np.float64))
    key = np.empty(len(part))
    for number, name in enumerate(parts):
        index = np.flatnonzero(part == number)
        position, own = splats.means[index].astype(np.float64), shape[index]
        if name == "hair":
            # A strand stays or goes as a whole.
            position = position.reshape(SEGMENTS, -1, 3).mean(0)
            own = np.tile(np.eye(3), (len(position), 1, 1))
        rank = np.resize(order(position, own), len(index))
        key[index] = (rank + 0.5) / (rank.max() + 1) / _WEIGHTS.get(str(name), 1.0)
    place = np.empty(len(key), np.intp)
    place[np.argsort(key, kind="stable")] = np.arange(len(key))
    return (_LEVELS - 1 - place * _LEVELS // len(key)).astype(np.uint8)


def order(points: Floats, shape: Floats) -> Ints:
    """When each splat is left out, 0 for the last one.

    Args:
        points: [n, 3].
        shape: Covariances [n, 3, 3]; distances are measured in them, so that long ones keep more neighbours
            across than along. A part of their mean is added, as they are thin.
    """
    mean = np.trace(shape, axis1=1, axis2=2)[:, None, None] / 3
    metric = np.linalg.inv(shape + _ROUND * mean * np.eye(3))
    rank = np.empty(len(points), np.intp)
    alive = np.arange(len(points))
    while len(alive) > _FEW:
        near = cKDTree(points[alive]).query(points[alive], _NEIGHBOURS + 1)[1][:, 1:]
        apart = points[alive[near]] - points[alive, None]
        own, other = metric[alive, None], metric[alive[near]]
        distance = np.sqrt(np.einsum("nki,nkij,nkj->nk", apart, (own + other) / 2, apart))
        reach = np.median(np.partition(distance, _CLOSE, axis=1)[:, _CLOSE])
        crowding = (np.maximum(1 - distance / reach, 0) ** _CROWDING).sum(1)
        crowded = np.argsort(-crowding, kind="stable")[: max(int(len(alive) * _CROWDED), 1)]
        turn = np.full(len(alive), len(alive))
        turn[crowded] = np.arange(len(crowded))
        # Never two neighbours at once.
        gone = crowded[(turn[crowded, None] < turn[near[crowded]]).all(1)]
        rank[alive[gone]] = len(alive) - 1 - np.arange(len(gone))
        alive = np.delete(alive, gone)
    rank[alive] = np.arange(len(alive))
    return rank


def _parts(scene: Scene, means: NDArray[np.float32]) -> NDArray[Any]:
    """Name of each splat's part: its material, or ``face`` or ``hand``."""
    nodes = {node.kind: node for node in scene.container.scene.nodes}

    def tensor(kind: str, key: str) -> NDArray[Any]:
        return scene.container.tensors[nodes[kind].tensors[key]]

    names = np.array([m["name"] for m in nodes["color"].attributes["materials"]])
    part = names[tensor("color", "material")].astype("<U8")
    skin = part == "skin"
    marks = scene.landmarks
    middle = np.mean([marks.eye_left, marks.eye_right, marks.mouth], axis=0)
    part[skin & (np.linalg.norm(means - middle, axis=1) < _FACE_RADIUS)] = "face"
    weights, bones = tensor("skinning", "bone_weights"), tensor("skinning", "bone_indices")
    bone = np.take_along_axis(bones, weights.argmax(1)[:, None], 1)[:, 0]
    moves_hand = np.array([name.startswith(_HAND) for name in scene.rig.bones])[bone]
    corner = tensor("binding", "triangles")[tensor("color", "splat_triangle"), 0]
    part[skin & moves_hand[corner]] = "hand"
    part[_under(scene, means, skin, np.isin(part, _CLOTHES))] = "under"
    return part


def _under(
    scene: Scene, means: NDArray[np.float32], skin: NDArray[np.bool_], cloth: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Numbers of skin splats that lie close under a cloth, where only gaps would show them."""
    index = np.flatnonzero(skin)
    color = next(step.node for step in scene.graph.steps if isinstance(step.node, Color))
    outwards = scene.value("frames")[color.triangle[index], :, 2]
    away, near = cKDTree(means[cloth]).query(means[index])
    above = ((means[cloth][near] - means[index]) * outwards).sum(1)
    return index[(away < _CLOSE_TO_CLOTH) & (above > 0.85 * away)]
