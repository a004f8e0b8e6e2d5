"""The headset's frame loop against a running OpenXR runtime: alone, and while the avatar talks beside it."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from taoxr import arkit
from taoxr.errors import UnavailableError
from taoxr.figures import Bars, Spread, spread
from taoxr_runtime.animation import Activity
from taoxr_runtime.animation.body_player import HumanoidPose
from taoxr_runtime.audio import Listener, NullSource, Sink
from taoxr_runtime.audio.binaural import Binaural
from taoxr_runtime.audio.protocols import clock_us
from taoxr_runtime.bench.clouds import person
from taoxr_runtime.live import Actor, Companion, CompanionState
from taoxr_runtime.live.actor import Person
from taoxr_runtime.nnr import Scene
from taoxr_runtime.render.depth import Mesh
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats
from taoxr_runtime.xr.app import Figure, Options, Partner, Silence, run
from taoxr_runtime.xr.conversation import Conversation, Nobody
from taoxr_runtime.xr.muting import MutableSource
from taoxr_runtime.xr.poses import Matrix
from taoxr_runtime.xr.timing import Timing

Figures = dict[str, Spread | float | int | str]
SceneKind = Literal["trivial", "full"]

BARS: Final[Bars] = {"talking.av_skew_p99_ms": ("value", 40.0), "missed_more": ("value", 0.0)}
"""Lips and voice; deadlines missed beside the bridge that the renderer alone does not miss."""
QUESTIONS: Final = ("Tell me a story about the sea.", "What can one see in Paris?", "And what in Rome?")
WARM: Final = 30
"""Frames before those that count: shaders are compiled, buffers are made."""
_PUPPET_SPLATS: Final = 2000
_JAW_M: Final = 0.03
_SETTLED_US: Final = 300_000
"""After that long the sink knows what was heard at a time."""
_CONNECT_S: Final = 120.0


class Puppet:
    """The trivial scene: a person of few splats whose chin follows the face; any driver can draw it in time.

    Args:
        who: Whose face it is.
    """

    order = mesh = None

    def __init__(self, who: Person) -> None:
        self._who = who
        self._rest = person(_PUPPET_SPLATS)
        means = self._rest.means
        self._chin = (means[:, 1] > 1.5) & (means[:, 1] < 1.68)

    def update(self, camera_in_model: NDArray[np.float64], ahead_us: int = 0) -> Splats:
        """See ``xr.app.Figure``."""
        jaw = self._who.face(clock_us() + ahead_us, ahead_us)[arkit.INDEX["jawOpen"]]
        means = self._rest.means.copy()
        means[self._chin, 1] -= _JAW_M * jaw
        return replace(self._rest, means=means)

    def foresee(self, ahead_us: int) -> None:
        """It is made in no time."""

    def context_lost(self) -> None:
        """Nothing of it lies on the GPU."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """For which sound a face was made.

    Attributes:
        position_us: The sink's position.
        sounding: Whether that was sound.
    """

    position_us: int
    sounding: bool


class Watched:
    """A person that notes for which sound its faces are made.

    Args:
        who: The person.
        sink: What it speaks through.

    Attributes:
        last: Of the last face; None before the first.
    """

    def __init__(self, who: Person, sink: Sink) -> None:
        self._who, self._sink = who, sink
        self.last: Evaluation | None = None

    @property
    def activity(self) -> Activity:
        """The person's."""
        return self._who.activity

    def face(self, now_us: int, ahead_us: int = 0) -> NDArray[np.float32]:
        """The person's."""
        self.last = Evaluation(self._sink.heard_us(ahead_us), self._sink.sounding(ahead_us))
        return self._who.face(now_us, ahead_us)

    def body(self, now_us: int, ahead_us: int = 0) -> HumanoidPose | None:
        """The person's."""
        return self._who.body(now_us, ahead_us)


