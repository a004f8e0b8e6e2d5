"""The test's own idea of what the headset must show, and the client that shows it."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from monado import EyeSetting, Monado, Placed
from output import Output

from taoxr_runtime.render import View, perspective_from_angles, reference
from taoxr_runtime.splats import Splats
from taoxr_runtime.xr.link import BACKGROUND_SRGB

HERE = Path(__file__).parent
START = Placed(position=(0.2, 1.65, 0.4))
"""Where the head is when the client starts, and so what the avatar stands in front of."""
IPD = 0.064
CHECKED = {"TAOXR_GL_DEBUG": "1"}
"""Each call of OpenGL is asked for its error, which ends the client."""
SYMMETRIC = (-0.7, 0.7, 0.7, -0.7)


def eyes(left=SYMMETRIC, right=SYMMETRIC) -> list[EyeSetting]:
    half = IPD / 2
    return [
        EyeSetting(Placed(position=(-half, 0, 0)), left),
        EyeSetting(Placed(position=(half, 0, 0)), right),
    ]


def turn(axis: str, degrees: float) -> tuple[float, float, float, float]:
    """Quaternion xyzw."""
    half = math.radians(degrees) / 2
    vector = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}[axis]
    return (*(math.sin(half) * part for part in vector), math.cos(half))


def matrix(placed: Placed) -> np.ndarray:
    """Rotation by the quaternion formula v + 2 q x (q x v + w v), on the unit vectors."""
    q, w = np.array(placed.orientation[:3]), placed.orientation[3]
    result = np.eye(4)
    for column, vector in enumerate(np.eye(3)):
        result[:3, column] = vector + 2 * np.cross(q, np.cross(q, vector) + w * vector)
    result[:3, 3] = placed.position
    return result


def model(first_head: Placed) -> np.ndarray:
    """Where the avatar stands for a head that looks level along -Z: 1.5 m ahead on the floor, front to +Z."""
    result = np.eye(4)
    result[:3, 3] = first_head.position[0], 0, first_head.position[2] - 1.5
    return result


def expected(
    splats: Splats,
    head: Placed,
    settings: list[EyeSetting],
    size: tuple[int, int],
    stands: np.ndarray | None = None,
) -> list[np.ndarray]:
    """What each eye must see of an avatar that stands as at the start, or elsewhere.

    Returns float64 [H, W, 3], sRGB 0 to 1.
    """
    stands = model(START) if stands is None else stands
    places = [matrix(head) @ matrix(eye.pose) for eye in settings]
    middle = np.mean([place[:3, 3] for place in places], axis=0)
    in_model = np.linalg.inv(stands) @ np.append(middle, 1)
    order = reference.back_to_front(splats.means, in_model[:3])
    background = np.ones((size[1], size[0], 4)) * (*BACKGROUND_SRGB, 1)
    pictures = []
    for place, eye in zip(places, settings, strict=True):
        left, right, up, down = eye.angles
        view = View(np.linalg.inv(place) @ stands, perspective_from_angles(left, right, up, down), *size)
        pictures.append(reference.render(splats, view, order, background)[..., :3])
    return pictures


def psnr(picture: np.ndarray, wanted: np.ndarray) -> float:
    """dB of a picture, uint8 [H, W, 3], against float64 of the same shape."""
    return float(-10 * np.log10(np.mean((picture / 255.0 - wanted) ** 2)))


def packed(placed: Placed) -> list[float]:
    return [*placed.position, *placed.orientation]


class Looker(Output):
    """The client under test; see looker.py."""

    def __init__(self, monado: Monado, process: subprocess.Popen[str], folder: Path) -> None:
        super().__init__(process)
        self._monado, self._folder, self._at_s = monado, folder, 0.0

    def look(
        self,
        head: Placed,
        settings: list[EyeSetting],
        grips: tuple[Placed | None, Placed | None] = (None, None),
        scale: float = 1.0,
        pretend: str | None = None,
        later_s: float = 0.0,
    ) -> dict[str, np.ndarray]:
        """Move the headset and take a frame from there, with the avatar held by hands that are there.

        To pretend is to take this for the session's state from now on. For the buttons, only the time passes
        that is given.
        """
        state = self._monado.remote.state
        state.head, state.eyes = head, settings
        self._monado.remote.send()
        path = self._folder / "shot.npz"
        self._at_s += later_s
        assert self.process.stdin is not None
        order = {
            "head": packed(head),
            "grips": [None if grip is None else packed(grip) for grip in grips],
            "scale": scale,
            "state": pretend,
            "at": self._at_s,
            "save": str(path),
        }
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        self.wait_for("saved")
        with np.load(path) as shot:
            return dict(shot)


@contextmanager
def looking(
    monado: Monado,
    folder: Path,
    *,
    scene: str = "person",
    size: tuple[int, int] = (176, 160),
    binding: str = "egl",
    format: str = "auto",
    layers: int | str = 1,
) -> Iterator[Looker]:
    """A client, in which the validation layer finds no fault."""
    state = monado.remote.state
    state.head, state.eyes = START, eyes()
    monado.remote.send()
    arguments = [scene, f"{size[0]}x{size[1]}", binding, format, str(layers)]
    process = monado.start([sys.executable, HERE / "looker.py", *arguments], CHECKED, stdin=subprocess.PIPE)
    looker = Looker(monado, process, folder)
    try:
        looker.wait_for("ready")
        yield looker
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0, looker.text
    finally:
        process.kill()
        process.wait()
    assert monado.check(), "the layer was not there"
    assert "VALID_ERROR" not in looker.text
