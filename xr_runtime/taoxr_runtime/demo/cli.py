"""``taoxr demo``."""

import json
import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from taoxr.client import InputMode
from taoxr.errors import InvalidInputError
from taoxr_runtime.demo.mic import check_sound
from taoxr_runtime.demo.options import check_fps, check_text, open_folder, parse_size
from taoxr_runtime.demo.record import Prompt, Source
from taoxr_runtime.demo.run import Demo, Plan
from taoxr_runtime.demo.stage import load_avatar
from taoxr_runtime.demo.voices import read_recording

app = typer.Typer(add_completion=False)

SCRIPT: Final = (
    "Hello, how are you today?",
    "What is the capital of France?",
    "Why do people like music?",
)


@app.command()
def demo(
    question: Annotated[
        list[Path] | None, typer.Option(help="A recorded question (WAV, FLAC, OGG); may be repeated.")
    ] = None,
    text: Annotated[list[str] | None, typer.Option(help="A typed question; may be repeated.")] = None,
    mic: Annotated[
        bool, typer.Option("--mic", help="Ask by microphone until Ctrl-C (extra `audio`).")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("taoxr-demo"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print turns.json, and only that, to stdout.")
    ] = False,
    target: Annotated[str, typer.Option(help="host:port of a running bridge; else one is started.")] = "",
    size: Annotated[str, typer.Option(help="Size of the film, WIDTHxHEIGHT.")] = "480x640",
    fps: Annotated[float, typer.Option(help="Pictures per second, 5 to 60.")] = 24.0,
    push_to_talk: Annotated[
        bool,
        typer.Option("--push-to-talk", help="Say when a question ends; else the bridge hears it."),
    ] = False,
    avatar: Annotated[Path | None, typer.Option(help="Another .nnr scene.")] = None,
) -> None:
    """Converse with the avatar live and make a film of it.

    Writes demo.mp4, demo.png (contact sheet), demo_first.png, turns.json, timeline.json and
    voices.wav. Without --question or --text it plays three scripted turns, the user's voice
    synthesised.
    """
    plan_size = parse_size(size)
    check_fps(fps)
    prompts = [read_recording(path) for path in question or []]
    prompts += [Prompt(Source.TEXT, check_text(words)) for words in text or []]
    if mic:
        if prompts:
            raise InvalidInputError("--mic", True, "neither --question nor --text beside it")
        check_sound()
    scene = load_avatar(avatar)
    if mic and push_to_talk:
        raise InvalidInputError("--push-to-talk", True, "no --mic beside it")
    mode = InputMode.PUSH_TO_TALK if push_to_talk else InputMode.HANDS_FREE
    script = [] if mic else [Prompt(Source.SYNTHESISED, words) for words in SCRIPT]
    plan = Plan(prompts or script, open_folder(out), plan_size, fps, mode, target, mic)
    running = Demo(plan, Console(stderr=True, highlight=False))
    status = running.run(scene)
    if as_json:
        sys.stdout.write(json.dumps(running.figures, indent=1, ensure_ascii=False) + "\n")
    raise typer.Exit(status)
