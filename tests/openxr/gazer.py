"""A client whose avatar, in all its splats, looks at the user; says where its eyes looked in each frame.

python gazer.py FILE FRAMES

Says "frame" for every one shown. Saves as .npz, for each: `heads` [F, 4, 4], the user's in the avatar's
frame; `centres` [F, 2, 3] and `looks` [F, 2, 3], where its eyeballs are there, and unit vectors out of their
pupils, left one first; `shut` [F], how far its lids are down, 0 to 1.
"""

import sys
from contextlib import closing

import numpy as np

from taoxr_runtime.animation import Activity
from taoxr_runtime.demo.stage import load_avatar
from taoxr_runtime.live import Actor
from taoxr_runtime.nnr import Scene
from taoxr_runtime.nnr.nodes.skinning import Skinning
from taoxr_runtime.splats import Splats
from taoxr_runtime.xr.app import Options, Silence, run
from taoxr_runtime.xr.link import Pictures
from taoxr_runtime.xr.poses import Matrix


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Listener:
    """Says nothing, and hears."""

    activity = Activity.LISTENING

    def face(self, now_us: int, ahead_us: int = 0) -> np.ndarray:
        return np.zeros(52, np.float32)

    def body(self, now_us: int, ahead_us: int = 0) -> None:
        return None


class Eyeball:
    """The vertices of one, which moves as a rigid body, whatever turns it."""

    def __init__(self, scene: Scene, bone: str) -> None:
        (skin,) = (step.node for step in scene.graph.steps if isinstance(step.node, Skinning))
        weights = np.asarray(skin.dense)[scene.rig.bones.index(bone)]
        self._own = np.flatnonzero(weights > 0.99)
        self._rest = self._found(scene)

    def _found(self, scene: Scene) -> np.ndarray:
        return scene.value("vertices")[self._own].astype(np.float64)

    def now(self, scene: Scene) -> tuple[np.ndarray, np.ndarray]:
        """Its centre, and where it looks: the turn that fits best (Kabsch 1976)."""
        there, here = self._rest.mean(axis=0), self._found(scene).mean(axis=0)
        u, _, vt = np.linalg.svd((self._found(scene) - here).T @ (self._rest - there))
        turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt
        return here, turn @ [0.0, 0.0, 1.0]


class Gazing:
    """The actor, always as it is at the moment that is shown; keeps what its eyes did."""

    order = mesh = None

    def foresee(self, ahead_us: int) -> None:
        """It is made when it is shown."""

    def context_lost(self) -> None:
        raise AssertionError("no context is lost here")

    def __init__(self, scene: Scene, actor: Actor) -> None:
        self._scene, self._actor = scene, actor
        self._eyes = [Eyeball(scene, "eye.L"), Eyeball(scene, "eye.R")]
        self.heads: list[np.ndarray] = []
        self.shut: list[float] = []
        self.seen: list[list[tuple[np.ndarray, np.ndarray]]] = []
        self._blink = scene.rig.blendshapes.index("eyeBlinkLeft")
        self._few = np.arange(0, len(scene.splats), 200)

    def head(self, head: Matrix) -> None:
        self.heads.append(head)

    def update(self, camera_in_model: np.ndarray, ahead_us: int = 0) -> Splats:
        splats = self._actor.update(camera_in_model, ahead_us, wait=True)
        assert isinstance(splats, Splats)
        self.shut.append(float(self._scene.value("expression")[self._blink]))
        self.seen.append([eye.now(self._scene) for eye in self._eyes])
        say("frame")
        few = self._few
        arrays = (splats.means, splats.covariances, splats.opacities, splats.colors_srgb)
        return Splats(*(np.ascontiguousarray(array[few]) for array in arrays))


path, frames = sys.argv[1], int(sys.argv[2])
with closing(load_avatar(None)) as scene, Actor(scene, Listener(), seed=3, device="cpu") as actor:
    figure = Gazing(scene, actor)
    pictures = Pictures(size=(64, 64))
    run(Options(pictures=pictures, frames=frames), figure, Silence(), say, on_head=figure.head)
count = min(len(figure.heads), len(figure.seen))
np.savez(
    path,
    heads=figure.heads[:count],
    centres=[[centre for centre, _ in pair] for pair in figure.seen[:count]],
    shut=figure.shut[:count],
    looks=[[look for _, look in pair] for pair in figure.seen[:count]],
)
say("saved")
