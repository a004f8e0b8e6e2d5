"""The head as MNN against NumPy, with random weights."""

from pathlib import Path

import numpy as np
import pytest

from taoxr.engine import Module, convert_onnx
from taoxr_models.a2bs.articulation import CONTROLS, TABLE
from taoxr_models.a2bs.training.export import head_graph

pytestmark = pytest.mark.parity

WIDTH, CHANNELS = 384, 112
DILATIONS = (1, 2, 4, 8, 1)
# Weights are stored in half precision.
TOLERANCE = 2e-3


def random_weights(rng: np.random.Generator) -> dict[str, np.ndarray]:
    shapes = {"norm.weight": (WIDTH,), "norm.bias": (WIDTH,), "enter": (CHANNELS, WIDTH, 1)}
    shapes |= {f"layers.{i}": (CHANNELS, CHANNELS, 3) for i in range(len(DILATIONS))}
    shapes["leave"] = (len(TABLE) + len(CONTROLS) + 1, CHANNELS, 1)
    weights: dict[str, np.ndarray] = {}
    for name, shape in shapes.items():
        if len(shape) == 1:
            weights[name] = rng.normal(1.0, 0.1, shape).astype(np.float32)
        else:
            weights[f"{name}.weight"] = rng.normal(0.0, 0.05, shape).astype(np.float32)
            weights[f"{name}.bias"] = rng.normal(0.0, 0.05, shape[0]).astype(np.float32)
    return weights


def convolve(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, dilation: int = 1) -> np.ndarray:
    """[n, in] to [n, out], zeros beyond the edges."""
    size = weight.shape[2]
    pad = dilation * (size // 2)
    padded = np.pad(x, ((pad, pad), (0, 0)))
    return bias + sum(padded[k * dilation : k * dilation + len(x)] @ weight[:, :, k].T for k in range(size))


def forward(w: dict[str, np.ndarray], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    x = x * w["norm.weight"] + w["norm.bias"]
    x = np.maximum(convolve(x, w["enter.weight"], w["enter.bias"]), 0.0)
    for i, dilation in enumerate(DILATIONS):
        x = x + np.maximum(convolve(x, w[f"layers.{i}.weight"], w[f"layers.{i}.bias"], dilation), 0.0)
    y = convolve(x, w["leave.weight"], w["leave.bias"])
    logits, curves = y[:, : len(TABLE)], y[:, len(TABLE) :]
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True), 1.0 / (1.0 + np.exp(-curves))


@pytest.mark.parametrize("frames", [75, 20])
def test_head(tmp_path: Path, frames: int) -> None:
    rng = np.random.default_rng(2)
    weights = random_weights(rng)
    head_graph(weights).save(tmp_path / "head.onnx")
    convert_onnx(tmp_path / "head.onnx", tmp_path / "head.mnn", ["--fp16"])
    x = rng.standard_normal((1, frames, WIDTH)).astype(np.float32)
    sounds, curves = Module(tmp_path / "head.mnn", ("x",), ("sounds", "curves")).run(x)
    wanted_sounds, wanted_curves = forward(weights, x[0].astype(np.float64))
    np.testing.assert_allclose(sounds[0], wanted_sounds, atol=TOLERANCE)
    np.testing.assert_allclose(curves[0], wanted_curves, atol=TOLERANCE)
