"""Runs a model once on given inputs: an ``.mnn`` in a child process, which may crash, or ONNX by onnxruntime.

The child: ``python -m taoxr_models.catalog.conversion.running MODEL INPUTS.npz OUTPUTS.npz``.
"""

import importlib
import importlib.util
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Module
from taoxr.engine.probe import probe
from taoxr.errors import InvalidInputError, ModelError

Arrays = Mapping[str, NDArray[Any]]
Shapes = Mapping[str, tuple[int, ...]]

_TIMEOUT_S: Final = 300
_SEED: Final = 0


def random_inputs(model: Path, shapes: Shapes) -> dict[str, NDArray[Any]]:
    """Inputs for a model: normal numbers, and 0 or 1 where it takes integers (so that ids are in range).

    Args:
        model: An ``.mnn`` file.
        shapes: Shapes that the user gives; they are needed where the file leaves dimensions open.

    Raises:
        InvalidInputError: A shape is missing, or of an input that there is not.
        ModelError: The file is damaged.
    """
    inputs = probe(model).inputs
    names = [i.name for i in inputs]
    for name in shapes:
        if name not in names:
            raise InvalidInputError("--shape", name, f"an input of the model: {', '.join(names)}")
    random = np.random.default_rng(_SEED)
    made: dict[str, NDArray[Any]] = {}
    for i in inputs:
        shape = shapes.get(i.name, i.shape)
        if any(d < 1 for d in shape):
            like = "x".join("?" if d < 1 else str(d) for d in shape)
            raise InvalidInputError("--shape", None, f"{i.name}={like} with numbers for `?`")
        if i.kind == "float32":
            made[i.name] = random.standard_normal(shape).astype(np.float32)
        else:
            made[i.name] = random.integers(0, 2, shape).astype(np.int32)
    return made


def run_mnn(model: Path, inputs: Arrays) -> dict[str, NDArray[np.float32]]:
    """Outputs of an ``.mnn`` by name.

    Raises:
        ModelError: MNN refused the inputs, crashed or hung.
    """
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "inputs.npz", Path(folder) / "outputs.npz"
        _save(given, inputs)
        command = [sys.executable, "-m", __name__, str(model.absolute()), str(given), str(result)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise ModelError(f"{model.name} did not finish one run within {_TIMEOUT_S} s") from error
        if done.returncode < 0:
            name = signal.Signals(-done.returncode).name
            raise ModelError(f"MNN crashed when it ran {model.name} ({name})")
        if done.returncode or not result.is_file():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise ModelError(f"MNN could not run {model.name}: {last}")
        with np.load(result) as arrays:
            return {name: np.asarray(arrays[name], np.float32) for name in arrays.files}


def has_onnxruntime() -> bool:
    """Whether ONNX files can be run as the reference."""
    return importlib.util.find_spec("onnxruntime") is not None


def run_onnx(model: Path, inputs: Arrays) -> dict[str, NDArray[np.float32]]:
    """Outputs of an ONNX file by name; call only if `has_onnxruntime`.

    Raises:
        ModelError: onnxruntime refused it.
    """
    runtime: Any = importlib.import_module("onnxruntime")
    try:
        session = runtime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        kinds = {"tensor(int64)": np.int64, "tensor(bool)": np.bool_, "tensor(uint8)": np.uint8}
        fed = {
            i.name: np.asarray(inputs[i.name]).astype(kinds.get(i.type, inputs[i.name].dtype))
            for i in session.get_inputs()
        }
        outputs = session.run(None, fed)
    except Exception as error:  # onnxruntime's own types are not public
        raise ModelError(f"onnxruntime could not run {model.name}: {error}") from error
    names = [o.name for o in session.get_outputs()]
    return {name: np.asarray(out, np.float32) for name, out in zip(names, outputs, strict=True)}


def _save(path: Path, arrays: Arrays) -> None:
    save: Any = np.savez  # its types take a name such as `allow_pickle` for an option
    save(path, **arrays)


def _child(model: str, given: str, result: str) -> None:
    found = probe(Path(model))
    with np.load(given) as arrays:
        inputs = [np.ascontiguousarray(arrays[i.name]) for i in found.inputs]
    fed = [a if a.dtype == np.float32 else a.astype(np.int32) for a in inputs]
    module = Module(Path(model), [i.name for i in found.inputs], found.outputs)
    _save(Path(result), dict(zip(found.outputs, module.run(*fed), strict=True)))


if __name__ == "__main__":
    _child(*sys.argv[1:])
