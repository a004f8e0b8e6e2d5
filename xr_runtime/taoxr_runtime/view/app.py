"""The frame loop of ``taoxr view``: nothing in it waits for the network, a model or the scene."""

import signal
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.animation import Skeleton
from taoxr_runtime.audio import MeteredSource
from taoxr_runtime.audio.protocols import clock_us
from taoxr_runtime.live import Actor, Companion, CompanionState
from taoxr_runtime.nnr import Scene
from taoxr_runtime.render import gl
from taoxr_runtime.render.renderer import Rasterizer
from taoxr_runtime.render.stereo import Stereo
from taoxr_runtime.splat_files.placing import box
from taoxr_runtime.view.devices import Devices
from taoxr_runtime.view.events import Dragged, Event, Key, Pressed, Released, Typed, Wheeled
from taoxr_runtime.view.line import Line
from taoxr_runtime.view.orbit import Orbit
from taoxr_runtime.view.overlay import Overlay, Words
from taoxr_runtime.view.pace import DETAILS, Detail, Pace, QuietCollector
from taoxr_runtime.view.screen import Screen
from taoxr_runtime.view.still import Nobody, Still, means_of
from taoxr_runtime.view.window import Window

_FEET: Final = ("foot.L", "foot.R")
_FIGURES_S: Final = 0.5
_NOTICE_US: Final = 8_000_000
_MINIMISED_S: Final = 0.1
_METER_DB: Final = 60.0
_METER_STEPS: Final = 16
_STATES: Final = {
    CompanionState.STARTING: "starting the bridge and its models …",
    CompanionState.IDLE: "",
    CompanionState.LISTENING: "listening …",
    CompanionState.THINKING: "thinking …",
    CompanionState.SPEAKING: "",
    CompanionState.DISCONNECTED: "no bridge; trying again …",
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a window is to do.

    Attributes:
        size: Width and height in pixels.
        fps: Frames per second at most.
        stereo: See `Screen`.
        raster: What draws; see `SplatRenderer`.
        fullscreen: Whether it covers the screen at first.
        debug: Whether all figures are shown.
        talks: Whether holding Space lets the user talk.
        ask: A text that the user says at the start; empty for none.
        play: Whether the source is a recording to be played at the start.
        once: Whether it closes when the first answer is over.
        screenshot: Where the last frame is written.
        after_s: Seconds after which the window closes; None for never.
        frames: Frames after which it closes; None for never.
    """

    size: tuple[int, int]
    fps: float = 60.0
    stereo: Stereo = "off"
    raster: Rasterizer = "auto"
    fullscreen: bool = False
    debug: bool = False
    talks: bool = False
    ask: str = ""
    play: bool = False
    once: bool = False
    screenshot: Path | None = None
    after_s: float | None = None
    frames: int | None = None


@dataclass(frozen=True)
class Figures:
    """How a window did.

    Attributes:
        frames: How many it drew.
        fps: Frames per second at the end.
        frame_ms: How long the last frames took.
        scene_ms: How long updates of the scene took.
        detail: How finely it drew in the end.
        driver: What drew.
        interrupted: Whether Ctrl-C (or SIGTERM) ended it.
    """

    frames: int
    fps: float
    frame_ms: float
    scene_ms: float
    detail: Detail
    driver: str
    interrupted: bool


class Viewer:
    """One window on one avatar.

    Args:
        scene: The avatar, or a still scene.
        companion: Who it is, running; `Nobody` for a still scene.
        plan: What to do.
        devices: Loudspeakers and microphones to change between.
        meter: The microphone whose level is shown.
    """

    def __init__(
        self,
        scene: Scene,
        companion: Companion | Nobody,
        plan: Plan,
        devices: Devices | None = None,
        meter: MeteredSource | None = None,
    ) -> None:
        self._scene = scene
        self._devices, self._meter = devices, meter
        self._companion = companion
        self._plan = plan
        self._line = Line()
        aspect = plan.size[0] / plan.size[1]
        if isinstance(companion, Nobody):
            self._orbit = Orbit.around(box(means_of(scene)), aspect)
        else:
            self._orbit = Orbit(scene.landmarks, aspect)
        self._pace = Pace(plan.fps)
        self._debug = plan.debug
        self._quit = False
        self._play, self._ask = plan.play, plan.ask
        self._waited = False
        self._figures: tuple[str, ...] = ()
        self._figures_at = 0.0
        self._drawn = 0
        self._began = 0.0
        self._told = "", 0

    def run(self) -> Figures:
        """Draws until the user or the plan ends it.

        Raises:
            UnavailableError: There is no display, or no driver for it.
            InvalidInputError: The screenshot cannot be written.
        """
        with stop_signals() as stop:
            while True:
                before = self._drawn
                try:
                    with gl.naming_loss():
                        return self._run(stop)
                except gl.ContextLostError as error:
                    if self._drawn == before:  # not even a picture: something else is wrong
                        raise
                    self._told = f"{error}: the window was made anew", clock_us()

    def _run(self, stop: threading.Event) -> Figures:
        """As long as the window's OpenGL context is good."""
        plan, companion = self._plan, self._companion
        with ExitStack() as stack:
            window = stack.enter_context(Window(*plan.size, "taoxr", fullscreen=plan.fullscreen))
            still = isinstance(companion, Nobody)
            screen = Screen(None if still else feet_of(self._scene), plan.stereo, plan.raster)
            stack.callback(screen.close)
            overlay = Overlay()
            stack.callback(overlay.close)
            software = gl.is_software()
            device = "cpu" if software else "gpu"
            actor = stack.enter_context(
                Still(self._scene, device)
                if isinstance(companion, Nobody)
                else Actor(self._scene, companion, device=device)
            )
            self._pace = Pace(plan.fps, software=software)
            collector = stack.enter_context(QuietCollector())
            if self._ask:
                companion.ask(self._ask)
                self._ask = ""
            self._began = self._began or time.perf_counter()
            while not (self._quit or window.closed or stop.is_set()):
                self._pace.begin()
                for event in window.poll():
                    self._handle(event, window)
                last = self._is_last(time.perf_counter() - self._began)
                if 0 in window.size and not last:
                    time.sleep(_MINIMISED_S)
                    continue
                self._frame(window, screen, overlay, actor, last=last)
                if last:
                    break
                quiet = companion.state is CompanionState.IDLE and not self._line.text
                collector.rest(quiet)
            pace = self._pace
            return Figures(
                self._drawn, pace.fps, pace.frame_ms, actor.update_ms, pace.detail, screen.description,
                stop.is_set(),
            )  # fmt: skip

    def _frame(
        self, window: Window, screen: Screen, overlay: Overlay, actor: Actor | Still, *, last: bool
    ) -> None:
        if self._play and self._companion.state is CompanionState.IDLE:
            self._play = False
            self._companion.talk(True)
        size = window.size
        eye = screen.eye_size(*size)
        shown = last and self._plan.screenshot is not None
        detail = DETAILS[0] if shown else self._pace.detail
        ahead_us = round(self._pace.frame_ms * 1e3)
        splats = actor.update(self._orbit.position, ahead_us, detail.splats, wait=shown)
        words = self._words(actor)
        picture = overlay.picture(words, *eye, wait=last)
        most = max(round(self._scene.graph.count * detail.splats), 1)
        screen.draw(splats, actor.order, self._orbit, size, detail.scale, most, picture)
        if last and self._plan.screenshot is not None:
            screen.save(self._plan.screenshot, size)
        window.swap()
        self._pace.end()
        self._drawn += 1

    def _is_last(self, elapsed_s: float) -> bool:
        plan = self._plan
        if plan.frames is not None and self._drawn + 1 >= plan.frames:
            return True
        if plan.once:
            state = self._companion.state
            self._waited = self._waited or state in (CompanionState.THINKING, CompanionState.SPEAKING)
            if self._waited and state is CompanionState.IDLE:
                return True
        return plan.after_s is not None and elapsed_s >= plan.after_s

    def _handle(self, event: Event, window: Window) -> None:
        line, companion = self._line, self._companion
        match event:
            case Typed(letter=letter):
                line.type(letter)
            case Pressed(key=Key.PASTE):
                line.type(window.clipboard())
            case Pressed(key=Key.BACKSPACE):
                line.backspace()
            case Pressed(key=Key.ENTER):
                if text := line.take():
                    companion.ask(text)
            case Pressed(key=Key.SPACE, again=False) if not line.text:
                companion.talk(True)
            case Released(key=Key.SPACE):
                companion.talk(False)
            case Pressed(key=Key.TAB):
                companion.interrupt()
            case Pressed(key=Key.ESCAPE):
                # What was typed is not lost by one key.
                self._quit = not line.take()
            case Pressed(key=Key.HOME):
                self._orbit.reset()
            case Pressed(key=Key.F1, again=False):
                self._debug = not self._debug
            case Pressed(key=Key.F2 | Key.F3 as key, again=False) if self._devices is not None:
                self._devices.take_next("output" if key is Key.F2 else "input")
            case Pressed(key=Key.F11, again=False):
                window.toggle_fullscreen()
            case Dragged(right=right, up=up, secondary=True):
                self._orbit.lift(up)
            case Dragged(right=right, up=up):
                self._orbit.turn(right, up)
            case Wheeled(notches=notches):
                self._orbit.zoom(notches)
            case _:
                pass

    def _words(self, actor: Actor | Still) -> Words:
        companion, line = self._companion, self._line.text
        state, said = companion.state, companion.captions()
        notice = companion.notices[-1] if companion.notices else None
        # While there is no bridge the reason stays in sight.
        fresh = notice is not None and (
            state is CompanionState.DISCONNECTED or notice.at_us > time.monotonic_ns() // 1000 - _NOTICE_US
        )
        told = notice.text if notice is not None and fresh else ""
        news = [self._told] if self._devices is None else [self._told, self._devices.said]
        for changed, at_us in news:
            if at_us > max(clock_us() - _NOTICE_US, notice.at_us if notice is not None and fresh else 0):
                told = changed
        now = time.perf_counter()
        if now - self._figures_at > _FIGURES_S:
            self._figures, self._figures_at = self._measure(actor), now
        return Words(
            _STATES[state], self._figures, said.user, said.avatar, line or self._hint(), bool(line),
            told, self._level(state),
        )  # fmt: skip

    def _level(self, state: CompanionState) -> float | None:
        """In steps, as the words are painted anew for each."""
        if self._meter is None or (self._plan.talks and state is not CompanionState.LISTENING):
            return None
        share = 1 + self._meter.level_dbfs / _METER_DB
        return round(_METER_STEPS * min(max(share, 0.0), 1.0)) / _METER_STEPS

    def _hint(self) -> str:
        if isinstance(self._companion, Nobody):
            return "drag to look around · wheel to come closer · Esc quits"
        talk = "hold Space to talk · " if self._plan.talks else ""
        return f"type and press Enter · {talk}Tab stops the answer · Esc quits"

    def _measure(self, actor: Actor | Still) -> tuple[str, ...]:
        pace, latency = self._pace, self._companion.latency_ms()
        heard = latency.get("first_heard")
        lines = [f"{pace.fps:.0f} fps"]
        if heard is not None:
            lines.append(f"answered after {heard / 1e3:.2f} s")
        if self._debug:
            lines.append(f"frame {pace.frame_ms:.0f} ms, scene {actor.update_ms:.0f} ms")
            lines.append(f"{pace.detail.scale:.0%} of the size, {pace.detail.splats:.0%} of the splats")
            lines += [f"{name} {ms:.0f} ms" for name, ms in sorted(latency.items(), key=lambda i: i[1])]
        return tuple(lines)


def feet_of(scene: Scene) -> NDArray[np.float64] | None:
    """Where the avatar stands, float64 [K, 3]; None when its rig has no feet that we know."""
    skeleton = Skeleton.of(scene)
    feet = [skeleton.heads[skeleton.index[name]] for name in _FEET if name in skeleton.index]
    return np.array(feet) * (1.0, 0.0, 1.0) if feet else None


@contextmanager
def stop_signals() -> Generator[threading.Event]:
    """Within the block Ctrl-C and SIGTERM set the event instead of breaking into what runs."""
    stop = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
