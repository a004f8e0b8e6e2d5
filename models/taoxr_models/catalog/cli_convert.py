"""``taoxr models convert`` and ``quantize``: a user's own models for MNN."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from taoxr.errors import InvalidInputError
from taoxr_models.catalog.cli_progress import RichReporter
from taoxr_models.catalog.conversion.formats import LANGUAGE_MODELS, Format, detect
from taoxr_models.catalog.conversion.precision import Precision, Storage

if TYPE_CHECKING:  # these take a while to import, and --help needs none of them
    from taoxr_models.catalog.conversion.files import Request
    from taoxr_models.catalog.conversion.language import LanguageReport
    from taoxr_models.catalog.conversion.report import Report

_Source = Annotated[Path, typer.Argument(help="The model: a file, or the folder of a Hugging Face model.")]
_Target = Annotated[Path, typer.Argument(help="The .mnn to write; a folder for a language model.")]
_Format = Annotated[
    Format | None, typer.Option("--format", help="The source's format.  [default: by its name]")
]
_Block = Annotated[int, typer.Option(help="Weights that share a scale: 32, 64, 128.  [0: a whole row]")]
_Shapes = Annotated[
    list[str] | None,
    typer.Option("--shape", metavar="NAME=1x3x224", help="Shape of an input that the file leaves open."),
]
_Inputs = Annotated[
    Path | None, typer.Option(metavar="NPZ", help="Inputs to compare on.  [default: random ones]")
]
_Text = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Text to measure a language model's perplexity on.")
]
_Lora = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="LoRA adapter (PEFT) to merge into a language model."),
]
_Check = Annotated[bool, typer.Option("--check/--no-check", help="Run the result beside the source.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


def convert(
    source: _Source,
    target: _Target,
    source_format: _Format = None,
    prototxt: Annotated[Path | None, typer.Option(help="Caffe's description of the network.")] = None,
    precision: Annotated[Precision, typer.Option(help="How weights are stored.")] = "fp32",
    block: _Block = 0,
    shape: _Shapes = None,
    inputs: _Inputs = None,
    text: _Text = None,
    lora: _Lora = None,
    force: Annotated[
        bool, typer.Option("--force", help="Convert even what is known to come out wrong.")
    ] = False,
    check: _Check = True,
    as_json: _Json = False,
) -> None:
    """Converts a model to MNN, and says how far its outputs are from the source's.

    Takes ONNX, TensorFlow (a frozen .pb), TensorFlow Lite, Caffe, TorchScript (needs torch), and plain
    Llamas as GGUF or as a Hugging Face folder. What MNN is known to crash on or to get wrong is refused
    first. The result is loaded in a process of its own; it appears only when all went well.
    """
    _run(
        source,
        target,
        source_format,
        Storage(precision, block),
        prototxt,
        shape,
        inputs,
        text,
        lora,
        force,
        check,
        as_json,
    )


def quantize(
    source: _Source,
    target: _Target,
    precision: Annotated[
        Precision, typer.Option(help="How weights are stored: fp16, int8 or int4.")
    ] = "int8",
    block: _Block = 0,
    source_format: _Format = None,
    shape: _Shapes = None,
    inputs: _Inputs = None,
    text: _Text = None,
    lora: _Lora = None,
    check: _Check = True,
    as_json: _Json = False,
) -> None:
    """Makes a model's weights smaller, and says what that costs.

    Takes an .mnn with float32 weights, or anything that `convert` takes. Language models are measured by
    their perplexity before and after.
    """
    if precision == "fp32":
        raise InvalidInputError("--precision", precision, "fp16, int8 or int4")
    _run(
        source,
        target,
        source_format,
        Storage(precision, block),
        None,
        shape,
        inputs,
        text,
        lora,
        False,
        check,
        as_json,
    )


def _run(
    source: Path,
    target: Path,
    given: Format | None,
    storage: Storage,
    prototxt: Path | None,
    shape: list[str] | None,
    inputs: Path | None,
    text: Path | None,
    lora: Path | None,
    force: bool,
    check: bool,
    as_json: bool,
) -> None:
    kind = detect(source, given)
    if kind in LANGUAGE_MODELS:
        if prototxt or shape or inputs:
            raise InvalidInputError(
                "--shape", shape or str(prototxt or inputs), "no inputs for a language model"
            )
        _language(source, kind, target, storage, text, lora, check, as_json)
        return
    if text is not None or lora is not None:
        option = "--text" if lora is None else "--lora"
        raise InvalidInputError(option, str(lora or text), "none for a model that is no language model")
    from taoxr_models.catalog.conversion.files import Request

    request = Request(source, kind, target, storage, prototxt, _shapes(shape), inputs, force, check)
    _file(request, as_json)


def _file(request: "Request", as_json: bool) -> None:
    from taoxr_models.catalog.conversion.files import convert_file

    with RichReporter() as progress:
        report = convert_file(request, progress)
        progress.finish(f"{request.target} written")
    if as_json:
        print(json.dumps(asdict(report)))
        return
    _print_sizes(report.source_bytes, report.target_bytes)
    if report.differences:
        _print_differences(report)
    elif request.check:
        print("compared    with nothing: it ran once, and onnxruntime runs ONNX only")


def _language(
    source: Path,
    kind: Format,
    target: Path,
    storage: Storage,
    text: Path | None,
    lora: Path | None,
    check: bool,
    as_json: bool,
) -> None:
    from taoxr_models.catalog.conversion.language import DEFAULT_TEXT, convert_language_model

    if text is not None and not text.is_file():
        raise InvalidInputError("--text", str(text), "a file")
    words = DEFAULT_TEXT if text is None else text.read_text(encoding="utf-8")
    with RichReporter() as progress:
        report = convert_language_model(
            source, kind, target, storage, text=words if check else None, lora=lora, report=progress
        )
        progress.finish(f"{target} written")
    if as_json:
        print(json.dumps(asdict(report)))
        return
    _print_sizes(report.source_bytes, report.target_bytes)
    _print_perplexity(report)


def _print_sizes(source: int, target: int) -> None:
    print(f"size        {decimal(source)} to {decimal(target)} ({target / max(1, source):.0%})")


def _print_differences(report: "Report") -> None:
    print(f"compared    with {report.reference}, inputs: {report.inputs}")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("output", "largest", "rms", "of rms", "cosine"):
        table.add_column(heading, justify="left" if heading == "output" else "right", no_wrap=True)
    for d in report.differences:
        table.add_row(
            d.output, f"{d.largest:.3g}", f"{d.rms:.3g}", f"{d.reference_rms:.3g}", f"{d.cosine:.6f}"
        )
    Console().print(table)


def _print_perplexity(report: "LanguageReport") -> None:
    if report.after is None or report.before is None:
        return
    change = report.after / report.before - 1
    print(f"perplexity  {report.before:.3f} to {report.after:.3f} ({change:+.1%}), {report.tokens} tokens")


def _shapes(given: list[str] | None) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for item in given or ():
        name, _, dims = item.rpartition("=")
        sizes = dims.split("x")
        if not name or not all(d.isdecimal() and int(d) > 0 for d in sizes):
            raise InvalidInputError("--shape", item, "NAME=1x3x224x224, with numbers above 0")
        shapes[name] = tuple(map(int, sizes))
    return shapes


def register(app: typer.Typer) -> None:
    """Adds both commands to the app."""
    commands: dict[Any, str] = {
        convert: "Examples:  taoxr models convert net.onnx net.mnn  ·  taoxr models convert net.onnx net.mnn "
        "--precision int8 --block 64 --shape audio=1x16000  ·  taoxr models convert model.gguf ./folder",
        quantize: "Examples:  taoxr models quantize net.mnn small.mnn --precision int4 --block 32  ·  "
        "taoxr models quantize model.gguf ./folder --precision int4 --text book.txt",
    }
    for command, examples in commands.items():
        app.command(epilog=examples)(command)
