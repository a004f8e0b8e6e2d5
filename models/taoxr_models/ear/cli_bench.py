"""``taoxr bench asr``."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(add_completion=False)


@app.command()
def asr(
    ct2: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="The same model for faster-whisper, the peer."),
    ] = None,
    recordings: Annotated[
        Path | None,
        typer.Option(
            exists=True, file_okay=False, help="Folder of NAME.wav with NAME.txt, or of such folders."
        ),
    ] = None,
    sentences: Annotated[int, typer.Option(min=1, max=40, help="Sentences in each voice and noise.")] = 40,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Counts the ear's word errors and its time, beside faster-whisper, and how soon the final text is there.

    Three voices made of the installed one, each clean and with white noise at 20 and 10 dB: 15 minutes of
    speech with 40 sentences. One thread each.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in a worker; before NumPy is imported
    from taoxr_models.ear.bench import bench_asr

    with Console(stderr=True, highlight=False).status("") as status:
        figures = bench_asr(ct2, recordings, sentences, status.update)
    if as_json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{name} {value}")
