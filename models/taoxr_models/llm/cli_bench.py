"""``taoxr bench llm``."""

import json
import statistics
import tempfile
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from taoxr import huge_pages
from taoxr.errors import InvalidInputError
from taoxr_models.catalog import default_model, verified
from taoxr_models.catalog.recipes.llama import convert_llama
from taoxr_models.llm import bench
from taoxr_models.llm.bench import ANSWER_TOKENS, PROMPT_TOKENS, SHAPES, Speed

app = typer.Typer(add_completion=False)

# Our time by the peer's: a prompt twice as fast, an answer 1.2 times.
_BARS: Final = {"prefill_ratio": 0.5, "decode_ratio": 0.833}


@app.command(
    epilog="Examples:  taoxr bench llm --gguf SmolLM2-135M-Instruct.Q4_1.gguf --json  ·  "
    "taoxr bench llm --shape qwen2.5-1.5b  ·  taoxr bench llm --prompt-tokens 1800"
)
def llm(
    gguf: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Time this GGUF file, on both engines.")
    ] = None,
    shape: Annotated[
        str | None, typer.Option(help=f"Time random weights of a shape: {', '.join(SHAPES)}.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Threads of each engine.")] = 1,
    prompt_tokens: Annotated[
        int, typer.Option(min=1, max=4000, help="Length of the prompt.")
    ] = PROMPT_TOKENS,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Times the language model: reading a prompt, writing 64 tokens; without options the default one.

    Beside llama.cpp, in turns, when it is installed (`pip install llama-cpp-python`) and there is a GGUF.
    """
    if gguf is not None and shape is not None:
        raise InvalidInputError("--shape", shape, "none beside --gguf")
    if shape is not None and shape not in SHAPES:
        raise InvalidInputError("--shape", shape, f"one of {', '.join(SHAPES)}")
    with tempfile.TemporaryDirectory() as scratch:
        folder, name = Path(scratch) / "model", shape or (gguf.name if gguf else default_model("llm"))
        if shape is not None:
            gguf = Path(scratch) / "random.gguf"
            bench.write_random_gguf(gguf, SHAPES[shape])
        if gguf is not None:
            folder.mkdir()
            convert_llama(gguf, folder)
        else:
            folder = verified(name)
        # In memory as a worker's.
        ours, *peers = huge_pages.run(bench.compare, folder, gguf, threads, prompt_tokens)
    figures: dict[str, object] = {"model": name, "threads": threads, "prompt_tokens": prompt_tokens}
    figures |= _figures(ours, prompt_tokens)
    figures["peer"] = "llama.cpp" if peers else None
    for peer in peers:
        figures |= {f"peer_{key}": value for key, value in _figures(peer, prompt_tokens).items()}
        figures |= {"peer_features": bench.peer_features()} | _ratios(ours, peer)
    if as_json:
        print(json.dumps(figures, indent=2))
        return
    table = Table("", "")
    for key, value in figures.items():
        table.add_row(key, str(value))
    Console().print(table)


def _figures(speed: Speed, prompt_tokens: int) -> dict[str, float]:
    return {
        "prefill_tok_s": round(prompt_tokens / statistics.median(speed.prefill_s), 1),
        "decode_tok_s": round(ANSWER_TOKENS / statistics.median(speed.decode_s), 1),
        "load_s": round(speed.load_s, 2),
        "rss_mb": round(speed.rss_mb),
    }


def _ratios(ours: Speed, peer: Speed) -> dict[str, object]:
    whole = [
        [sum(pair) for pair in zip(speed.prefill_s, speed.decode_s, strict=True)] for speed in (ours, peer)
    ]
    found: dict[str, float] = {
        "prefill_ratio": bench.ratio(ours.prefill_s, peer.prefill_s),
        "decode_ratio": bench.ratio(ours.decode_s, peer.decode_s),
    }
    bars = {name: {"bar": bar, "pass": found[name] <= bar} for name, bar in _BARS.items()}
    return {**found, "ratio": bench.ratio(*whole), "bars": bars}
