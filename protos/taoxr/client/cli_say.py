"""``taoxr say``: speaks a text into a WAV file and its face frames into a JSON file."""

import asyncio
import json
import time
from pathlib import Path
from typing import Annotated

import typer

from taoxr.client import wav
from taoxr.client.cli_common import Target, client_for, console
from taoxr.client.client import Speech
from taoxr.errors import InvalidInputError

app = typer.Typer(add_completion=False, help="Speak a text: WAV and face frames.")


@app.command()
def say(
    text: Annotated[str, typer.Argument(help="What to say; at most 4,000 characters.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="WAV file to write.")] = Path("say.wav"),
    frames: Annotated[Path | None, typer.Option(help="JSON file to write the face frames to.")] = None,
    frame_rate: Annotated[float, typer.Option(help="Frames per second, 10 to 120.")] = 30.0,
    target: Target = None,
) -> None:
    """Speaks TEXT.

    The JSON holds {"space", "names", "frame_rate", "sample_rate_hz", "frames": [{"time_us", "weights"}]}.
    """
    for field, path in (("--out", out), ("--frames", frames)):
        if path is not None and not path.parent.is_dir():
            raise InvalidInputError(field, str(path), "a file in a folder that exists")
    asyncio.run(_say(text, out, frames, frame_rate, target))


async def _say(text: str, out: Path, frames: Path | None, frame_rate: float, target: str | None) -> None:
    async with client_for(target) as client:
        began = time.perf_counter()
        speech = await client.say(text, frame_rate=frame_rate)
        took = time.perf_counter() - began
    if not len(speech.pcm):
        raise InvalidInputError("TEXT", text, "something that can be pronounced")
    wav.write(out, speech.pcm, speech.sample_rate_hz)
    seconds = len(speech.pcm) / speech.sample_rate_hz
    console.print(f"{out}: {seconds:.1f} s of speech, made in {took:.2f} s")
    if frames is not None:
        frames.write_text(json.dumps(frames_json(speech)))
        console.print(f"{frames}: {len(speech.face.times_us)} frames")


def frames_json(speech: Speech) -> dict[str, object]:
    """The content of the ``--frames`` file."""
    rig = speech.face.rig
    return {
        "space": rig.space,
        "names": list(rig.names),
        "frame_rate": rig.frame_rate,
        "sample_rate_hz": speech.sample_rate_hz,
        "frames": [
            {"time_us": int(time_us), "weights": [round(float(w), 5) for w in weights]}
            for time_us, weights in zip(speech.face.times_us, speech.face.weights, strict=True)
        ],
    }
