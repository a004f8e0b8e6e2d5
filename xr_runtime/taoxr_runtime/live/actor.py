"""The avatar's body: motion of the moment, and splats made from it without holding up the frame loop."""

import math
from types import TracebackType
from typing import Final, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.animation import Activity, Idle, Motion, Skeleton
from taoxr_runtime.animation.body_player import HumanoidPose
from taoxr_runtime.animation.humanoid import Retarget
from taoxr_runtime.audio.protocols import clock_us
from taoxr_runtime.nnr import Scene
from taoxr_runtime.nnr.background import Background
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.nnr.keyframes import AHEAD_US, Keyframes
from taoxr_runtime.nnr.timeline import Timeline
from taoxr_runtime.render import gl
from taoxr_runtime.render.depth import Mesh
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats

Device = Literal["auto", "cpu", "keyframes", "gpu"]

# Weight of the newest measurement of how long an update or a frame takes.
_NEWEST: Final = 0.1
_LONGEST_FRAME_US: Final = 1_000_000
_SAME_FRAME_US: Final = 3_000
"""Less than the time between two pictures of any headset."""


class Person(Protocol):
    """Whose body it is: a `Companion`, or nobody who speaks."""

    @property
    def activity(self) -> Activity:
        """What the person is doing, as far as the body shows it."""
        ...

    def face(self, now_us: int, ahead_us: int = 0) -> NDArray[np.float32]:
        """The speaking face, float32 [52]; see `Companion.face`."""
        ...

    def body(self, now_us: int, ahead_us: int = 0) -> HumanoidPose | None:
        """The body's pose, None without one; see `Companion.body`."""
        ...


