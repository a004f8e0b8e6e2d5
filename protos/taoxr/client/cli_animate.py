"""``taoxr animate``: face frames for a recording of any voice."""

import asyncio
import time
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from numpy.typing import NDArray
from rich.progress import Progress

from taoxr.client import frames_file, out_file, wav
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

# What the lips hear; a higher rate would only take longer to send.
_RATE: Final = 16_000

app = typer.Typer(add_completion=False, rich_markup_mode="markdown", help="Make face frames for a recording.")


@app.command()
def animate(
    recording: Annotated[Path, typer.Argument(help="WAV, FLAC, OGG or MP3; at most 300 s.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="File to write: .json, or .csv with a header.  [default: name of RECORDING, .json]",
        ),
    ] = None,
    frame_rate: Annotated[float, typer.Option(help="Frames per second, 10 to 120.")] = 30.0,
    target: Target = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    token_file: TokenFile = None,
) -> None:
    """Makes the face's frames for RECORDING.

    A file that exists is replaced once the new one is complete. JSON holds space, names, frame_rate and
    frames, each with time_us (microseconds from the first sample) and weights; CSV has a column time_us and
    one for each of the 52 ARKit names.

    For example:

    ```
    taoxr animate in.wav
    taoxr animate in.wav -o frames.csv --frame-rate 60
    taoxr animate in.wav --target 192.168.1.5:50061 --tls-ca ca.pem --token-file token
    ```
    """
    server = Server(target, tls_ca, tls_cert, tls_key, token_file)
    out = Path(recording.name).with_suffix(".json") if out is None else out
    out_file.check(out, field="--out", suffixes=frames_file.SUFFIXES)
    pcm = wav.read(recording, _RATE, field="RECORDING")
    asyncio.run(_animate(pcm, out, frame_rate, server))


async def _animate(pcm: NDArray[np.int16], out: Path, frame_rate: float, server: Server) -> None:
    seconds = len(pcm) / _RATE
    async with client_for(server) as client:
        began = time.perf_counter()
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("animating", total=seconds * 1e6)
            face = await client.animate_audio(
                pcm,
                _RATE,
                frame_rate=frame_rate,
                on_progress=lambda done_us: progress.update(task, completed=done_us),
            )
        took = time.perf_counter() - began
    frames_file.write(out, face, field="--out")
    console.print(
        f"{out}: {len(face.times_us)} frames for {seconds:.1f} s of sound, made in {took:.2f} s",
        soft_wrap=True,
    )
