"""A whole demo: first picture, conversation, film; what is finished stays when it is interrupted."""

import asyncio
import json
from collections.abc import Callable, Generator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from taoxr.client import InputMode, ServerInfo, State, connect, private_bridge
from taoxr.client.channel import Access, access_from_environment
from taoxr.errors import UnavailableError
from taoxr_runtime.animation import Activity, Idle, Skeleton
from taoxr_runtime.demo import figures
from taoxr_runtime.demo.film import Film, save_picture, shoot
from taoxr_runtime.demo.live import Live
from taoxr_runtime.demo.mic_live import MicrophoneLive
from taoxr_runtime.demo.preview import Preview, has_display
from taoxr_runtime.demo.record import Prompt, Source
from taoxr_runtime.demo.shots import Framing
from taoxr_runtime.demo.sound import write_sound
from taoxr_runtime.demo.stage import Stage, open_stage
from taoxr_runtime.demo.voices import FILM_HZ, film_sound, synthesise
from taoxr_runtime.nnr import Scene

INTERRUPTED: Final = 130
"""Exit status after Ctrl-C, as shells have it."""
RESULTS: Final = (
    "demo.mp4",
    "demo.png",
    "demo_first.png",
    "turns.json",
    figures.TIMELINE,
    figures.POSES,
    figures.VOICES,
)


@dataclass(frozen=True)
class Plan:
    """What a demo is to do.

    Attributes:
        prompts: What the user says, in order; those of source ``SYNTHESISED`` still lack their voice.
        folder: Where the results go.
        size: Width and height of the film in pixels.
        fps: Pictures per second.
        microphone: Whether the user speaks by microphone, until Ctrl-C; then there are no prompts.
        mode: How spoken questions end.
        target: A running bridge; empty starts one.
    """

    prompts: Sequence[Prompt]
    folder: Path
    size: tuple[int, int]
    fps: float
    mode: InputMode
    target: str
    microphone: bool = False


class Demo:
    """Runs a plan once.

    Attributes:
        figures: The contents of ``turns.json``; empty before there is a conversation.
    """

    def __init__(self, plan: Plan, console: Console) -> None:
        """Args: what to do, and where to tell about it (not stdout)."""
        self._plan = plan
        self._console = console
        self._live: Live | None = None
        self._info: ServerInfo | None = None
        self._film = Film()
        self.figures: dict[str, Any] = {}

    def run(self, scene: Scene) -> int:
        """Runs everything and returns the exit status."""
        for name in RESULTS:
            (self._plan.folder / name).unlink(missing_ok=True)
        try:
            with open_stage(scene) as stage:
                self._first_picture(stage)
                try:
                    asyncio.run(self._converse())
                except KeyboardInterrupt:
                    # With a microphone this is how the user ends the conversation.
                    if not (self._plan.microphone and self._live and self._live.record):
                        raise
                finally:
                    self._write_record()
                self._shoot(stage)
        except KeyboardInterrupt:
            self._console.print("[yellow]stopped[/]; finished so far:")
            return INTERRUPTED
        finally:
            self._list_results()
        return self._verdict()

    def _verdict(self) -> int:
        """Exit status: 1 when a question was left without its answer."""
        failed = [turn for turn in self.figures["turns"] if turn["state"] == State.FAILED]
        for turn in failed:
            self._console.print(f"[red]turn {turn['turn_id']} failed[/]: see the notices above")
        return 1 if failed else 0

    def _first_picture(self, stage: Stage) -> None:
        framing = Framing(stage.scene.landmarks, *self._plan.size)
        view = framing.view(framing.full)
        motion = Idle(Skeleton.of(stage.scene)).sample(0, Activity.IDLE, view.position)
        path = self._plan.folder / "demo_first.png"
        save_picture(path, stage.draw(motion, view))
        self._console.print(f"first picture: {path}")

    async def _converse(self) -> None:
        plan, tell = self._plan, self._console.print
        async with AsyncExitStack() as stack:
            target = plan.target
            access = access_from_environment() if target else Access()
            if not target:
                with self._console.status("starting the bridge and its models"):
                    target = await stack.enter_async_context(private_bridge())
            client = await stack.enter_async_context(connect(target, **access))
            prompts: list[Prompt] = []
            for prompt in plan.prompts:
                missing = prompt.source is Source.SYNTHESISED and not len(prompt.pcm)
                prompts.append(await synthesise(client, prompt.text) if missing else prompt)
            if any(prompt.source is Source.SYNTHESISED for prompt in prompts):
                tell("[dim]The user's voice is synthesised (the avatar's voice, pitch-shifted).[/]")
            live = MicrophoneLive if plan.microphone else Live
            self._live = live(client, plan.fps, plan.mode, tell)
            await self._live.run(prompts)
            self._info = await client.server_info()

    def _write_record(self) -> None:
        record = self._live.record if self._live else None
        if record is None:
            return
        folder = self._plan.folder
        self.figures = figures.summary(record, self._info)
        _write_json(folder / "turns.json", self.figures)
        _write_json(folder / figures.TIMELINE, figures.timeline(record))
        rotations, hips = figures.poses(record)
        np.savez_compressed(folder / figures.POSES, rotations=rotations, hips=hips)
        sound = film_sound(record, record.end_us or record.clock.now_us())
        write_sound(folder / figures.VOICES, sound, FILM_HZ)

    def _shoot(self, stage: Stage) -> None:
        assert self._live is not None
        record = self._live.record
        assert record is not None
        plan = self._plan
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with ExitStack() as stack, Progress(*columns, console=self._console) as bar:
            task = bar.add_task("filming", total=len(record.ticks))

            preview = stack.enter_context(self._preview())

            def progress(done: int, total: int, picture: NDArray[np.uint8]) -> None:
                bar.update(task, completed=done, total=total)
                preview(picture)

            try:
                shoot(record, stage, plan.size, plan.folder, progress, self._film)
            finally:
                film = self._film
                self.figures = _with_film(self.figures, film, plan)
                _write_json(plan.folder / "turns.json", self.figures)

    @contextmanager
    def _preview(self) -> Generator[Callable[[NDArray[np.uint8]], None]]:
        """Shows pictures in a window until the user closes it, where there is a display."""
        if not has_display():
            yield lambda _picture: None
            return
        try:
            window = Preview(*self._plan.size)
        except UnavailableError as error:
            self._console.print(f"[yellow]no window[/]: {escape(str(error))}")
            yield lambda _picture: None
            return
        with window:
            shown = True

            def show(picture: NDArray[np.uint8]) -> None:
                nonlocal shown
                shown = shown and window.show(picture)

            yield show

    def _list_results(self) -> None:
        made = [self._plan.folder / name for name in RESULTS if (self._plan.folder / name).exists()]
        for path in made:
            self._console.print(f"  {path}", soft_wrap=True)


def _with_film(summary: dict[str, Any], film: Film, plan: Plan) -> dict[str, Any]:
    """The summary with the film's own figures."""
    return summary | {
        "film": {
            "size": list(plan.size),
            "fps": plan.fps,
            "pictures": film.pictures,
            "planned": len(film.moments),
            "render_ms_per_picture": round(1e3 * film.render_s / max(film.pictures, 1), 1),
        }
    }


def _write_json(path: Path, content: dict[str, Any]) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(path)
