"""``taoxr talk``: a conversation in the terminal."""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape

from taoxr.client import wav
from taoxr.client.cli_common import Target, client_for, console
from taoxr.client.client import Client
from taoxr.client.conversation import ConversationOptions, InputMode
from taoxr.client.events import Event, MediaChunk, Notice, TextDelta, Transcript, TurnMetrics, TurnState
from taoxr.errors import InvalidInputError, UnavailableError

_RATE: Final = 16_000

app = typer.Typer(add_completion=False, help="Converse in the terminal.")
_answer = Console(highlight=False, soft_wrap=True)


@dataclass(slots=True)
class _Answer:
    """What came back in one turn."""

    chunks: list[MediaChunk] = field(default_factory=list[MediaChunk])
    metrics: TurnMetrics | None = None


@app.command()
def talk(
    text: Annotated[bool, typer.Option("--text", help="Ask by typing (the default).")] = False,
    recordings: Annotated[
        list[Path] | None, typer.Option("--wav", help="Ask with a recording instead; may be given again.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Folder to write the spoken answers to.")] = None,
    metrics: Annotated[bool, typer.Option(help="Show how long each stage took.")] = False,
    target: Target = None,
) -> None:
    """Converses with the avatar: type a line, read the answer as it comes.

    Ctrl-D (or an empty pipe) ends the conversation.
    """
    if text and recordings:
        raise InvalidInputError("--text", True, "either --text or --wav")
    questions = [wav.read(path, _RATE) for path in recordings or ()]
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
    asyncio.run(_talk(questions, save, metrics, target))


async def _talk(
    questions: list[NDArray[np.int16]], save: Path | None, metrics: bool, target: str | None
) -> None:
    async with client_for(target) as client:
        turn = 0
        async with aclosing(_ask_all(client, questions)) as answers:
            async for answer in answers:
                turn += 1
                _show(answer, metrics)
                if save is not None and answer.chunks:
                    pcm = np.concatenate([chunk.pcm for chunk in answer.chunks])
                    wav.write(
                        save / f"answer-{turn}.wav", pcm, answer.chunks[0].sample_rate_hz, field="--save"
                    )


async def _ask_all(client: Client, questions: list[NDArray[np.int16]]) -> AsyncGenerator[_Answer]:
    options = ConversationOptions(
        audio_in_hz=_RATE if questions else 0, input_mode=InputMode.PUSH_TO_TALK, partial_transcripts=False
    )
    async with client.converse(options) as conversation, aclosing(aiter(conversation)) as events:
        if questions:
            for question in questions:
                await conversation.send_audio(question)
                await conversation.end_of_user_turn()
                yield await _answer_of(events)
            return
        lines = _typed_lines()
        _prompt()
        while (line := await lines.get()) is not None:
            if line.strip():
                await conversation.send_text(line)
                yield await _answer_of(events)
            _prompt()


async def _answer_of(events: AsyncGenerator[Event]) -> _Answer:
    """Shows one turn as it comes, and collects it."""
    answer = _Answer()
    async for event in events:
        match event:
            case Transcript(is_final=True, text=said):
                console.print(f"[dim]you:[/] {escape(said) or '[dim](nothing heard)[/]'}")
            case TextDelta(text=text):
                _answer.print(text, end="", markup=False)
            case MediaChunk():
                answer.chunks.append(event)
            case TurnMetrics():
                answer.metrics = event
            case Notice(error=error):
                console.print(f"[yellow]notice:[/] {escape(str(error))}")
            case TurnState(state=state) if state.ended:
                _answer.print()
                return answer
            case _:
                pass
    raise UnavailableError("the bridge ended the conversation; look at its log")


def _show(answer: _Answer, metrics: bool) -> None:
    if metrics and answer.metrics is not None:
        stages = sorted(answer.metrics.stages_ms.items(), key=lambda item: item[1])
        console.print("[dim]" + "  ".join(f"{name} {ms:.0f} ms" for name, ms in stages) + "[/]")


def _prompt() -> None:
    if sys.stdin.isatty():
        console.print("[bold]>[/] ", end="")


def _typed_lines() -> asyncio.Queue[str | None]:
    """Lines of stdin as they are typed, and None at the end.

    Read by a daemon thread, since nothing can interrupt the reading: Ctrl-C would wait for Enter.
    """
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    stdin = sys.stdin  # as it is now: tests replace it

    def read() -> None:
        # RuntimeError: the loop has ended, and with it the conversation.
        with suppress(RuntimeError):
            for line in stdin:
                loop.call_soon_threadsafe(lines.put_nowait, line.rstrip("\n"))
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="typed-lines", daemon=True).start()
    return lines