class Recorder(Timing):
    """Notes every frame: a figure for the loop, and its timing.

    Args:
        figure: What is shown.
        watched: Who it is, if somebody talks.
        sink: What is heard of it, then.

    Attributes:
        skews_us: Of each frame with sound: where the shown face belongs, less what is heard at the frame's
            predicted display time. Positive when the lips are ahead.
    """

    def __init__(self, figure: Figure, watched: Watched | None = None, sink: Sink | None = None) -> None:
        super().__init__()
        self._figure, self._watched, self._sink = figure, watched, sink
        self._woken_us: list[int] = []
        self._seen_us: list[int] = []
        self._displays_ns: list[int] = []
        self._aheads_us: list[int] = []
        self._periods_ns: list[int] = []
        self._woke_us = self._display_us = self._sampled_us = 0
        self._splats: object = None
        self._making: Evaluation | None = None
        self._shown: Evaluation | None = None
        self._open: deque[tuple[int, Evaluation]] = deque()
        self.skews_us: list[int] = []

    @property
    def order(self) -> NDArray[np.int32] | None:
        """See ``xr.app.Figure``."""
        return self._figure.order

    @property
    def mesh(self) -> Mesh | None:
        """See ``xr.app.Figure``."""
        return self._figure.mesh

    def foresee(self, ahead_us: int) -> None:
        """See ``xr.app.Figure``."""
        self._figure.foresee(ahead_us)

    def context_lost(self) -> None:
        """See ``xr.app.Figure``."""
        self._figure.context_lost()

    def passed(self) -> None:
        """See ``Timing``; the first part is the wait for the runtime."""
        super().passed()
        if len(self._marks) == 2:
            self._woke_us = clock_us()

    def look(self, head: Matrix) -> None:
        """The eyes' poses have just been asked for."""
        self._sampled_us = clock_us()

    def update(self, camera_in_model: NDArray[np.float64], ahead_us: int = 0) -> Splats | SplatBuffers:
        """See ``xr.app.Figure``."""
        self._display_us = clock_us() + ahead_us
        splats = self._figure.update(camera_in_model, ahead_us)
        made = self._watched.last if self._watched is not None else None
        if isinstance(self._figure, Actor) and isinstance(splats, Splats):
            # Made on another thread: what is finished was begun before what this call began.
            if splats is not self._splats:
                self._shown, self._making = self._making or made, made
        else:
            self._shown = made
        self._splats = splats
        return splats

    def end(self, display_time: int, period: int, scale: float = 1.0, gpu_ms: float = 0.0) -> None:
        """See ``Timing``."""
        super().end(display_time, period, scale, gpu_ms)
        self._woken_us.append(self._woke_us)
        self._displays_ns.append(display_time)
        self._periods_ns.append(period)
        self._aheads_us.append(self._display_us - self._sampled_us)
        if self.frames > WARM and self._shown is not None:
            self._open.append((self._display_us, self._shown))
        self.settle(clock_us() - _SETTLED_US)

    def settle(self, until_us: int) -> None:
        """Compares faces with what was heard when they were seen, as far as that is known."""
        while self._open and self._open[0][0] <= until_us:
            display_us, shown = self._open.popleft()
            assert self._sink is not None, "somebody talks"
            heard_us, sounding = self._sink.heard_at(display_us)
            if sounding and shown.sounding:
                self.skews_us.append(shown.position_us - heard_us)

    def figures(self, name: str) -> Figures:
        """What was measured, each under a name; frames before `WARM` left out."""
        interval = np.diff(self._woken_us[WARM:]) / 1e3
        ahead = np.array(self._aheads_us[WARM:]) / 1e3
        found: Figures = {f"{name}.frames": len(ahead), f"{name}.missed": self.missed()}
        found |= _quantiles(f"{name}.interval", interval)
        found |= _quantiles(f"{name}.pose_to_display", ahead)
        for part, took_ms in self.durations_ms().items():
            if part != "wait":
                found |= _quantiles(f"{name}.{part}", took_ms[WARM:])
        if self.skews_us:
            found |= _quantiles(f"{name}.av_skew", np.abs(self.skews_us) / 1e3)
        return found

    @property
    def period_ms(self) -> float:
        """Between two pictures of the headset.

        One of the shortest that the runtime told: slow apps are told longer ones.
        """
        return float(np.percentile(self._periods_ns[WARM:], 5)) / 1e6

    def missed(self) -> int:
        """How many pictures the headset showed without a new one of ours."""
        steps = np.diff(self._displays_ns[WARM:]) / 1e6 / self.period_ms
        return int(np.maximum(np.round(steps) - 1, 0).sum())


