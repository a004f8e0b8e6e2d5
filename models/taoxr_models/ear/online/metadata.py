"""What a transducer's files say about themselves: sizes that the decoding loop needs.

Exporters store them as strings in the ONNX file; the converter carries them into the ``.mnn``, from where
`taoxr.engine.probe` reads them. A sidecar, ``model.json``, stands in where they got lost on the way, and wins
where it contradicts::

    {"encoder": {"model_type": "zipformer2", "T": "45", ...}, "decoder": {...}, "joiner": {...}}
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from taoxr.errors import ModelError

SIDECAR: Final = "model.json"

Strings = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Metadata:
    """Sizes of a streaming zipformer transducer.

    Attributes:
        model_type: ``"zipformer"`` or ``"zipformer2"``.
        window: Feature frames of one encoder call (the exporters' ``T``).
        shift: Frames from one call to the next (``decode_chunk_len``); the rest of the window is look-ahead.
        context_size: Tokens that the decoder sees.
        vocab_size: Tokens there are.
    """

    model_type: str
    window: int
    shift: int
    context_size: int
    vocab_size: int


def read_sidecar(folder: Path) -> dict[str, Strings]:
    """The sidecar of a folder by part; empty if there is none.

    Raises:
        ModelError: It is no JSON object of objects.
    """
    path = folder / SIDECAR
    if not path.is_file():
        return {}
    try:
        parts: Any = json.loads(path.read_text(encoding="utf-8"))
        return {str(part): {str(k): str(v) for k, v in values.items()} for part, values in parts.items()}
    except (ValueError, AttributeError) as error:
        raise ModelError(f"{path}: expected a JSON object with an object per model file ({error})") from error


def write_sidecar(folder: Path, **sources: Path) -> None:
    """Writes the metadata of ONNX files as a folder's sidecar.

    Args:
        folder: Where to.
        sources: ONNX file by part: ``encoder``, ``decoder``, ``joiner``.
    """
    import onnx  # takes half a second; recognising needs it not

    parts: dict[str, dict[str, str]] = {}
    for part, path in sources.items():
        model = onnx.ModelProto.FromString(path.read_bytes())
        parts[part] = {p.key: p.value for p in model.metadata_props}
    (folder / SIDECAR).write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")


def parse(encoder: Strings, decoder: Strings, where: str) -> Metadata:
    """Checks the strings.

    Args:
        encoder: Metadata of the encoder.
        decoder: Metadata of the decoder.
        where: The folder, for errors.

    Raises:
        ModelError: Something is missing or wrong, or the model is of another kind.
    """
    kind = encoder.get("model_type", "")
    if kind not in ("zipformer", "zipformer2"):
        raise ModelError(
            f"{where}: encoder metadata `model_type` is {kind!r}, expected 'zipformer' or 'zipformer2'"
            + ("" if kind else f"; the file carries none: give them in {SIDECAR}")
        )
    if encoder.get("feature"):
        raise ModelError(
            f"{where}: encoder wants {encoder['feature']!r} features; only Kaldi's are supported"
        )

    def number(strings: Strings, part: str, name: str) -> int:
        text = strings.get(name, "")
        if not text.isdecimal() or int(text) < 1:
            raise ModelError(f"{where}: {part} metadata `{name}` is {text!r}, expected a number above 0")
        return int(text)

    window, shift = number(encoder, "encoder", "T"), number(encoder, "encoder", "decode_chunk_len")
    if shift > window:
        raise ModelError(
            f"{where}: encoder metadata `decode_chunk_len` is {shift}, expected at most `T`, {window}"
        )
    return Metadata(
        kind,
        window,
        shift,
        number(decoder, "decoder", "context_size"),
        number(decoder, "decoder", "vocab_size"),
    )
