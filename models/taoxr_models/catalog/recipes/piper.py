"""Piper (VITS) voices: the ONNX model with the frames per phoneme id as a second output.

VITS: Kim, Kong, Son 2021, "Conditional Variational Autoencoder with Adversarial Learning for
End-to-End Text-to-Speech". Its duration predictor ends in a `Ceil` (frames per id, 256 samples
each); that tensor is exact timing for lip synchronisation.
"""

import shutil
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from taoxr.engine import convert_onnx
from taoxr.errors import ModelError


def convert_piper(model: Path, config: Path, target: Path) -> None:
    """Writes ``voice.json`` and ``voice.mnn``.

    The latter takes ``input`` (int32 phoneme ids [1, n]), ``input_lengths`` (int32 [1]), ``scales``
    (float32 [3]: noise, length, duration noise) and gives ``output`` (samples) and ``durations``
    (float32 [1, 1, n]: frames of 256 samples per id).

    Args:
        model: The voice's ``.onnx``.
        config: Its ``.onnx.json``.
        target: Existing folder to write into.

    Raises:
        ModelError: The model has not exactly one `Ceil` node, or MNN refused it.
    """
    voice = onnx.ModelProto.FromString(model.read_bytes())
    ceils = [node for node in voice.graph.node if node.op_type == "Ceil"]
    if len(ceils) != 1:
        raise ModelError(f"{model.name} has {len(ceils)} Ceil nodes, expected the one of the durations")
    tensor = ceils[0].output[0]
    voice.graph.node.append(helper.make_node("Identity", [tensor], ["durations"], name="durations"))
    info = helper.make_tensor_value_info("durations", TensorProto.FLOAT, ["batch_size", 1, "phonemes"])
    voice.graph.output.append(info)
    prepared = target / "voice.onnx"
    prepared.write_bytes(voice.SerializeToString())
    convert_onnx(prepared, target / "voice.mnn")
    prepared.unlink()
    shutil.copyfile(config, target / "voice.json")