class Actor:
    """A scene that lives; a context manager, for one thread. Whoever loaded the scene closes it.

    On a GPU the scene is updated where it is drawn, for every frame, and only its networks at the animation's
    rate. On a CPU beside a fast display it is deformed at the animation's rate, and keyframes are
    interpolated. On a software driver, which draws no faster than that, it is updated on a worker thread: the
    frame loop draws what was finished last; the next update starts from the newest motion and runs while a
    frame is drawn. There it can be told to update fewer splats.

    Args:
        scene: The avatar.
        person: Who it is.
        seed: Of the idle motion.
        device: Where it is updated; "keyframes" is a CPU beside a fast display. "auto" asks the OpenGL
            context that is current at the first `update`: "cpu" on a software driver, else "gpu".
        beside: Splats that do not change, given to the GPU with the avatar's (and to nobody else).

    Raises:
        InvalidInputError: The scene has no skeleton.
    """

    def __init__(
        self,
        scene: Scene,
        person: Person,
        *,
        seed: int = 1,
        device: Device = "auto",
        beside: Splats | None = None,
    ) -> None:
        self._scene = scene
        self._person = person
        skeleton = Skeleton.of(scene)
        self._idle = Idle(skeleton, seed=seed)
        self._retarget = Retarget(skeleton)
        self._background = Background(scene)
        self._last_us = 0
        self._update_us = 0.0
        self._frame_us = 0.0
        self._called_us = 0
        self._device: Device = device
        self._beside = beside
        self._on_gpu: GlScene | None = None
        self._camera = np.zeros(3)
        self._foreseen_us: int | None = None
        self._keyframes: Keyframes | None = None
        self._timeline = Timeline()
        self._order: NDArray[np.int32] | None = None

    def __enter__(self) -> Self:
        self._background.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._background.__exit__(kind, error, trace)
        if self._keyframes is not None:
            self._keyframes.close()

    @property
    def order(self) -> NDArray[np.int32] | None:
        """Blending order of the splats that `update` returned last, farthest first; None if not made."""
        return self._background.order if self._device == "cpu" else self._order

    @property
    def mesh(self) -> Mesh | None:
        """The body's surface as of the last `update`; None between keyframes, and if splats ride on none."""
        if self._device == "cpu":
            return self._background.mesh
        return None if self._on_gpu is None else self._on_gpu.mesh

    @property
    def update_ms(self) -> float:
        """How long an update of the scene takes, in milliseconds (a running average)."""
        return self._background.update_ms if self._device == "cpu" else self._update_us / 1e3

    def motion(self, camera_in_model: NDArray[np.float64], ahead_us: int = 0) -> Motion:
        """Expression and pose of the moment, or of ``ahead_us`` from now.

        Args:
            camera_in_model: float64 [3], point between the viewer's eyes, model frame, metres.
            ahead_us: How long from now the picture will be seen.
        """
        # An estimate that shrinks must not turn time back.
        now_us = self._last_us = max(clock_us() + ahead_us, self._last_us)
        face = self._person.face(now_us, ahead_us)
        posed = self._person.body(now_us, ahead_us)
        return self._idle.sample(
            now_us, self._person.activity, camera_in_model, face, self._retarget.pose(posed),
            stalled=posed is not None and posed.stalled,
        )  # fmt: skip

    def update(
        self,
        camera_in_model: NDArray[np.float64],
        ahead_us: int = 0,
        share: float = 1.0,
        *,
        wait: bool = False,
    ) -> Splats | SplatBuffers:
        """The newest splats that are finished; valid until the next call. Only the first call waits.

        Args:
            camera_in_model: float64 [3], point between the viewer's eyes, model frame, metres.
            ahead_us: How long from now the picture will be seen, such as until OpenXR's predicted
                display time.
            share: What share of the splats a software driver is given, as soon as there is a scene with so
                many; see `taoxr_runtime.nnr.levels`. Elsewhere all are drawn.
            wait: Whether to return the splats of this moment, however long that takes.
        """
        if self._device == "auto":
            self._device = "cpu" if gl.is_software() else "gpu"
        if self._device == "gpu":
            return self._update_on_gpu(camera_in_model, ahead_us)
        if self._device == "keyframes":
            return self._interpolate(camera_in_model, ahead_us)

        lead_us = self._until_drawn_us(wait)

        def prepare(scene: Scene) -> None:
            self._set(scene, camera_in_model, ahead_us + lead_us)

        return self._background.update(prepare, share, wait=wait)

    def _until_drawn_us(self, wait: bool) -> int:
        """From now until the call that returns what is begun by this one."""
        now_us, update_us = clock_us(), 1e3 * self._background.update_ms
        since_us, self._called_us = now_us - (self._called_us or now_us), now_us
        if wait:
            return round(update_us)
        # Frames that took no part in a rhythm, as while nobody looked, tell nothing of the next one.
        if 0 < since_us < _LONGEST_FRAME_US:
            weight = _NEWEST if self._frame_us else 1.0
            self._frame_us += (since_us - self._frame_us) * weight
        return round(max(math.ceil(update_us / self._frame_us), 1) * self._frame_us) if self._frame_us else 0

    def foresee(self, ahead_us: int) -> None:
        """On a GPU, make the body of the next frame already, as seen from where the viewer was last.

        Then only what depends on where the viewer is, the colours, is left for the next `update`. That makes
        the body, too, where its frame is seen at another time after all.

        Args:
            ahead_us: How long from now the next frame is seen, if it is in time.
        """
        if self._on_gpu is not None:
            self._foreseen_us = clock_us() + ahead_us
            self._set(self._on_gpu, self._camera, ahead_us)
            self._on_gpu.update(time_us=self._last_us)
            gl.flush()

    def context_lost(self) -> None:
        """What lay on the GPU is gone: it is made anew by the next `update`, in the context current then."""
        self._on_gpu = self._foreseen_us = None

    def _update_on_gpu(self, camera: NDArray[np.float64], ahead_us: int) -> SplatBuffers:
        # It is not released: it lives as long as the context, which may be gone when this object ends.
        scene = self._on_gpu = self._on_gpu or GlScene(
            self._scene.container, self._beside, graph=self._scene.graph
        )
        began_us = clock_us()
        self._camera = np.array(camera, np.float64)
        foreseen_us, self._foreseen_us = self._foreseen_us, None
        if foreseen_us is None or abs(began_us + ahead_us - foreseen_us) > _SAME_FRAME_US:
            self._set(scene, camera, ahead_us)
        else:
            scene.set("camera", self._camera)
        splats = scene.update(time_us=self._last_us)
        self._measure(clock_us() - began_us)
        return splats

    def _interpolate(self, camera: NDArray[np.float64], ahead_us: int) -> Splats:
        began_us = clock_us()
        motion = self.motion(camera, ahead_us + AHEAD_US)
        inputs = {"expression": motion.expression, "pose": motion.pose, "root": motion.root}
        self._timeline.add(self._last_us, inputs)
        self._keyframes = self._keyframes or Keyframes(self._scene, self._timeline.at)
        shown_us = self._last_us - AHEAD_US
        splats = self._keyframes.show(shown_us, camera, self._timeline.at(shown_us)["pose"])
        self._order = self._keyframes.order
        self._measure(clock_us() - began_us)
        return splats

    def _set(self, scene: Scene | GlScene, camera: NDArray[np.float64], ahead_us: int) -> None:
        motion = self.motion(camera, ahead_us)
        scene.set("expression", motion.expression)
        scene.set("pose", motion.pose)
        scene.set("root", motion.root)
        scene.set("camera", np.asarray(camera, np.float64))

    def _measure(self, took_us: int) -> None:
        self._update_us += (took_us - self._update_us) * (_NEWEST if self._update_us else 1.0)
