"""Looks into an ``.mnn`` file that nobody vouches for, in a process of its own.

MNN crashes on some damaged or hostile files (five random flipped bytes: one file in twenty). So the first
load of a file happens in a child; what it found, or that it crashed, is remembered by the file's sha256. The
child also reads the metadata that exporters such as icefall store in the file, which MNN's Python API does
not give: its converter prints them.
"""

import hashlib
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from taoxr import paths
from taoxr.engine._mnn import mnn
from taoxr.errors import ModelError

_TIMEOUT_S: Final = 120
_FORMAT: Final = 1
_KINDS: Final = {"dtype.float": "float32", "dtype.int": "int32", "dtype.uint8": "uint8"}


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a model.

    Attributes:
        name: Its name.
        shape: Dimensions; -1 for any.
        kind: ``"float32"``, ``"int32"`` (also for ONNX's int64), ``"uint8"`` or MNN's own word.
    """

    name: str
    shape: tuple[int, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a model file says about itself.

    Attributes:
        inputs: In the file's order.
        outputs: Names in the file's order.
        metadata: Strings that the exporter stored.
    """

    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    metadata: Mapping[str, str]


def probe(path: Path) -> ModelInfo:
    """Loads a file in a child process once, and tells what is in it.

    Args:
        path: An ``.mnn`` file.

    Raises:
        ModelError: It is missing, MNN refuses it, or MNN crashed or hung on it.
    """
    if not path.is_file():
        raise ModelError(f"model file {path} is missing")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    known = paths.cache_dir() / "probed" / f"{digest}-{version('MNN')}-{_FORMAT}.json"
    found = _remembered(known)
    if found is None:
        found = _probe(path)
        _remember(known, found)
    if "error" in found:
        raise ModelError(f"{path}: {found['error']}")
    return ModelInfo(
        tuple(Input(i["name"], tuple(i["shape"]), i["kind"]) for i in found["inputs"]),
        tuple(found["outputs"]),
        dict(found["metadata"]),
    )


def _remembered(known: Path) -> dict[str, Any] | None:
    try:
        return json.loads(known.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # ValueError: written by a process that was killed
        return None


def _remember(known: Path, found: dict[str, Any]) -> None:
    known.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=known.parent, delete=False, encoding="utf-8") as file:
        json.dump(found, file)
    Path(file.name).replace(known)


def _probe(path: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", "taoxr.engine.probe", str(path.absolute()), str(result)]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ModelError(f"{path}: MNN did not finish loading it within {_TIMEOUT_S} s") from error
        if done.returncode in (-signal.SIGKILL, -signal.SIGTERM):  # not the file's fault: not remembered
            raise ModelError(f"{path}: the process that looked into it was killed; out of memory?")
        if done.returncode < 0:
            name = signal.Signals(-done.returncode).name
            return {
                "error": f"MNN crashed on it ({name}); the file is damaged, hostile or of another version"
            }
        if done.returncode or not result.is_file():
            return {"error": "MNN cannot read it as a model; the file is damaged, or no .mnn file at all"}
        return {**json.loads(result.read_text(encoding="utf-8")), "metadata": _metadata(done.stdout)}


def _metadata(printed: str) -> dict[str, str]:
    pairs = (
        line.removeprefix("[Meta] ").partition(" : ")
        for line in printed.splitlines()
        if line.startswith("[Meta] ")
    )
    return {key: value for key, _, value in pairs}


@cache
def _converter() -> Any:
    from taoxr.engine._execstack import make_importable

    make_importable("_tools")
    import _tools  # pyright: ignore[reportMissingImports]

    return _tools


def _child(path: str, result: str) -> None:
    """The child: loads the model and writes what its inputs and outputs are; the metadata go to stdout."""
    engine = mnn()
    manager = engine.nn.create_runtime_manager(({"backend": "CPU", "numThread": 1},))
    info = engine.nn.load_module_from_file(path, [], [], runtime_manager=manager).get_info()
    inputs = [
        Input(name, tuple(var.shape), _KINDS.get(str(var.dtype), str(var.dtype)))
        for name, var in zip(info["inputNames"], info["inputs"], strict=True)
    ]
    found = {"inputs": [asdict(i) for i in inputs], "outputs": list(info["outputNames"])}
    Path(result).write_text(json.dumps(found), encoding="utf-8")
    _converter().mnnconvert(["mnnconvert", "-f", "MNN", "--modelFile", path, "--info"])


if __name__ == "__main__":
    _child(*sys.argv[1:])
