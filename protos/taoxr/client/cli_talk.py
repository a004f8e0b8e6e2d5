"""``taoxr talk``: a conversation in the terminal."""

import asyncio
import sys
from contextlib import AsyncExitStack, aclosing, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from taoxr.client import wav
from taoxr.client.channel import no_answer
from taoxr.client.cli_common import (
    Server,
    Target,
    TlsCa,
    TlsCert,
    TlsKey,
    TokenFile,
    client_for,
    console,
)
from taoxr.client.conversation import ConversationOptions, InputMode
from taoxr.client.sound import Microphone, Speaker
from taoxr.client.talk_view import LiveView, PlainView
from taoxr.client.talker import Answer, Questions, Talker, recorded, typed
from taoxr.client.tools import installed_tools
from taoxr.errors import ConnectionLostError, InvalidInputError, UnavailableError
from taoxr.portaudio import Device, list_devices, sound_library

_RATE: Final = 16_000

app = typer.Typer(add_completion=False, rich_markup_mode="markdown", help="Converse in the terminal.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choices:
    """The command's options."""

    microphone: bool | None  # None: if there is one
    devices: tuple[str | None, str | None]  # microphone and loudspeaker; None: the default
    questions: list[NDArray[np.int16]]
    save: Path | None
    metrics: bool
    sound: bool
    headphones: bool
    tools: bool


@app.command()
def talk(
    text: Annotated[bool, typer.Option("--text", help="Ask by typing.")] = False,
    mic: Annotated[bool, typer.Option("--mic", help="Ask by speaking, hands-free.")] = False,
    recordings: Annotated[
        list[Path] | None, typer.Option("--wav", help="Ask with a recording instead; may be given again.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Folder to write the spoken answers to.")] = None,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Show how long each stage took, also without a terminal.")
    ] = False,
    headphones: Annotated[
        bool, typer.Option("--headphones", help="The microphone does not hear the answers.")
    ] = False,
    silent: Annotated[bool, typer.Option("--silent", help="Do not play the answers.")] = False,
    tools: Annotated[
        bool, typer.Option("--tools", help="Let the avatar use the installed tools (time, date, timer).")
    ] = False,
    show_devices: Annotated[
        bool, typer.Option("--list-devices", help="List the sound devices, and do nothing else.")
    ] = False,
    microphone: Annotated[
        str | None, typer.Option(metavar="DEVICE", help="Microphone: number or part of the name.")
    ] = None,
    loudspeaker: Annotated[
        str | None, typer.Option(metavar="DEVICE", help="Loudspeaker: number or part of the name.")
    ] = None,
    target: Target = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    token_file: TokenFile = None,
) -> None:
    """Converses with the avatar.

    On a terminal with a microphone: speak, and interrupt when you like; Ctrl-C ends. Otherwise type a line
    and read the answer as it comes; Ctrl-D (or the end of a pipe) ends. What you and the avatar said stays on
    the screen, with the time from the end of your turn to each stage of the answer.

    For example:

    ```
    taoxr talk
    taoxr talk --text --silent
    taoxr talk --mic --headphones --microphone USB
    echo "Who are you?" | taoxr talk --text --save answers
    taoxr talk --target 192.168.1.5:50061 --tls-ca ca.pem --token-file token
    ```
    """
    if show_devices:
        _show(list_devices(sound_library()))
        return
    server = Server(target, tls_ca, tls_cert, tls_key, token_file)
    if text + mic + bool(recordings) > 1:
        raise InvalidInputError("--text", True, "one of --text, --mic and --wav")
    if microphone is not None and (text or recordings):
        raise InvalidInputError("--microphone", microphone, "neither --text nor --wav beside it")
    if loudspeaker is not None and silent:
        raise InvalidInputError("--loudspeaker", loudspeaker, "no --silent beside it")
    if save is not None:
        _make_folder(save)
    mic = mic or microphone is not None
    choices = _Choices(
        microphone=mic or (False if text or recordings or not sys.stdin.isatty() else None),
        devices=(microphone, loudspeaker),
        questions=[wav.read(path, _RATE) for path in recordings or ()],
        save=save,
        metrics=metrics,
        sound=not silent and (mic or loudspeaker is not None or sys.stdout.isatty()),
        headphones=headphones,
        tools=tools,
    )
    asyncio.run(_talk(choices, server))


