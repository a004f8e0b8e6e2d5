"""``taoxr bench tts``."""

from pathlib import Path
from typing import Annotated

import typer

from taoxr.figures import show

app = typer.Typer(add_completion=False)


@app.command()
def tts(
    onnx: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="A Piper voice's .onnx, its .onnx.json beside: for the peer, too.",
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=100, help="How often each text is spoken.")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Times the voice, piece by piece as it speaks in a conversation, beside onnxruntime on the same file.

    One thread each. Without --onnx the voice in use is timed, and no peer.
    """
    from taoxr_models.tts.bench import bench_tts

    show(bench_tts(onnx, rounds), as_json)
