"""Makes a small Piper voice with random weights: ``voice.onnx`` and ``voice.onnx.json``.

``python tests/models/voices/small_voice.py FOLDER [SPEAKERS] [RATE]``. Its graph has the shape of what Piper
exports
(VITS): encoder, duration predictor, path, flow and HiFi-GAN decoder, with the speaker's embedding added where
VITS adds it. What it says is noise, but the noise of each speaker is another.
"""

import json
import string
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto

from taoxr_models.catalog.recipes.onnx_graph import OnnxGraph

CHANNELS = 8
HOP = 256
UPS = (16, 16)
# Piper's ids of the letters and IPA symbols of English.
SYMBOLS = ["_", "^", "$", " ", "!", "'", ",", "-", ".", ":", ";", "?", *string.ascii_lowercase]
SYMBOLS += [
    *"æçðøħŋœɐɑɒɓɔɕɖɗɘəɚɛɜɞɟɡɢɣɤɥɦɧɨɪɫɬɭɮɯɰɱɲɳɴɵɶɸɹɺɻɽɾʀʁʂʃʄʈʉʊʋʌʍʎʏʐʑʒʔʕʘʙʛʜʝʟʡʢˈˌːˑ˞βθχᵻ",
    "\u0303",
    "\u0329",
]


def config(speakers: int, rate: int, **changes: Any) -> Mapping[str, Any]:
    """What stands in ``voice.onnx.json``; no noise, so that runs can be compared."""
    return {
        "audio": {"sample_rate": rate, "quality": "low"},
        "espeak": {"voice": "en-us"},
        "inference": {"noise_scale": 0.0, "length_scale": 1.0, "noise_w": 0.0},
        "phoneme_type": "espeak",
        "num_symbols": 256,
        "num_speakers": speakers,
        "speaker_id_map": {f"voice{i}": i for i in range(speakers)} if speakers > 1 else {},
        "phoneme_id_map": {symbol: [i] for i, symbol in enumerate(SYMBOLS)},
        "language": {"code": "en_US"},
        **changes,
    }


def make(folder: Path, speakers: int = 2, rate: int = 16000, **changes: Any) -> Path:
    """Writes the voice; the folder is made if missing."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(3)
    g = OnnxGraph("voice")
    ids = g.input("input", [1, "ids"], TensorProto.INT64)
    g.input("input_lengths", [1], TensorProto.INT64)
    scales = g.input("scales", [3])

    def weight(*shape: int) -> str:
        fan_in = max(1, int(np.prod(shape[1:])))
        return g.constant((random.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32))

    def scale(i: int) -> str:
        return g.op("Gather", scales, g.constant(np.array(i, np.int64)), axis=0)

    def conv(x: str, inputs: int, outputs: int, size: int, dilation: int = 1) -> str:
        pad = (size - 1) * dilation // 2
        return g.op(
            "Conv",
            x,
            weight(outputs, inputs, size),
            kernel_shape=[size],
            dilations=[dilation],
            pads=[pad, pad],
        )

    speaker = None
    if speakers > 1:
        sid = g.input("sid", [1], TensorProto.INT64)
        speaker = g.op("Unsqueeze", g.op("Gather", weight(speakers, CHANNELS), sid, axis=0), g.integers(2))

    def with_speaker(x: str, channels: int) -> str:
        return x if speaker is None else g.op("Add", x, conv(speaker, CHANNELS, channels, 1))

    table = random.standard_normal((256, CHANNELS)).astype(np.float32)
    embedded = g.op("Transpose", g.op("Gather", g.constant(table), ids, axis=0), perm=[0, 2, 1])
    hidden = g.op("Tanh", conv(embedded, CHANNELS, CHANNELS, 3))
    mean, log_scale = g.ops(
        "Split", 2, conv(hidden, CHANNELS, 2 * CHANNELS, 1), g.integers(CHANNELS, CHANNELS), axis=1
    )

    # Durations: about three frames an id.
    two = g.op("Slice", hidden, g.integers(0), g.integers(2), g.integers(1))
    noise = g.op("Mul", g.op("RandomNormalLike", two), scale(2))
    known = with_speaker(conv(hidden, CHANNELS, CHANNELS, 3), CHANNELS)
    log_w = g.op("Tanh", g.op("Add", conv(known, CHANNELS, 1, 1), conv(noise, 2, 1, 1)))
    three = g.constant(np.array(3, np.float32))
    w = g.op("Ceil", g.op("Mul", g.op("Mul", g.op("Exp", log_w), three), scale(1)))

    # Path [1, frames, ids]: 1 where a frame belongs to an id.
    ends = g.op("CumSum", w, g.constant(np.array(2, np.int64)))
    count = g.op("ReduceSum", w, g.integers(0, 1, 2), keepdims=0)
    zero, one = (g.constant(np.array(v, np.float32)) for v in (0, 1))
    frame = g.op("Unsqueeze", g.op("Range", zero, count, one), g.integers(0, 2))
    inside = g.op("And", g.op("GreaterOrEqual", frame, g.op("Sub", ends, w)), g.op("Less", frame, ends))
    path = g.op("Cast", inside, to=TensorProto.FLOAT)

    def spread(x: str) -> str:
        given = g.op("MatMul", path, g.op("Transpose", x, perm=[0, 2, 1]))
        return g.op("Transpose", given, perm=[0, 2, 1])

    mean, log_scale = spread(mean), spread(log_scale)
    noisy = g.op("Mul", g.op("RandomNormalLike", mean), g.op("Exp", log_scale))
    x = g.op("Add", mean, g.op("Mul", noisy, scale(0)))

    # Flow: one coupling.
    kept, changed = g.ops("Split", 2, x, g.integers(CHANNELS // 2, CHANNELS // 2), axis=1)
    shift = g.op("Tanh", with_speaker(conv(kept, CHANNELS // 2, CHANNELS, 5), CHANNELS))
    x = g.op("Concat", kept, g.op("Sub", changed, conv(shift, CHANNELS, CHANNELS // 2, 1)), axis=1)

    # Decoder.
    x = with_speaker(conv(x, CHANNELS, CHANNELS, 7), CHANNELS)
    for stride in UPS:
        x = g.op("LeakyRelu", x, alpha=0.1)
        size, pad = 2 * stride, stride // 2
        x = g.op(
            "ConvTranspose",
            x,
            weight(CHANNELS, CHANNELS, size),
            kernel_shape=[size],
            strides=[stride],
            pads=[pad, pad],
        )
        for dilation in (1, 3):
            inner = conv(g.op("LeakyRelu", x, alpha=0.1), CHANNELS, CHANNELS, 3, dilation)
            x = g.op("Add", x, inner)
    x = g.op("Tanh", conv(g.op("LeakyRelu", x, alpha=0.01), CHANNELS, 1, 7))
    g.output("output", x, [1, 1, "samples"])
    g.save(folder / "voice.onnx")
    text = json.dumps(config(speakers, rate, **changes), ensure_ascii=False)
    (folder / "voice.onnx.json").write_text(text, encoding="utf-8")
    return folder


if __name__ == "__main__":
    make(Path(sys.argv[1]), *(int(a) for a in sys.argv[2:4]))
