"""Which format a model file has: told by the user, or by its name and its first bytes."""

from pathlib import Path
from typing import Final, Literal, get_args

from taoxr.errors import InvalidInputError

Format = Literal["onnx", "tf", "tflite", "caffe", "torchscript", "mnn", "gguf", "huggingface"]
LANGUAGE_MODELS: Final = ("gguf", "huggingface")
"""Formats that become a folder for MNN's language model engine."""

_SUFFIXES: Final[dict[str, Format]] = {
    ".onnx": "onnx",
    ".pb": "tf",
    ".tflite": "tflite",
    ".caffemodel": "caffe",
    ".pt": "torchscript",
    ".pth": "torchscript",
    ".torchscript": "torchscript",
    ".mnn": "mnn",
    ".gguf": "gguf",
}
# Where the first bytes are known: offset and content.
_MAGIC: Final[dict[str, tuple[int, bytes, str]]] = {
    "tflite": (4, b"TFL3", "a TensorFlow Lite file"),
    "gguf": (0, b"GGUF", "a GGUF file"),
    "torchscript": (0, b"PK\x03\x04", "a TorchScript file (a zip)"),
}


def detect(source: Path, given: Format | None = None) -> Format:
    """The format of a model.

    Args:
        source: A file, or the folder of a Hugging Face model.
        given: What the user says it is.

    Raises:
        InvalidInputError: It does not exist, is empty, is not what its name or the user says, or nothing
            tells.
    """
    if source.is_dir():
        if given in (None, "huggingface") and (source / "config.json").is_file():
            return "huggingface"
        expected = "a file, or a folder with the config.json of a Hugging Face model"
        if (source / "saved_model.pb").is_file():
            expected = "a frozen graph (.pb); a SavedModel must be frozen first, or exported with tf2onnx"
        raise InvalidInputError("SOURCE", str(source), expected)
    if not source.is_file():
        raise InvalidInputError("SOURCE", str(source), "a file that exists")
    if not source.stat().st_size:
        raise InvalidInputError("SOURCE", str(source), "a file with content; it is empty")
    found = given or _SUFFIXES.get(source.suffix.lower())
    if found is None:
        raise InvalidInputError(
            "--format", None, f"one of {', '.join(get_args(Format))}: the name does not tell"
        )
    if found in _MAGIC:
        offset, magic, name = _MAGIC[found]
        with source.open("rb") as file:
            start = file.read(offset + len(magic))
        if start[offset:] != magic:
            raise InvalidInputError("SOURCE", str(source), f"{name}; its first bytes are {start!r}")
    return found
