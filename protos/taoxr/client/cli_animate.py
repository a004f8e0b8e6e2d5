"""``taoxr animate``: face frames for a recording of any voice."""

import asyncio
import time
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from numpy.typing import NDArray

from taoxr.client import frames_file, wav
from taoxr.client.cli_common import Target, client_for, console

# What the lips hear; a higher rate would only take longer to send.
_RATE: Final = 16_000

app = typer.Typer(add_completion=False, help="Make face frames for a recording.")


@app.command()
def animate(
    recording: Annotated[Path, typer.Argument(help="WAV, FLAC, OGG or MP3; at most 300 s.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write: .json, or .csv with the names as header.")
    ] = Path("frames.json"),
    frame_rate: Annotated[float, typer.Option(help="Frames per second, 10 to 120.")] = 30.0,
    target: Target = None,
) -> None:
    """Makes the face's frames for RECORDING.

    JSON holds {"space", "names", "frame_rate", "frames": [{"time_us", "weights"}]}; CSV has a column
    time_us (microseconds from the start of the recording) and one for each of the 52 ARKit names.
    """
    frames_file.check(out, field="--out")
    pcm = wav.read(recording, _RATE, field="RECORDING")
    asyncio.run(_animate(pcm, out, frame_rate, target))


async def _animate(pcm: NDArray[np.int16], out: Path, frame_rate: float, target: str | None) -> None:
    async with client_for(target) as client:
        began = time.perf_counter()
        face = await client.animate_audio(pcm, _RATE, frame_rate=frame_rate)
        took = time.perf_counter() - began
    frames_file.write(out, face, field="--out")
    seconds = len(pcm) / _RATE
    console.print(f"{out}: {len(face.times_us)} frames for {seconds:.1f} s of sound, made in {took:.2f} s")
