"""Runs an ``.mnn`` file that nobody vouches for a few times, in a process of its own.

Some damaged files load and crash MNN when they run (`taoxr.engine.probe` only loads them). What a file made,
or that it crashed, is remembered by its sha256 and the shapes it was given.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from taoxr import paths
from taoxr.engine.session import Session
from taoxr.errors import ModelError

_TIMEOUT_S: Final = 60
_FORMAT: Final = 1
_SIZES: Final = (0.0, 1.0, 1e3)


def try_out(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Shapes of what a model makes, by the name of the output.

    Args:
        path: An ``.mnn`` file with float32 inputs.
        shapes: Shape of each input by name.

    Raises:
        ModelError: MNN refuses the file, crashes or hangs on it, or makes values that are not finite.
    """
    digest = hashlib.sha256(path.read_bytes() + json.dumps(sorted(shapes.items())).encode()).hexdigest()
    known = paths.cache_dir() / "probed" / f"{digest}-{version('MNN')}-trial{_FORMAT}.json"
    if known.is_file():
        found: dict[str, Any] = json.loads(known.read_text(encoding="utf-8"))
    else:
        found = _in_child(path, shapes)
        known.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=known.parent, delete=False, encoding="utf-8") as file:
            json.dump(found, file)
        Path(file.name).replace(known)
    if "error" in found:
        raise ModelError(f"{path.name}: {found['error']}")
    return {name: tuple(shape) for name, shape in found["outputs"].items()}


def _in_child(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", "taoxr.engine.trial", str(path.absolute()), json.dumps(shapes)]
        try:
            done = subprocess.run(
                [*command, str(result)], cwd=folder, capture_output=True, timeout=_TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return {"error": f"MNN did not finish running it within {_TIMEOUT_S} s"}
        if done.returncode < 0:
            return {"error": f"MNN crashed running it (signal {-done.returncode}); the file is damaged"}
        if done.returncode or not result.is_file():
            tail = done.stderr.decode(errors="replace").strip().splitlines()
            return {"error": f"MNN cannot run it: {tail[-1][:300] if tail else 'no reason given'}"}
        return json.loads(result.read_text(encoding="utf-8"))


def _child(path: str, shapes: str, result: str) -> None:
    """The child: runs the model on zeros and on random numbers of growing size."""
    given = {name: tuple(shape) for name, shape in json.loads(shapes).items()}
    session, rng = Session(Path(path), given), np.random.default_rng(1)
    made: dict[str, Any] = {}
    for size in _SIZES:
        inputs = {name: rng.normal(0, size, shape).astype(np.float32) for name, shape in given.items()}
        made = session.run(inputs)
        if size <= 1.0 and not all(np.isfinite(array).all() for array in made.values()):
            raise ModelError("it makes values that are not finite")
    found = {"outputs": {name: list(array.shape) for name, array in made.items()}}
    Path(result).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    _child(*sys.argv[1:])
