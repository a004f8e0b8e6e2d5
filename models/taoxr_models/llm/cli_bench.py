"""``taoxr bench llm``."""

import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from taoxr.errors import InvalidInputError
from taoxr_models.catalog import default_model, verified
from taoxr_models.catalog.recipes.llama import convert_llama
from taoxr_models.llm.bench import (
    ANSWER_TOKENS,
    PROMPT_TOKENS,
    SHAPES,
    Speed,
    has_peer,
    time_ours,
    time_peer,
    write_random_gguf,
)

app = typer.Typer(add_completion=False)


@app.command()
def llm(
    gguf: Annotated[Path | None, typer.Option(help="Time this GGUF file, on both engines.")] = None,
    shape: Annotated[
        str | None, typer.Option(help=f"Time random weights of a shape: {', '.join(SHAPES)}.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Threads of each engine.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Times the language model: reading a prompt of 178 tokens, writing 64; without options the default one.

    Beside llama.cpp when it is installed (`pip install llama-cpp-python`) and there is a GGUF file.
    """
    if gguf is not None and shape is not None:
        raise InvalidInputError("--shape", shape, "none beside --gguf")
    if shape is not None and shape not in SHAPES:
        raise InvalidInputError("--shape", shape, f"one of {', '.join(SHAPES)}")
    with tempfile.TemporaryDirectory() as scratch:
        folder, name = Path(scratch) / "model", shape or (gguf.name if gguf else default_model("llm"))
        if shape is not None:
            gguf = Path(scratch) / "random.gguf"
            write_random_gguf(gguf, SHAPES[shape])
        if gguf is not None:
            folder.mkdir()
            convert_llama(gguf, folder)
        else:
            folder = verified(name)
        ours = time_ours(folder, threads)
        peer = time_peer(gguf, threads) if gguf is not None and has_peer() else None
    figures = _figures(name, threads, ours, peer)
    if as_json:
        print(json.dumps(figures, indent=2))
        return
    table = Table("", "")
    for key, value in figures.items():
        table.add_row(key, str(value))
    Console().print(table)


def _figures(name: str, threads: int, ours: Speed, peer: Speed | None) -> dict[str, float | str | None]:
    figures: dict[str, float | str | None] = {
        "model": name,
        "threads": threads,
        "prefill_tok_s": round(PROMPT_TOKENS / ours.prefill_s, 1),
        "decode_tok_s": round(ANSWER_TOKENS / ours.decode_s, 1),
        "load_s": round(ours.load_s, 2),
        "rss_mb": round(ours.rss_mb),
        "peer": None,
    }
    if peer is not None:
        figures |= {
            "peer": "llama.cpp",
            "peer_prefill_tok_s": round(PROMPT_TOKENS / peer.prefill_s, 1),
            "peer_decode_tok_s": round(ANSWER_TOKENS / peer.decode_s, 1),
            "peer_rss_mb": round(peer.rss_mb),
            "prefill_ratio": round(ours.prefill_s / peer.prefill_s, 3),
            "decode_ratio": round(ours.decode_s / peer.decode_s, 3),
            "ratio": round((ours.prefill_s + ours.decode_s) / (peer.prefill_s + peer.decode_s), 3),
        }
    return figures
