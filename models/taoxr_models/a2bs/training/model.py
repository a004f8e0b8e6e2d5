"""The network in PyTorch: Whisper's frozen trunk and the head that is trained on it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from taoxr_models.a2bs.training.targets import N_CLASSES, N_CONTROLS

WIDTH: Final = 384
HEADS: Final = 6
BLOCKS: Final = 2
CHANNELS: Final = 112
DILATIONS: Final = (1, 2, 4, 8, 1)
OUTPUTS: Final = N_CLASSES + N_CONTROLS + 1


class Trunk(nn.Module):
    """Whisper's convolutions and first blocks (Radford et al., 2022), frozen.

    Args:
        weights: Arrays by CTranslate2's names, from `trunk_weights`.
    """

    def __init__(self, weights: Mapping[str, Any]) -> None:
        super().__init__()
        for name, array in weights.items():
            self.register_buffer(_plain(name), torch.from_numpy(np.asarray(array, np.float32)))

    def _of(self, name: str) -> Tensor:
        return self.get_buffer(_plain(name))

    def forward(self, mel: Tensor) -> Tensor:
        """[b, 80, 2 n] to [b, n, width]."""
        x = functional.gelu(
            functional.conv1d(mel, self._of("conv1/weight"), self._of("conv1/bias"), padding=1)
        )
        x = functional.gelu(
            functional.conv1d(x, self._of("conv2/weight"), self._of("conv2/bias"), stride=2, padding=1)
        )
        x = x.transpose(1, 2)
        x = x + self._of("position_encodings/encodings")[: x.shape[1]]
        for block in range(BLOCKS):
            x = x + self._attend(x, f"layer_{block}/self_attention")
            name = f"layer_{block}/ffn"
            y = functional.gelu(self._dense(self._norm(x, f"{name}/layer_norm"), f"{name}/linear_0"))
            x = x + self._dense(y, f"{name}/linear_1")
        return x

    def _attend(self, x: Tensor, name: str) -> Tensor:
        b, n, _ = x.shape
        wide = self._dense(self._norm(x, f"{name}/layer_norm"), f"{name}/linear_0")
        q, k, v = wide.view(b, n, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v)
        return self._dense(y.transpose(1, 2).reshape(b, n, WIDTH), f"{name}/linear_1")

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return functional.layer_norm(x, (WIDTH,), self._of(f"{name}/gamma"), self._of(f"{name}/beta"))

    def _dense(self, x: Tensor, name: str) -> Tensor:
        return functional.linear(x, self._of(f"{name}/weight"), self._of(f"{name}/bias"))


def _plain(name: str) -> str:
    return name.replace("/", "__")


def trunk_weights(model: Path) -> dict[str, Any]:
    """The trunk's arrays of a CTranslate2 Whisper, float16."""
    from taoxr_models.catalog.recipes import ct2

    variables = ct2.read(model, "WhisperSpec")
    prefix = "encoder/"
    wanted = ("conv", "position", *(f"layer_{i}/" for i in range(BLOCKS)))
    return {
        name.removeprefix(prefix): np.array(array, np.float16)
        for name, array in variables.items()
        if name.startswith(prefix)
        and name.removeprefix(prefix).startswith(wanted)
        and name.endswith(("weight", "bias", "gamma", "beta", "encodings"))
    }


class Head(nn.Module):
    """Temporal convolutions over the trunk's features: about 250 thousand parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.enter = nn.Conv1d(WIDTH, CHANNELS, 1)
        self.layers = nn.ModuleList(
            nn.Conv1d(CHANNELS, CHANNELS, 3, dilation=d, padding=d) for d in DILATIONS
        )
        self.leave = nn.Conv1d(CHANNELS, OUTPUTS, 1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, features: Tensor) -> Tensor:
        """[b, n, width] to [b, n, outputs]: logits of classes, of controls, and of the brow."""
        x = self.norm(features).transpose(1, 2)
        x = functional.relu(self.enter(x))
        for layer in self.layers:
            x = x + functional.relu(layer(self.dropout(x)))
        return self.leave(x).transpose(1, 2)