def _quantiles(name: str, values_ms: NDArray[np.float64]) -> Figures:
    p99 = round(float(np.percentile(values_ms, 99)), 3)
    return {f"{name}_ms": spread(values_ms.tolist()), f"{name}_p99_ms": p99}


def bench_alone(options: Options, scene: Scene | None, tell: Callable[[str], None]) -> Recorder:
    """The loop without a conversation.

    Args:
        options: How, and for how many frames.
        scene: The avatar; None: the trivial scene.
        tell: Called with lines for the user.

    Raises:
        UnavailableError: It ended early; and what ``xr.app.run`` raises.
    """
    with ExitStack() as stack:
        figure = _figure(stack, scene, Nobody())
        return _measure(options, Recorder(figure), Silence(), tell)


def bench_talking(
    options: Options,
    scene: Scene | None,
    tell: Callable[[str], None],
    target: str | None,
    sink: Sink,
    questions: Sequence[str] = QUESTIONS,
) -> Recorder:
    """The loop while the avatar answers one question after the other.

    Args:
        options: As for `bench_alone`.
        scene: The same.
        tell: The same.
        target: A running bridge; None starts one.
        sink: Where the voice goes.
        questions: Asked over and over.

    Raises:
        UnavailableError: The bridge did not come, or nothing was heard of it.
    """
    source = MutableSource(NullSource())
    with ExitStack() as stack:
        companion = stack.enter_context(Companion(target, sink, source))
        _connected(companion)
        watched = Watched(companion, sink)
        figure = _figure(stack, scene, watched)
        asked = list(islice(cycle(questions), 1000))
        partner = Conversation(companion, source, asked, False, tell)
        recorder = _measure(options, Recorder(figure, watched, sink), partner, tell)
    if not recorder.skews_us:
        raise UnavailableError("nothing was heard of the avatar in these frames: take more (--frames)")
    return recorder


def bench_ears(rate_hz: int = 48_000, blocks: int = 500) -> Figures:
    """What the voice's way to two ears costs: one block of 10 ms after the other, around a walking mouth.

    Args:
        rate_hz: Samples per second.
        blocks: How many.
    """
    listener = Listener(np.zeros(3))
    ears = Binaural(rate_hz, listener)
    sound = np.random.default_rng(0).integers(-9000, 9000, rate_hz // 100).astype(np.int16)
    took_ms: list[float] = []
    for k in range(blocks):
        listener.mouth = (math.sin(k / 20), 0.1, -math.cos(k / 20))
        began = time.perf_counter()
        ears.render(sound)
        took_ms.append((time.perf_counter() - began) * 1e3)
    share = 100 * sum(took_ms) / (10 * blocks)
    return {"binaural.block_ms": spread(took_ms), "binaural.percent_of_real_time": round(share, 2)}


def _figure(stack: ExitStack, scene: Scene | None, who: Person) -> Figure:
    return Puppet(who) if scene is None else stack.enter_context(Actor(scene, who))


def _measure(options: Options, recorder: Recorder, partner: Partner, tell: Callable[[str], None]) -> Recorder:
    run(options, recorder, partner, tell, on_head=recorder.look, timing=recorder)
    if recorder.frames < options.frames:
        raise UnavailableError(f"it ended after {recorder.frames} of {options.frames} frames")
    time.sleep(_SETTLED_US / 1e6)
    recorder.settle(clock_us())
    return recorder


def _connected(companion: Companion) -> None:
    end = time.monotonic() + _CONNECT_S
    while companion.state in (CompanionState.STARTING, CompanionState.DISCONNECTED):
        if time.monotonic() > end:
            said = companion.notices
            raise UnavailableError(said[-1].text if said else f"no bridge within {_CONNECT_S:.0f} s")
        time.sleep(0.05)
