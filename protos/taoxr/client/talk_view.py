"""What ``taoxr talk`` shows: plain lines, or on a terminal a view that changes while one talks."""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.text import Text

from taoxr.client.events import (
    Event,
    GoingAway,
    Notice,
    SpeechActivity,
    State,
    TextDelta,
    ToolCall,
    Transcript,
    TurnMetrics,
    TurnState,
)

_MARKS: Final = {
    State.LISTENING: ("●", "green"),
    State.THINKING: ("◐", "yellow"),
    State.SPEAKING: ("▶", "cyan"),
}
_IDLE: Final = ("○", "dim")
# Which stages are shown, in the order in which they happen: what was first there.
_STAGES: Final = {
    "asr": "heard",
    "llm_first_token": "word",
    "first_clause": "clause",
    "tts_first_audio": "sound",
    "a2bs_first_frames": "lips",
    "first_media": "sent",
    "total": "all",
}


def remark(event: Event) -> str | None:
    """The line, in rich's markup, that an event leaves behind; None if it leaves none."""
    match event:
        case Transcript(is_final=True, text=said):
            return f"[dim]you:[/] {escape(said) or '[dim](nothing heard)[/]'}"
        case Notice(error=error):
            return f"[yellow]notice:[/] {escape(str(error))}"
        case ToolCall(name=name, arguments_json=arguments):
            return f"[dim]tool:[/] {escape(name)} {escape(arguments if arguments != '{}' else '')}".rstrip()
        case GoingAway(reason=reason, time_left_us=left_us):
            return f"[yellow]notice:[/] the bridge ends the conversation in {left_us / 1e6:.0f} s ({reason})"
        case _:
            return None


class PlainView:
    """Prints the answer as it comes to stdout, and the rest to stderr: for pipes and scripts.

    Args:
        messages: Where all but the answer goes.
        metrics: Whether to show how long each stage took.
        answers: Where the answer goes; None is stdout.
    """

    def __init__(self, messages: Console, *, metrics: bool, answers: Console | None = None) -> None:
        self._messages = messages
        self._metrics = metrics
        self._stages_ms: dict[str, float] = {}
        self._answers = answers or Console(highlight=False, soft_wrap=True, file=sys.stdout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, event: Event) -> None:
        """Shows what an event tells."""
        if (line := remark(event)) is not None:
            self._messages.print(line)
        match event:
            case TextDelta(text=text):
                self._answers.print(text, end="", markup=False)
            case TurnMetrics(stages_ms=stages):
                self._stages_ms = dict(stages)
            case TurnState(state=state) if state.ended:
                self._answers.print()
                if self._metrics and self._stages_ms:
                    self._messages.print(f"[dim]{_latency(self._stages_ms)}[/]", soft_wrap=True)
                self._stages_ms = {}
            case _:
                pass


def _latency(stages_ms: Mapping[str, float]) -> str:
    """The stages of a turn; each time counts from the end of the user's turn."""
    shown = [f"{name} {stages_ms[k]:.0f}" for k, name in _STAGES.items() if k in stages_ms]
    return f"{' · '.join(shown)} ms"


@dataclass(slots=True)
class _Shown:
    """What the live part shows."""

    state: State | None = None
    since: float = 0.0
    hearing: bool = False
    saying: str = ""  # the user, not final yet
    answer: str = ""
    stages_ms: dict[str, float] = field(default_factory=dict[str, float])


class LiveView:
    """The conversation so far, and below it what happens now: state, transcript, answer, latency.

    Args:
        console: A terminal.
        clock: Seconds.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._now = _Shown()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        # A new one each time: a used one would first erase what it drew last.
        self._live = Live(
            console=self._console, get_renderable=self.render, refresh_per_second=12, transient=True
        )
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def show(self, event: Event) -> None:
        """Shows what an event tells."""
        now = self._now
        if (line := remark(event)) is not None:
            self._console.print(line)
        match event:
            case SpeechActivity(started=started):
                now.hearing = started
            case Transcript(text=said, is_final=final):
                now.saying = "" if final else said
            case TextDelta(text=text):
                now.answer += text
            case TurnMetrics(stages_ms=stages):
                now.stages_ms = dict(stages)
            case TurnState(state=state):
                now.state, now.since = state, self._clock()
                if state.ended:
                    self._keep(state, event.heard_text)
            case _:
                pass
        if self._live is not None:
            self._live.refresh()

    def _keep(self, state: State, heard: str) -> None:
        """The turn's answer moves up to what was said before."""
        now = self._now
        text = heard if state is State.INTERRUPTED else now.answer
        marks = {State.INTERRUPTED: " [dim](interrupted)[/]", State.FAILED: " [red](failed)[/]"}
        if text or state in marks:
            self._console.print(f"[cyan]avatar:[/] {escape(text.strip())}{marks.get(state, '')}")
            if now.stages_ms:
                self._console.print(f"[dim]{_latency(now.stages_ms)}[/]")
        now.answer, now.saying, now.state, now.stages_ms = "", "", None, {}

    def render(self) -> Group:
        """The live part: a line of state and latency, and what is being said."""
        now = self._now
        mark, style = _MARKS.get(now.state, _IDLE) if now.state else _IDLE
        label = str(now.state or "idle")
        if now.hearing:
            (mark, style), label = _MARKS[State.LISTENING], "hears you"
        line = Text.assemble((f"{mark} {label}", style))
        if now.state is not None:
            line.append(f"  {self._clock() - now.since:.1f} s", "dim")
        if now.stages_ms:
            line.append(f"  {_latency(now.stages_ms)}", "dim")
        rows = [line]
        if now.saying:
            rows.insert(0, Text.assemble(("you: ", "dim"), (f"{now.saying} …", "italic")))
        if now.answer:
            rows.insert(0, Text.assemble(("avatar: ", "cyan"), now.answer.strip()))
        return Group(*rows)
