"""To MNN, and from MNN to text, with the converter inside the wheel."""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from taoxr.errors import ModelError

# `_tools` is the converter itself; the `MNN.tools` package around it installs packages and reports home.
_PROGRAM: Final = (
    "import sys; from taoxr.engine._execstack import make_importable; make_importable('_tools');"
    "import _tools; _tools.mnnconvert(['mnnconvert', *sys.argv[1:]])"
)
# The converter stamps a random identifier near the start of the file.
_UUID: Final = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UUID_WITHIN: Final = 256


def convert(source: Path, target: Path, framework: str, options: Sequence[str] = ()) -> None:
    """Converts a model file to ``.mnn``.

    Runs in a process of its own, because the converter prints to stdout and may crash, and says
    success even when it failed; so the result is judged by the file. Works offline. The same source
    and options give the same bytes: the random identifier in the file is made one of its content.

    Args:
        source: Model to convert.
        target: ``.mnn`` to write; it appears only when it is complete.
        framework: The converter's name of the source format: ``"ONNX"`` or ``"JSON"``.
        options: Further options, such as ``--fp16`` or ``--weightQuantBits 8``.

    Raises:
        ModelError: The converter failed; its last lines are in the text.
    """
    # The converter keeps weights in a file of fixed name in its working directory meanwhile: two at
    # once in one directory spoil each other's weights without a word. So each gets its own.
    with tempfile.TemporaryDirectory(prefix=".convert-", dir=target.parent) as scratch:
        made = Path(scratch) / target.name
        arguments = [
            "-f",
            framework,
            "--modelFile",
            str(source.absolute()),
            "--MNNModel",
            str(made.absolute()),
        ]
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *arguments, "--bizCode", "taoxr", *options],
            cwd=scratch,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0 or not made.is_file() or made.stat().st_size == 0:
            tail = " | ".join((done.stdout + done.stderr).strip().splitlines()[-4:])
            raise ModelError(f"MNN could not convert {source.name} (exit {done.returncode}): {tail}")
        _settle_identifier(made)
        made.replace(target)


def describe(source: Path) -> dict[str, Any]:
    """The graph of an ``.mnn`` file as the converter writes it in JSON: ``oplists``, ``tensorName``, ...

    Runs in a process of its own, like `convert`.

    Raises:
        ModelError: The file cannot be read as a graph.
    """
    with tempfile.TemporaryDirectory(prefix="taoxr-") as scratch:
        made = Path(scratch) / "graph.json"
        arguments = ["-f", "MNN", "--modelFile", str(source.absolute()), "--JsonFile", str(made)]
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *arguments],
            cwd=scratch,
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            return json.loads(made.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"MNN cannot read {source} (exit {done.returncode}): {error}") from error


def _settle_identifier(path: Path) -> None:
    data = bytearray(path.read_bytes())
    found = _UUID.search(data, 0, _UUID_WITHIN)
    if found is None:  # graphs compiled from JSON carry none
        return
    start, end = found.span()
    data[start:end] = bytes(end - start)
    digest = hashlib.sha256(data).hexdigest()
    data[start:end] = str(uuid.uuid5(uuid.NAMESPACE_OID, digest)).encode()
    path.write_bytes(data)


def convert_onnx(source: Path, target: Path, options: Sequence[str] = ()) -> None:
    """Converts an ONNX file to ``.mnn``; see `convert`."""
    convert(source, target, "ONNX", options)
