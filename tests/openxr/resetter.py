"""A client whose GPU is reset in mid-frame: software drivers never do that, so it is pretended.

python resetter.py FILE RESET...

At each of these frames, while the avatar is updated or ("d3") before it is drawn, the OpenGL context is taken
away: from then on every call does nothing, as in a lost context, and the driver reports GL_CONTEXT_LOST until
there is a new one. Ends some frames after the last one and saves the last picture as .npz: `pictures`,
`distances`, and the splats it was drawn from, with `projection` and `world_to_view` of the left eye.
"""

import sys
from contextlib import closing
from typing import Any

import numpy as np

from taoxr_runtime.demo.stage import load_avatar
from taoxr_runtime.live import Actor
from taoxr_runtime.render import gl, objects
from taoxr_runtime.xr.app import Options, Silence, run
from taoxr_runtime.xr.conversation import Nobody
from taoxr_runtime.xr.link import Pictures, Shot

CONTEXT_LOST = 0x0507
resets = [int(number) for number in sys.argv[2:] if number[0] != "d"]
before_drawing = [int(number[1:]) for number in sys.argv[2:] if number[0] == "d"]


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def current() -> bool:
    return bool(gl.load("OpenGL.EGL").eglGetCurrentContext())


def lose() -> None:
    egl = gl.load("OpenGL.EGL")
    nothing = egl.EGL_NO_SURFACE
    egl.eglMakeCurrent(egl.eglGetCurrentDisplay(), nothing, nothing, egl.EGL_NO_CONTEXT)


def report_loss() -> None:
    """Let glGetError say what a driver would."""
    module: Any = gl.gl()
    real = module.glGetError
    module.glGetError = lambda: real() if current() else CONTEXT_LOST


class Losing:
    """The actor, whose context goes while it is updated."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._frame = 0
        self.context_lost, self.foresee = actor.context_lost, actor.foresee

    @property
    def order(self) -> Any:
        return self._actor.order

    @property
    def mesh(self) -> Any:
        return self._actor.mesh

    def update(self, camera_in_model: np.ndarray, ahead_us: int = 0) -> Any:
        self._frame += 1
        if self._frame in resets:
            lose()
        splats = self._actor.update(camera_in_model, ahead_us)
        if self._frame in before_drawing:
            lose()
        say(f"updated {self._frame}")
        return splats


def save(shot: Shot) -> None:
    view = shot.views[0]
    np.savez(
        sys.argv[1],
        pictures=np.array(shot.pictures),
        distances=np.array(shot.distances_m),
        projection=view.projection,
        world_to_view=view.world_to_view,
        means=shot.splats.means,
        covariances=shot.splats.covariances,
        opacities=shot.splats.opacities,
        colors=shot.splats.colors_srgb,
    )
    say("saved")


report_loss()
objects.writes_overtake = lambda: True  # as on what is reset: hardware
with closing(load_avatar(None)) as scene, Actor(scene, Nobody(), device="gpu") as actor:
    options = Options(pictures=Pictures(size=(64, 64)), frames=max(resets + before_drawing) + 2)
    timing = run(options, Losing(actor), Silence(), say, on_last=save)
say(f"{timing.frames} frames")
