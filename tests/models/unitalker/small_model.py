"""Makes a small ``audio2verts.mnn`` with UniTalker-MNN's interface: [1, T] samples to [N, 53] at 25 fps.

``python tests/models/unitalker/small_model.py FOLDER``. As in wav2vec, rows are fewer than 25 a second (249
for 10 s). The jaw opens with loudness; the expressions are random functions of the sound.
"""

import sys
from pathlib import Path

import numpy as np

from taoxr.engine import convert_onnx
from taoxr_models.catalog.recipes.onnx_graph import OnnxGraph

CHANNELS = 24


def make(folder: Path) -> Path:
    """Writes ``audio2verts.mnn``; the folder is made if missing."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(7)
    g = OnnxGraph("audio2verts")
    x = g.op("Unsqueeze", g.input("audio", [1, "T"]), g.integers(1))

    def conv(x: str, weight: np.ndarray, stride: int, groups: int = 1) -> str:
        return g.op("Conv", x, g.constant(weight.astype(np.float32)), strides=[stride], group=groups)

    # Band-passed samples, then their loudness: 400 samples every 320, as wav2vec's strides multiply to.
    t = np.arange(64) / 16000
    hz = np.geomspace(150, 6000, CHANNELS)[:, None]
    bands = np.cos(2 * np.pi * hz * t + random.uniform(0, 6, (CHANNELS, 1))) * np.hanning(64) / 16
    y = g.op("Abs", conv(x, bands[:, None], 16))
    y = conv(y, np.full((CHANNELS, 1, 22), 1 / 22), 20, CHANNELS)
    y = g.op("Tanh", conv(y, random.standard_normal((CHANNELS, CHANNELS, 2)) * 0.4, 2))
    rows = np.zeros((53, CHANNELS, 1))
    rows[:50, :, 0] = random.standard_normal((50, CHANNELS)) * 0.2
    loud = g.op("ReduceMean", y, axes=[1], keepdims=1)
    expression = conv(y, rows, 1)
    jaw = np.zeros((53, 1, 1))
    jaw[50, 0, 0], jaw[51, 0, 0] = 0.5, 0.05
    opened = conv(g.op("Abs", loud), jaw, 1)
    out = g.op("Transpose", g.op("Add", expression, opened), perm=[0, 2, 1])
    g.output("verts", g.op("Squeeze", out, g.integers(0)), ["N", 53])
    g.save(folder / "audio2verts.onnx")
    convert_onnx(folder / "audio2verts.onnx", folder / "audio2verts.mnn")
    return folder


if __name__ == "__main__":
    make(Path(sys.argv[1]))
