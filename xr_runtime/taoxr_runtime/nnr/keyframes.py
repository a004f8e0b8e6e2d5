"""A scene on the CPU at any display rate: deformed 20 times a second, and interpolated between.

On the GPU this is not needed: there the whole scene but its networks runs for every frame that is shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.eyes import Eye, eyes_of
from taoxr_runtime.nnr.nodes.base import F32
from taoxr_runtime.nnr.nodes.sort import order_of
from taoxr_runtime.nnr.rates import PERIOD_US
from taoxr_runtime.nnr.scene import NodeRun, Scene
from taoxr_runtime.nnr.timeline import Inputs
from taoxr_runtime.splats import VIEW_MOVED_M, Splats

AHEAD_US: Final = 2 * PERIOD_US
"""How far ahead of what is shown the motion is asked for: one period in which a keyframe is made, and one in
which it is reached."""


@dataclass(frozen=True)
class _Key:
    """A deformed scene at one time, in arrays of its own."""

    time_us: int
    means: F32
    covariances: F32
    colors: F32
    bones: F32
    pose: F32
    order: NDArray[np.int32] | None
    camera: F32
    trace: tuple[NodeRun, ...]


class Keyframes:
    """Shows a scene between its keyframes; a context manager, for one thread.

    `show` never waits but for the first two keyframes: when the next one is late, the last stays, and what
    was missed is made up for at up to twice the pace. Eyes turn for every frame that is shown: they are
    rigid, so their splats need no deforming.

    Args:
        scene: On NumPy or MNN; not to be updated by anyone else meanwhile.
        motion: The scene's inputs (without ``camera``) at a time in microseconds. Asked on the caller's
            thread for times up to `AHEAD_US` after the one that is shown: whoever cannot look ahead shows
            that much later.
        wait: Let `show` wait for every keyframe, for tests and measurements.

    Attributes:
        trace: What the last `show` led to: nodes of keyframes that it found finished, and its own work.
    """

    def __init__(self, scene: Scene, motion: Callable[[int], Inputs], *, wait: bool = False) -> None:
        self._scene, self._motion, self._wait = scene, motion, wait
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="keyframes")
        self._before: _Key | None = None
        self._after: _Key | None = None
        self._next: Future[_Key] | None = None
        self._from_us = self._to_us = self._last_us = 0
        self._free: list[_Key] = []
        self._eyes: list[Eye] = eyes_of(scene)
        self._shown: list[tuple[F32, F32, F32]] = []
        self._order: NDArray[np.int32] | None = None
        self._order_camera: F32 = np.full(3, np.inf, np.float32)
        self.trace: tuple[NodeRun, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the worker thread."""
        self._worker.shutdown(wait=True)

    @property
    def order(self) -> NDArray[np.int32] | None:
        """Blending order of what was shown last, farthest first; None if the scene makes none."""
        return self._order

    def show(self, time_us: int, camera: NDArray[Any], pose: NDArray[Any] | None = None) -> Splats:
        """The splats at a time; their arrays are written again by the call after the next.

        Args:
            time_us: When they are seen; times go forward.
            camera: Position of the viewer in the model frame, floats [3].
            pose: Rotations of the bones now, floats [B, 4], of which only the eyes' are used; None for what
                lies between the keyframes.
        """
        trace: list[NodeRun] = []
        camera = camera.astype(np.float32)
        if self._before is None or self._after is None:
            start = time_us // PERIOD_US * PERIOD_US
            self._before = self._worker.submit(self._make, *self._asked(start, camera)).result()
            self._after = self._worker.submit(self._make, *self._asked(start + PERIOD_US, camera)).result()
            trace += [*self._before.trace, *self._after.trace]
            self._take_order(self._before)
            self._from_us, self._to_us = start, start + PERIOD_US
        before, after = self._advance(time_us, camera, trace)
        self._last_us = time_us
        amount = np.clip((time_us - self._from_us) / (self._to_us - self._from_us), 0, 1)
        splats = self._mixed(before, after, np.float32(amount), pose)
        if self._order is not None and np.abs(camera - self._order_camera).max() > VIEW_MOVED_M:
            began = time.perf_counter()
            self._order, self._order_camera = order_of(splats.means, camera), camera
            trace.append(NodeRun("sort", "numpy", (time.perf_counter() - began) * 1e3))
        self.trace = tuple(trace)
        return splats

    def _advance(self, time_us: int, camera: F32, trace: list[NodeRun]) -> tuple[_Key, _Key]:
        """Starts and takes over keyframes as the time asks for."""
        assert self._before is not None
        assert self._after is not None
        while True:
            if self._next is None:
                # Made while the last one is being reached; later ones are left out when the CPU is too slow.
                due = max(self._after.time_us, time_us // PERIOD_US * PERIOD_US) + PERIOD_US
                if self._after.time_us > time_us + PERIOD_US:
                    break
                self._next = self._worker.submit(self._make, *self._asked(due, camera))
            if time_us < self._to_us or not (self._wait or self._next.done()):
                break
            made = self._next.result()
            self._next = None
            self._free.append(self._before)
            self._before, self._after = self._after, made
            # Where the last one has been shown for a while, as this one is late, the way to it begins now.
            late = self._last_us >= self._to_us
            self._from_us = time_us if late else self._to_us
            self._to_us = max(made.time_us, self._from_us + PERIOD_US // 2)
            trace += made.trace
            self._take_order(self._before)
        return self._before, self._after

    def _take_order(self, key: _Key) -> None:
        if key.order is not None:
            self._order, self._order_camera = key.order, key.camera

    def _asked(self, time_us: int, camera: F32) -> tuple[int, dict[str, NDArray[Any]]]:
        return time_us, {**self._motion(time_us), "camera": camera}

    def _make(self, time_us: int, inputs: Inputs) -> _Key:
        """On the worker: deforms the scene and copies what it made, for the scene will write over it."""
        scene = self._scene
        for name, value in inputs.items():
            scene.set(name, value)
        splats = scene.update()
        old = self._free.pop() if self._free else None

        def copy(array: F32, into: F32 | None) -> F32:
            if into is None:
                return array.copy()
            np.copyto(into, array)
            return into

        order = scene.order
        return _Key(
            time_us,
            copy(splats.means, old.means if old else None),
            copy(splats.covariances, old.covariances if old else None),
            copy(splats.colors_srgb, old.colors if old else None),
            scene.value("bones").copy() if self._eyes else np.empty((0, 3, 4), np.float32),
            np.asarray(inputs["pose"], np.float32) if "pose" in inputs else np.empty((0, 4), np.float32),
            None if order is None else order.copy(),
            np.asarray(inputs["camera"], np.float32),
            scene.trace,
        )

    def _mixed(self, before: _Key, after: _Key, amount: np.float32, pose: NDArray[Any] | None) -> Splats:
        pairs = (
            (before.means, after.means),
            (before.covariances, after.covariances),
            (before.colors, after.colors),
        )
        if len(self._shown) < 2:
            means, covariances, colors = (np.empty_like(old) for old, _ in pairs)
            self._shown.append((means, covariances, colors))
        else:
            self._shown.reverse()
        for (old, new), out in zip(pairs, self._shown[-1], strict=True):
            np.subtract(new, old, out=out)
            out *= amount
            out += old
        means, covariances, colors = self._shown[-1]
        if pose is not None:
            for eye in self._eyes:
                eye.turn(means, covariances, before, after, pose, float(amount))
        return Splats(means, covariances, self._scene.splats.opacities, colors)