async def _talk(choices: _Choices, server: Server) -> None:
    async with AsyncExitStack() as stack:
        microphone, speaker = _devices(choices, stack)
        client = await stack.enter_async_context(client_for(server))
        rate = microphone.rate_hz if microphone else _RATE if choices.questions else 0
        options = ConversationOptions(
            audio_in_hz=rate,
            input_mode=InputMode.HANDS_FREE if microphone else InputMode.PUSH_TO_TALK,
            partial_transcripts=microphone is not None,
            # A silent avatar cannot hear itself either.
            echo_cancelled=choices.headphones or speaker is None,
            tools=installed_tools() if choices.tools else (),
        )
        conversation = await stack.enter_async_context(client.converse(options))
        talker = Talker(_source(choices, microphone), _view(choices), speaker)
        turn = 0
        while True:
            try:
                async with aclosing(talker.converse(conversation)) as answers:
                    async for answer in answers:
                        turn += 1
                        if choices.save is not None:
                            _save(answer, choices.save / f"answer-{turn}.wav")
                return
            except ConnectionLostError as error:
                if server.target is None:  # this program's own bridge, which nobody starts again
                    raise
                console.print(f"[yellow]notice:[/] {escape(no_answer(server.target, error))}")
                console.print("[dim]waiting for the bridge to go on; Ctrl-C ends[/]")
                conversation = await stack.enter_async_context(client.resume(conversation))


def _source(choices: _Choices, microphone: Microphone | None) -> Microphone | Questions:
    if microphone is not None:
        return microphone
    return recorded(choices.questions) if choices.questions else typed()


def _save(answer: Answer, path: Path) -> None:
    if answer.chunks:
        pcm = np.concatenate([chunk.pcm for chunk in answer.chunks])
        wav.write(path, pcm, answer.chunks[0].sample_rate_hz, field="--save")


def _devices(choices: _Choices, stack: AsyncExitStack) -> tuple[Microphone | None, Speaker | None]:
    microphone = speaker = None
    if choices.sound:
        try:
            speaker = stack.enter_context(closing(Speaker(wanted=choices.devices[1])))
        except UnavailableError as error:
            console.print(f"[dim]the answers are not played: {escape(str(error))}[/]", soft_wrap=True)
    if choices.microphone is not False:
        try:
            microphone = stack.enter_context(closing(Microphone(wanted=choices.devices[0])))
        except UnavailableError as error:
            if choices.microphone:
                raise
            console.print(f"[dim]type, since there is no microphone: {escape(str(error))}[/]", soft_wrap=True)
    return microphone, speaker


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError("--save", str(path), f"a folder that can be made ({error})") from error


def _show(devices: list[Device]) -> None:
    if not devices:
        raise UnavailableError(
            "there are no sound devices: connect one, or start the sound server (PipeWire); "
            "`taoxr talk --text --silent` works without"
        )
    table = Table("", "name", "hears", "plays", "rate", box=box.SIMPLE)
    for device in devices:
        table.add_row(
            str(device.number),
            device.name,
            _use(device.inputs, default="input" in device.default_for),
            _use(device.outputs, default="output" in device.default_for),
            f"{device.rate_hz} Hz",
        )
    Console().print(table)


def _use(channels: int, *, default: bool) -> str:
    return ("yes (default)" if default else "yes") if channels else ""


def _view(choices: _Choices) -> PlainView | LiveView:
    if sys.stdout.isatty() and console.is_terminal:
        return LiveView(Console(highlight=False))
    return PlainView(console, metrics=choices.metrics)
