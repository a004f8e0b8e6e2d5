"""``taoxr say``: speaks a text into a WAV file and its face frames into a JSON or CSV file."""

import asyncio
import time
from pathlib import Path
from typing import Annotated

import typer

from taoxr.client import frames_file, wav
from taoxr.client.cli_common import Target, client_for, console
from taoxr.errors import InvalidInputError

app = typer.Typer(add_completion=False, help="Speak a text: WAV and face frames.")


@app.command()
def say(
    text: Annotated[str, typer.Argument(help="What to say; at most 4,000 characters.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="WAV file to write.")] = Path("say.wav"),
    frames: Annotated[
        Path | None, typer.Option(help="File to write the face frames to: .json or .csv.")
    ] = None,
    frame_rate: Annotated[float, typer.Option(help="Frames per second, 10 to 120.")] = 30.0,
    target: Target = None,
) -> None:
    """Speaks TEXT.

    JSON holds {"space", "names", "frame_rate", "sample_rate_hz", "frames": [{"time_us", "weights"}]};
    CSV has a column time_us and one for each name.
    """
    frames_file.check(out, field="--out", suffixes=())
    if frames is not None:
        frames_file.check(frames, field="--frames")
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
        frames_file.write(frames, speech.face, field="--frames", sample_rate_hz=speech.sample_rate_hz)
        console.print(f"{frames}: {len(speech.face.times_us)} frames")
