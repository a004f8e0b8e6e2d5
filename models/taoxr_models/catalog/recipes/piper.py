"""Piper (VITS) voices, cut where a sentence can be spoken piece by piece.

VITS: Kim, Kong, Son 2021, "Conditional Variational Autoencoder with Adversarial Learning for
End-to-End Text-to-Speech". One call of the whole model speaks a whole sentence, which is long to wait
for and long to be deaf to an interruption. So it becomes several:

- ``encoder.mnn``: phoneme ids to the mean and the scale of the latent of each, and its duration in
  frames, which is exact timing for lip synchronisation. Its noise comes from outside.
- ``flow1.mnn`` to ``flow4.mnn``: the couplings of the normalising flow over the latents, one per frame.
- ``decoder1.mnn`` and so on: the decoder (HiFi-GAN), cut in front of each upsampling. Its deep first
  layers see ten frames far and cost little, the last ones cost most and see a fifth of a frame.

All but the first are convolutions over time. ``parts.json`` has them in order and says how far each sees
(its margin): computed with that much of its input on both sides, a piece is what the whole sentence would
have there. The more parts, the less is computed twice at the borders of pieces.
"""

import json
import shutil
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import onnx
from onnx import TensorProto

from taoxr.engine import convert_onnx
from taoxr.errors import ModelError
from taoxr_models.catalog.recipes.onnx_cut import Graph, Part, Port
from taoxr_models.catalog.recipes.onnx_faster import faster


def convert_piper(model: Path, config: Path, target: Path) -> None:
    """Writes ``voice.json``, ``parts.json`` and the ``.mnn``.

    | part | inputs | outputs |
    |---|---|---|
    | encoder | ``input`` int32 [1, n] ids, ``input_lengths`` int32 [1], ``scales`` float32 [3] (unused, length, duration noise), ``noise`` float32 [1, 2, n] | ``mean``, ``log_scale`` [1, c, n], ``durations`` [1, 1, n] |
    | flow1 ... | ``x`` [1, c, t] | ``y`` [1, c, t] |
    | decoder1 ... | ``x`` [1, d, s] | ``y`` [1, e, u * s], of the last [1, 1, samples] |

    A voice of several speakers takes ``sid`` int32 [1] in the encoder, which then gives ``speaker``, an
    input of the parts that ``parts.json`` says.

    Args:
        model: The voice's ``.onnx``.
        config: Its ``.onnx.json``.
        target: Existing folder to write into.

    Raises:
        ModelError: It is no VITS as Piper exports it, or MNN refused a part.
    """  # noqa: E501  a table
    voice = Graph(onnx.ModelProto.FromString(model.read_bytes()))
    cut = _cut(voice)
    _convert(cut.encoder.serialized(), cut.encoder.name, target)
    described: dict[str, dict[str, int | bool]] = {}
    for part in cut.over_time:
        _convert(faster(part).serialized(), part.name, target)
        reach, speaker = part.reach, "speaker" in part.inputs
        described[part.name] = {"margin": reach.margin, "factor": reach.factor, "speaker": speaker}
    (target / "parts.json").write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
    shutil.copyfile(config, target / "voice.json")


@dataclass(frozen=True)
class _Cut:
    encoder: Part
    over_time: tuple[Part, ...]


