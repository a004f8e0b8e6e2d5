"""The frame loop of `taoxr xr`: draws until the user or the runtime ends it, and outlives the runtime."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import UnavailableError
from taoxr_runtime.render import SplatRenderer, gl
from taoxr_runtime.render.depth import Mesh
from taoxr_runtime.render.renderer import Rasterizer
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats
from taoxr_runtime.xr.api import LostError, NoHeadsetError, NoRuntimeError
from taoxr_runtime.xr.binding import Binding, BindingName, open_binding
from taoxr_runtime.xr.captions import Words
from taoxr_runtime.xr.controls import Controls, Wishes
from taoxr_runtime.xr.environment import Surroundings
from taoxr_runtime.xr.gpu_time import GpuTime
from taoxr_runtime.xr.link import Link, Pictures, Shot
from taoxr_runtime.xr.pace import Pace
from taoxr_runtime.xr.poses import Matrix
from taoxr_runtime.xr.runtime import extensions
from taoxr_runtime.xr.session import Frame
from taoxr_runtime.xr.timing import Timing, collect_young, collector_off, short_turns
from taoxr_runtime.xr.watchdog import Watchdog

_RETRY_S: Final = 0.5
_MOST_LOSSES: Final = 3
"""Of the OpenGL context without a picture in between: then something else is wrong."""
_IDLE_S: Final = 0.02
_RHYTHM_NS: Final = 100_000_000
"""Frames farther apart than that keep no rhythm."""
_LEAVE_S: Final = 3.0
# States in which the user sees us.
_SEEN: Final = ("VISIBLE", "FOCUSED")


class Figure(Protocol):
    """Whom we look at; ``live.Actor`` or a still."""

    @property
    def order(self) -> NDArray[np.int32] | None:
        """In which order to draw the splats that ``update`` returned last; None if it does not say."""
        ...

    @property
    def mesh(self) -> Mesh | None:
        """The surface of what ``update`` returned last, for its depth; None if it has none."""
        ...

    def update(self, camera_in_model: NDArray[np.float64], ahead_us: int = 0) -> Splats | SplatBuffers:
        """The splats of this frame.

        Args:
            camera_in_model: float64 [3], where the user is, metres.
            ahead_us: How long from now the frame is seen.
        """
        ...

    def foresee(self, ahead_us: int) -> None:
        """Called between two frames: the time to make what can be made of the next one before it is due.

        Args:
            ahead_us: How long from now that is seen, if it is in time.
        """
        ...

    def context_lost(self) -> None:
        """What it has on the GPU is gone; the next ``update`` comes in another OpenGL context."""
        ...


class Partner(Protocol):
    """Whom we talk to; see ``Conversation``."""

    @property
    def listening(self) -> bool:
        """Whether it hears the user speak."""
        ...

    def tick(self, wishes: Wishes) -> Words:
        """Once a frame: take in what the user wants, give the captions."""
        ...


@dataclass(frozen=True, slots=True)
class Still:
    """A figure that never moves."""

    splats: Splats
    order: NDArray[np.int32] | None = None
    mesh: Mesh | None = None

    def update(self, camera_in_model: NDArray[np.float64], ahead_us: int = 0) -> Splats:
        """Always the same."""
        return self.splats

    def foresee(self, ahead_us: int) -> None:
        """It is made already."""

    def context_lost(self) -> None:
        """Nothing of it lies on the GPU."""


class Silence:
    """No conversation."""

    listening = False

    def tick(self, wishes: Wishes) -> Words:
        """Nothing to say."""
        return Words()


@dataclass(frozen=True, slots=True)
class Options:
    """How to show the avatar.

    Attributes:
        binding: How OpenXR gets at OpenGL.
        pictures: What the swapchains should be.
        frames: End after as many; 0 goes on until the user or the runtime ends it.
        eye_height: Of the avatar, metres.
        raster: What draws; see ``SplatRenderer``.
        surroundings: Among what.
        refresh_rate: Of the headset in hertz, where that can be chosen; None: the highest that we can hold.
    """

    binding: BindingName = "auto"
    pictures: Pictures = field(default_factory=Pictures)
    frames: int = 0
    eye_height: float = 1.6
    raster: Rasterizer = "auto"
    surroundings: Surroundings = field(default_factory=Surroundings)
    refresh_rate: float | None = None


def run(
    options: Options,
    figure: Figure,
    partner: Partner,
    tell: Callable[[str], None],
    on_last: Callable[[Shot], None] | None = None,
    on_head: Callable[[Matrix], None] | None = None,
    timing: Timing | None = None,
) -> Timing:
    """Show a figure in the headset until the user or the runtime ends it; in the main thread.

    When the runtime dies, waits for it and goes on; figure and partner notice nothing. When the GPU is reset,
    makes a new OpenGL context and goes on; the figure is told.

    Args:
        options: How.
        figure: Whom to show.
        partner: Whom to talk to.
        tell: Called with lines for the user, from any thread.
        on_last: Called with the last frame.
        on_head: Called in each frame with the pose of the user's head in the figure's frame, float64 [4, 4].
        timing: What is to count the frames.

    Returns:
        How long frames took.

    Raises:
        NoRuntimeError: No runtime is running at the start.
        NoHeadsetError: No headset is connected at the start.
        UnavailableError: Binding, driver or format do not do; says what to do.
    """
    timing = timing or Timing()
    with Watchdog(tell) as watchdog, collector_off(), short_turns():
        loop = _Loop(options, figure, partner, watchdog, timing, tell, on_last, on_head)
        binding: Binding | None = open_binding(options.binding, extensions())
        again, losses, shown = False, 0, 0
        while binding is not None:
            try:
                with gl.naming_loss():
                    _show(binding, options, watchdog, loop, tell, again)
                break
            except gl.ContextLostError as error:
                losses, shown = (1 if timing.frames > shown else losses + 1), timing.frames
                if losses >= _MOST_LOSSES:
                    raise
                tell(f"{error}: what was on it is made anew")
                figure.context_lost()
                timing.interrupted()
            finally:
                binding.close()
            binding, again = _reopen(options, watchdog, loop), True
    return timing


def _show(
    binding: Binding,
    options: Options,
    watchdog: Watchdog,
    loop: _Loop,
    tell: Callable[[str], None],
    again: bool,
) -> None:
    """Draw with one OpenGL context, over all its connections to the runtime; see ``run``."""
    with SplatRenderer(options.raster) as renderer, loop.drawing_with(renderer):
        tell(f"drawing {renderer.rasterizer} with {renderer.description}")
        link = (
            _reconnect(binding, options, watchdog, loop, tell) if again else _connect(binding, options, tell)
        )
        while link is not None:
            try:
                with link, gl.naming_loss():
                    loop.run(link)
                return
            except (LostError, NoRuntimeError) as error:
                tell(f"{error}: waiting for it to come back (Ctrl-C ends)")
                loop.timing.interrupted()
            link = _reconnect(binding, options, watchdog, loop, tell)


def _reopen(options: Options, watchdog: Watchdog, loop: _Loop) -> Binding | None:
    """Wait for the driver, and a runtime that says what it needs; None when the user ends it."""
    while not watchdog.stop:
        try:
            return open_binding(options.binding, extensions())
        except UnavailableError:
            loop.idle()
            time.sleep(_RETRY_S)
    return None


def _connect(binding: Binding, options: Options, tell: Callable[[str], None]) -> Link:
    link = Link(binding, options.pictures, options.eye_height, options.surroundings)
    sizes = " and ".join(dict.fromkeys(f"{size.width}x{size.height}" for size in link.sizes))
    images = "one swapchain" if link.layers > 1 else "two swapchains"
    tell(
        f"connected to {link.runtime.name}, {link.runtime.headset}: {binding.name}, {link.format} {sizes} in "
        f"{images}, space {link.session.space}"
    )
    return link


def _reconnect(
    binding: Binding, options: Options, watchdog: Watchdog, loop: _Loop, tell: Callable[[str], None]
) -> Link | None:
    """Wait for the runtime; None when the user ends it."""
    while not watchdog.stop:
        try:
            return _connect(binding, options, tell)
        except (LostError, NoRuntimeError, NoHeadsetError):
            loop.idle()
            time.sleep(_RETRY_S)
    return None


class _Loop:
    """The frames of one run, over all its contexts and connections.

    Attributes:
        timing: How long frames took.
    """

    def __init__(
        self,
        options: Options,
        figure: Figure,
        partner: Partner,
        watchdog: Watchdog,
        timing: Timing,
        tell: Callable[[str], None],
        on_last: Callable[[Shot], None] | None,
        on_head: Callable[[Matrix], None] | None = None,
    ) -> None:
        self._options, self._figure, self._partner = options, figure, partner
        self._watchdog, self.timing = watchdog, timing
        self._tell, self._on_last, self._on_head = tell, on_last, on_head
        self._controls = Controls()
        self._renderer: SplatRenderer | None = None
        self._gpu: GpuTime | None = None
        self._listening = False
        self._drawn = 0
        self._leaving: float | None = None
        self._display = 0

    @contextmanager
    def drawing_with(self, renderer: SplatRenderer) -> Generator[None]:
        """Within the block frames are drawn with this renderer, and timed in its context."""
        self._renderer, self._gpu = renderer, GpuTime()
        try:
            yield
        finally:
            self._gpu.release()

    def run(self, link: Link) -> None:
        """Draw until the session is over.

        Raises:
            LostError: The runtime went away.
        """
        session = link.session
        pace = Pace(link.display, self._options.refresh_rate, self._options.pictures.smallest, self._tell)
        while True:
            session.poll()
            if session.over or (self._leaving is not None and time.monotonic() - self._leaving > _LEAVE_S):
                return
            if not session.running:
                if self._watchdog.stop:
                    return
                self.idle()
                self.timing.interrupted()
                time.sleep(_IDLE_S)
                continue
            self._frame(link, pace)
            if self._leaving is None and self._last():
                session.request_exit()
                self._leaving = time.monotonic()

    def idle(self) -> None:
        """While there are no frames: the conversation goes on without the user's hands."""
        self._partner.tick(self._controls.update(None, time.monotonic(), away=True))

    def _last(self) -> bool:
        return self._watchdog.stop or 0 < self._options.frames <= self._drawn

    def _frame(self, link: Link, pace: Pace) -> None:
        timing, gpu = self.timing, self._gpu
        assert self._renderer is not None
        assert gpu is not None
        timing.begin()
        frame = link.session.begin()
        timing.passed()
        away = link.session.state not in _SEEN or not link.session.worn
        wishes = self._controls.update(link.hands(frame), time.monotonic(), away)
        words = self._partner.tick(wishes)
        self._pulse(link, wishes)
        link.resize(pace.scale)
        camera = link.look(frame, wishes) if frame.visible else None
        if camera is None:
            link.session.end(frame)
            timing.interrupted()
            return
        if self._on_head is not None:
            self._on_head(link.head)
        gpu.begin()
        splats = self._figure.update(camera, frame.ahead_us)
        timing.passed()
        self._drawn += 1
        capture = self._on_last is not None and self._leaving is None and self._last()
        figure = self._figure
        shot = link.draw(frame, self._renderer, splats, figure.order, words, capture, figure.mesh)
        gpu.end()
        timing.passed()
        link.session.end(frame)
        timing.passed()
        period = pace.period_ns(frame.period)
        timing.end(frame.display_time, period, pace.scale, gpu.ms)
        pace.frame(max(timing.work_ms, gpu.ms), period / 1e6)
        if self._drawn == 1:
            self._tell("first frame shown")
        if shot is not None and self._on_last is not None:
            self._on_last(shot)
        collect_young(self._drawn)
        self._foresee(frame)

    def _foresee(self, frame: Frame) -> None:
        """Let the figure prepare for the next frame, while the runtime would have us wait anyway.

        That comes as long after this one as this one after the last: runtimes give slow apps every second
        picture, or every third.
        """
        step, self._display = frame.display_time - self._display, frame.display_time
        if 0 < step <= _RHYTHM_NS:
            self._figure.foresee(replace(frame, seen_us=frame.seen_us + step // 1000).ahead_us)

    def _pulse(self, link: Link, wishes: Wishes) -> None:
        """Let the hands feel that they hold the avatar, and that it listens to the key."""
        listening = self._partner.listening
        heard = listening and not self._listening
        self._listening = listening
        for side, grabbed in enumerate(wishes.grabbed):
            if grabbed or (heard and wishes.talking[side]):
                link.pulse(side)


def side_by_side(pictures: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Both eyes' pictures in one, for a screenshot."""
    height = min(picture.shape[0] for picture in pictures)
    return np.concatenate([picture[:height] for picture in pictures], axis=1)
