"""Converts one model file to ``.mnn``, checks it, and says what it cost."""

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.engine.convert import convert
from taoxr.engine.probe import probe
from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.catalog.conversion.formats import Format
from taoxr_models.catalog.conversion.precision import Storage
from taoxr_models.catalog.conversion.report import Report, compare
from taoxr_models.catalog.conversion.running import has_onnxruntime, random_inputs, run_mnn, run_onnx
from taoxr_models.catalog.report import Reporter, Silent

_FRAMEWORKS: Final = {"onnx": "ONNX", "tf": "TF", "tflite": "TFLITE", "caffe": "CAFFE", "mnn": "MNN"}
# Exports by tracing, in a process of its own: torch need not be installed here, and the file may be hostile.
_EXPORT: Final = """
import sys, torch
source, target, *given = sys.argv[1:]
shapes = [tuple(map(int, g.split("=")[1].split("x"))) for g in given]
names = [g.split("=")[0] for g in given]
model = torch.jit.load(source, map_location="cpu").eval()
examples = tuple(torch.randn(s) for s in shapes)
torch.onnx.export(model, examples, target, input_names=names, opset_version=17, dynamo=False)
"""


@dataclass(frozen=True)
class Request:
    """What to convert and how.

    Attributes:
        source: The model.
        format: Its format; none of a language model.
        target: The ``.mnn`` to write.
        storage: How weights are stored.
        prototxt: Caffe's description of the network.
        shapes: Shapes of inputs that the file leaves open.
        inputs: Inputs to compare on, an ``.npz``; random ones without.
        force: Convert even what is known to go wrong.
        check: Run the result beside the reference.
    """

    source: Path
    format: Format
    target: Path
    storage: Storage = field(default_factory=Storage)
    prototxt: Path | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    inputs: Path | None = None
    force: bool = False
    check: bool = True


def convert_file(request: Request, report: Reporter | None = None) -> Report:
    """Converts; the target appears only when everything went well.

    Raises:
        InvalidInputError: The request is wrong.
        ModelError: The source is refused, the converter failed, or the result does not load or run.
        UnavailableError: TorchScript without torch.
    """
    report = report or Silent()
    _check(request)
    with tempfile.TemporaryDirectory(prefix=".convert-", dir=request.target.absolute().parent) as name:
        scratch = Path(name)
        source, kind = request.source, request.format
        if kind == "torchscript":
            report.step("exporting TorchScript to ONNX")
            source, kind = _export_torch(request, scratch), "onnx"
        if kind == "onnx" and not request.force:
            from taoxr_models.catalog.conversion.refusals import check_onnx  # takes half a second

            report.step("looking for what would not convert")
            check_onnx(source)
        beside = ["--prototxt", str(request.prototxt.absolute())] if request.prototxt else []
        made = scratch / request.target.name
        report.step(f"converting ({request.storage.precision})")
        convert(source, made, _FRAMEWORKS[kind], [*beside, *request.storage.options])
        report.step("loading the result in a process of its own")
        _probe(made)
        found = Report(request.source.stat().st_size, made.stat().st_size, "none", "none", ())
        if request.check:
            found = _compared(request, source, kind, beside, made, scratch, report)
        made.replace(request.target)
    return found


def _probe(made: Path) -> None:
    try:
        probe(made)
    except ModelError as error:
        raise ModelError(f"MNN converted it, but cannot load the result: {error}") from error


def _check(request: Request) -> None:
    if request.target.suffix != ".mnn":
        raise InvalidInputError("TARGET", str(request.target), "a name that ends with .mnn")
    if not request.target.absolute().parent.is_dir():
        raise InvalidInputError("TARGET", str(request.target), "a folder that exists")
    if request.format == "caffe" and (request.prototxt is None or not request.prototxt.is_file()):
        raise InvalidInputError("--prototxt", request.prototxt, "the file that describes the Caffe network")
    if request.format != "caffe" and request.prototxt is not None:
        raise InvalidInputError("--prototxt", str(request.prototxt), f"none with {request.format}")
    if request.format == "torchscript" and not request.shapes:
        raise InvalidInputError(
            "--shape", None, "NAME=1x3x224x224 for every input of a TorchScript model, in order"
        )


def _compared(
    request: Request, source: Path, kind: str, beside: list[str], made: Path, scratch: Path, report: Reporter
) -> Report:
    inputs = _inputs(request, made)
    where = "random (seed 0)" if request.inputs is None else request.inputs.name
    sizes = request.source.stat().st_size, made.stat().st_size
    report.step("running the result")
    got = run_mnn(made, inputs)
    if kind == "onnx" and has_onnxruntime():
        report.step("running the source by onnxruntime")
        return Report(*sizes, "onnxruntime", where, compare(run_onnx(source, inputs), got))
    if kind == "mnn":
        report.step("running the source")
        return Report(*sizes, "the source on MNN", where, compare(run_mnn(source, inputs), got))
    if request.storage.precision == "fp32":  # it could only be compared with itself
        return Report(*sizes, "none", where, ())
    report.step("running a float32 conversion")
    plain = scratch / "float32.mnn"
    convert(source, plain, _FRAMEWORKS[kind], beside)
    return Report(*sizes, "a float32 conversion", where, compare(run_mnn(plain, inputs), got))


def _inputs(request: Request, made: Path) -> dict[str, NDArray[Any]]:
    if request.inputs is None:
        return random_inputs(made, request.shapes)
    try:
        with np.load(request.inputs, allow_pickle=False) as arrays:
            given = {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError) as error:
        raise InvalidInputError("--inputs", str(request.inputs), f"an .npz of arrays ({error})") from error
    wanted = [i.name for i in probe(made).inputs]
    if missing := [name for name in wanted if name not in given]:
        raise InvalidInputError("--inputs", str(request.inputs), f"an .npz with {', '.join(missing)}")
    kinds = {i.name: np.float32 if i.kind == "float32" else np.int32 for i in probe(made).inputs}
    return {name: np.asarray(given[name], kinds[name]) for name in wanted}


def _export_torch(request: Request, scratch: Path) -> Path:
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise ModelError("TorchScript needs torch: pip install 'taoxr[avatar]', or export to ONNX elsewhere")
    target = scratch / "exported.onnx"
    shapes = [f"{name}={'x'.join(map(str, shape))}" for name, shape in request.shapes.items()]
    command = [sys.executable, "-c", _EXPORT, str(request.source.absolute()), str(target), *shapes]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not target.is_file():
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ModelError(f"torch could not export {request.source.name}: {last}")
    return target