def _cut(voice: Graph) -> _Cut:
    durations = _only(voice, "Ceil", 1, "of the durations")[0].output[0]
    ups = _only(voice, "ConvTranspose", 2, "of the decoder", or_more=True)
    in_time = voice.reached_from([durations])
    noises = {n.output[0] in in_time: n.output[0] for n in _only(voice, "RandomNormalLike", 2, "of noise")}
    if len(noises) != 2:
        raise ModelError("expected noise for the durations and noise for the latents")
    # latents = spread mean + noise * exp(spread log scale) * noise scale
    scaled = _follow(voice, noises[True], "Mul")
    latents = _follow(voice, _follow(voice, scaled, "Mul"), "Add")
    spread_mean = next(i for i in voice.producers[latents].input if voice.producers[i].op_type != "Mul")
    exponent = next(i for i in voice.producers[scaled].input if i != noises[True])
    mean = _before_spread(voice, spread_mean)
    log_scale = _before_spread(voice, voice.back(exponent, "Exp"))

    encoder_inputs = {name: Port(name, dims, TensorProto.INT64) for name, dims in _INTEGERS.items()}
    outputs = {"mean": mean, "log_scale": log_scale, "durations": durations}
    speaker: dict[str, Port] = {}
    if "sid" in voice.inputs:
        encoder_inputs["sid"] = Port("sid", [1], TensorProto.INT64)
        embedded = _follow(voice, "sid", "Gather")
        outputs["speaker"] = _follow(voice, embedded, "Unsqueeze")
        speaker = {"speaker": Port(outputs["speaker"], [1, "channels", 1])}
    encoder_inputs |= {"scales": Port("scales", [3]), "noise": Port(noises[False], [1, 2, "ids"])}

    z = _decoder_input(voice, ups[0].input[0])
    (audio,) = (n.output[0] for n in voice.nodes if n.output[0] == "output")

    def over_time(name: str, begin: str, end: str) -> Part:
        part = voice.part(name, {"x": Port(begin, [1, "channels", "time"])} | speaker, {"y": end})
        taken = {tensor for node in part.nodes for tensor in node.input}
        return replace(part, inputs={name: port for name, port in part.inputs.items() if name in taken})

    # A coupling changes one half of the channels and ends by joining it to the other.
    flow = over_time("flow", latents, z)
    ends = [n.output[0] for n in flow.nodes if n.op_type == "Concat" and _axis(n) == 1][:-1]
    # A block of the decoder begins where it upsamples.
    blocks = [z, *(up.input[0] for up in ups[1:]), audio]
    parts = [
        *(over_time(f"flow{i}", *span) for i, span in enumerate(pairwise([latents, *ends, z]), 1)),
        *(over_time(f"decoder{i}", *span) for i, span in enumerate(pairwise(blocks), 1)),
    ]
    return _Cut(voice.part("encoder", encoder_inputs, outputs), tuple(parts))


_INTEGERS: Final = {"input": [1, "ids"], "input_lengths": [1]}


def _only(voice: Graph, kind: str, count: int, what: str, *, or_more: bool = False) -> list[onnx.NodeProto]:
    nodes = voice.of_kind(kind)
    if len(nodes) < count or (len(nodes) > count and not or_more):
        raise ModelError(f"the voice has {len(nodes)} {kind} nodes, expected {count} {what}")
    return nodes


def _axis(node: onnx.NodeProto) -> int:
    return next(attribute.i for attribute in node.attribute if attribute.name == "axis")


def _follow(voice: Graph, tensor: str, kind: str) -> str:
    """Output of the one node of a kind that takes a tensor."""
    nodes = [node for node in voice.consumers(tensor) if node.op_type == kind]
    if len(nodes) != 1:
        raise ModelError(f"{len(nodes)} {kind} nodes take {tensor}, expected 1")
    return nodes[0].output[0]


def _before_spread(voice: Graph, spread: str) -> str:
    """What was given per id, of a tensor that a matrix product has spread over the frames."""
    product = voice.producers[voice.back(spread, "Transpose")]
    if product.op_type != "MatMul":
        raise ModelError(f"{spread} comes from {product.op_type}, expected MatMul")
    return voice.back(product.input[1], "Transpose")


def _decoder_input(voice: Graph, tensor: str) -> str:
    """Input of the decoder's first convolution, seen from its first upsampling."""
    tensor = voice.back(tensor, "LeakyRelu")
    if voice.producers[tensor].op_type == "Add":  # several speakers
        tensor = voice.producers[tensor].input[0]
    return voice.back(tensor, "Conv")


def _convert(model: bytes, name: str, target: Path) -> None:
    prepared = target / f"{name}.onnx"
    prepared.write_bytes(model)
    convert_onnx(prepared, target / f"{name}.mnn")
    prepared.unlink()
