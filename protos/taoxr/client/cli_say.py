"""``taoxr say``: speaks a text into a WAV file and its face frames into a JSON or CSV file."""

import asyncio
import time
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from taoxr.client import Track, body_file, frames_file, out_file, wav
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
from taoxr.errors import InvalidInputError

app = typer.Typer(
    add_completion=False, rich_markup_mode="markdown", help="Speak a text: WAV and face frames."
)


class _Style(NamedTuple):
    speed: float
    speaker: str
    seed: int


@app.command()
def say(
    text: Annotated[str, typer.Argument(help="What to say; at most 4,000 characters.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="WAV file to write.")] = Path("say.wav"),
    frames: Annotated[
        Path | None, typer.Option(help="File to write the face frames to: .json or .csv.")
    ] = None,
    body: Annotated[Path | None, typer.Option(help="File to write the body and the cues to: .json.")] = None,
    frame_rate: Annotated[float, typer.Option(help="Frames per second, 10 to 120.")] = 30.0,
    speed: Annotated[float, typer.Option(help="Speaking rate, 0.5 to 2.")] = 1.0,
    speaker: Annotated[
        str, typer.Option(help="Name or number of the speaker, of a voice that has several.")
    ] = "",
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Another number, another intonation and rhythm.")
    ] = 0,
    target: Target = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    token_file: TokenFile = None,
) -> None:
    """Speaks TEXT into a WAV file, and its face frames into another file.

    Files that exist are replaced once the new ones are complete. JSON holds space, names, frame_rate,
    sample_rate_hz and frames, each with time_us (microseconds from the first sample) and weights; CSV has a
    column time_us and one for each of the 52 ARKit names. The body goes on for 1.5 s after the speech.

    For example:

    ```
    taoxr say "Hello there."
    taoxr say "Hello there." --speed 0.9 --seed 3
    taoxr say "Hello there." -o hello.wav --frames hello.json
    taoxr say "Hello there." -o hello.wav --body body.json
    taoxr say "Hello there." --target 192.168.1.5:50061 --tls-ca ca.pem --token-file token
    ```
    """
    server = Server(target, tls_ca, tls_cert, tls_key, token_file)
    if not text.strip():
        raise InvalidInputError("TEXT", text, "some text")
    out_file.check(out, field="--out")
    if frames is not None:
        out_file.check(frames, field="--frames", suffixes=frames_file.SUFFIXES)
        if frames.resolve() == out.resolve():
            raise InvalidInputError("--frames", str(frames), "another file than --out")
    if body is not None:
        out_file.check(body, field="--body", suffixes=body_file.SUFFIXES)
        if body.resolve() in (out.resolve(), frames and frames.resolve()):
            raise InvalidInputError("--body", str(body), "another file than --out and --frames")
    style = _Style(speed, speaker, seed)
    asyncio.run(_say(text, out, frames, body, frame_rate, style, server))


async def _say(
    text: str,
    out: Path,
    frames: Path | None,
    body: Path | None,
    frame_rate: float,
    style: _Style,
    server: Server,
) -> None:
    async with client_for(server) as client:
        began = time.perf_counter()
        with console.status("speaking …") as status:
            speech = await client.say(
                text,
                frame_rate=frame_rate,
                speed=style.speed,
                speaker=style.speaker,
                seed=style.seed,
                tracks=frozenset((Track.BODY, Track.CUES)) if body is not None else frozenset[Track](),
                on_progress=lambda done_us: status.update(f"speaking … {done_us / 1e6:.1f} s"),
            )
        took = time.perf_counter() - began
    if not len(speech.pcm):
        raise InvalidInputError("TEXT", text, "something that can be pronounced")
    wav.write(out, speech.pcm, speech.sample_rate_hz)
    seconds = len(speech.pcm) / speech.sample_rate_hz
    console.print(f"{out}: {seconds:.1f} s of speech, made in {took:.2f} s", soft_wrap=True)
    if frames is not None:
        frames_file.write(frames, speech.face, field="--frames", sample_rate_hz=speech.sample_rate_hz)
        console.print(f"{frames}: {len(speech.face.times_us)} frames", soft_wrap=True)
    if body is not None:
        body_file.write(body, speech, field="--body")
        console.print(f"{body}: {len(speech.body.times_us)} poses, {len(speech.cues)} cues", soft_wrap=True)
