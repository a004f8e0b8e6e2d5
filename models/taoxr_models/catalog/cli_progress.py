"""Progress of a pull in a terminal, or as plain lines where there is none."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

_NO_TASK = TaskID(-1)


class _Bytes(DownloadColumn):
    """Bytes done of bytes to do; nothing for steps without a size."""

    def render(self, task: Task) -> Text:
        return Text() if task.total is None else super().render(task)


class RichReporter:
    """A reporter that draws on stderr; a context manager."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            _Bytes(),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = _NO_TASK

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def step(self, text: str, total: int | None = None) -> None:
        """Begins a step; replaces the one before."""
        self._clear()
        if not self._console.is_terminal:
            self.note(text)
        self._task = self._progress.add_task(text, total=total)

    def at(self, done: int) -> None:
        """Moves the bar."""
        self._progress.update(self._task, completed=done)

    def note(self, text: str) -> None:
        """Prints a line."""
        self._console.print(text, markup=False)

    def finish(self, text: str) -> None:
        """Ends the last step and prints a line."""
        self._clear()
        self.note(text)

    def _clear(self) -> None:
        if self._task != _NO_TASK:
            self._progress.remove_task(self._task)
            self._task = _NO_TASK
