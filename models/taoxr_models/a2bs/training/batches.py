"""Random windows of all voices, changed and labelled, as the network will meet them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from taoxr_models.a2bs.hearing import LEAST_LEVEL, normalised
from taoxr_models.a2bs.training import augment
from taoxr_models.a2bs.training.targets import FRAME, Targets

# Engines whose texts carry stress, from which the brow's target comes.
_STRESSED: Final = ("piper", "kokoro", "espeak")
# Frames at the right edge are never read; those at the left edge lack what came before.
_UNREAD: Final = 2
_UNSURE: Final = 25
_NEAR_A_CUT: Final = 8


@dataclass(frozen=True)
class Batch:
    """Windows and what the network shall say.

    Attributes:
        mel: [b, 80, 2 n] as Whisper takes it.
        classes: [b, n] rows of the table.
        controls: [b, n, controls].
        brow: [b, n].
        weight: [b, n] of the loss.
        brow_weight: [b, n].
    """

    mel: Tensor
    classes: Tensor
    controls: Tensor
    brow: Tensor
    weight: Tensor
    brow_weight: Tensor


class Speech:
    """All voices in one row on the device.

    Args:
        voices: Samples and targets by name.
        device: Where to train.
    """

    def __init__(
        self, voices: Mapping[str, tuple[NDArray[np.float32], Targets]], device: torch.device
    ) -> None:
        parts = list(voices.values())
        self.device = device
        self.samples = torch.from_numpy(np.concatenate([_levelled(s) for s, _ in parts])).to(device)
        self.classes = torch.from_numpy(np.concatenate([t.classes for _, t in parts])).long().to(device)
        self.controls = torch.from_numpy(np.concatenate([t.controls for _, t in parts])).to(device)
        self.brow = torch.from_numpy(np.concatenate([t.brow for _, t in parts])).to(device)
        self.stressed = torch.tensor([name.startswith(_STRESSED) for name in voices], device=device)
        lengths = torch.tensor([len(t.classes) for _, t in parts], device=device)
        self.ends = lengths.cumsum(0)
        self.starts = self.ends - lengths
        # Square roots: much speech of one voice shall not drown the others, nor little count too much.
        self.chances = lengths.double().sqrt()
        self.log_mel = augment.LogMel(device)

    def batch(self, rows: int, frames: int) -> Batch:
        """Draws ``rows`` windows of ``frames`` frames."""
        device = self.device
        voice = torch.multinomial(self.chances, rows, replacement=True)
        pace = torch.where(
            torch.rand(rows, device=device) < 0.6, torch.rand(rows, device=device) * 0.35 + 0.83, 1.0
        )[:, None]
        room = (self.ends[voice] - self.starts[voice]).double() - frames * 1.2 - 2
        start = self.starts[voice].double() + torch.rand(rows, device=device, dtype=torch.float64) * room
        start = start.floor()[:, None]
        at = start * FRAME + torch.arange(frames * FRAME, device=device) * pace.double()
        x = augment.stretch(self.samples, at)
        place = start + torch.arange(frames, device=device) * pace.double()
        near = place.round().long()
        low, part = place.floor().long(), (place - place.floor()).float()
        controls = self.controls[low] * (1 - part[..., None]) + self.controls[low + 1] * part[..., None]
        brow = self.brow[low] * (1 - part) + self.brow[low + 1] * part
        x, silent, weight = _silenced(x, frames)
        x, power = self._sound(x)
        level = self._level(power, silent.all(dim=1))
        k = torch.arange(frames, device=device)
        edge = torch.where(k < _UNSURE, 0.3, 1.0) * (k < frames - _UNREAD)
        weight = weight * edge
        speaking = ~silent
        return Batch(
            normalised(power, level[:, None, None]),
            self.classes[near] * speaking,
            controls * speaking[..., None],
            brow * speaking,
            weight,
            weight * self.stressed[voice][:, None],
        )

    def _sound(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Room, microphone and noise; then the spectrogram."""
        rows = len(x)
        changed = augment.microphone(augment.room(x))
        x = torch.where((torch.rand(rows, device=x.device) < 0.8)[:, None], changed, x)
        # Noise relative to a fixed level, so that silence gets it too.
        level = 0.08 * 10.0 ** (-augment.uniform(8.0, 50.0, rows, x) / 20.0)
        x = x + augment.noise_like(x) * level[:, None]
        hard = torch.rand(rows, device=x.device) < 0.1
        x = torch.where(hard[:, None], torch.tanh(x * 8.0) / 8.0, x)
        return x, self.log_mel.power(x)

    def _level(self, power: Tensor, silent: Tensor) -> Tensor:
        """What the automatic gain may think the speaker's level is, given what it heard before."""
        loudest = power.amax(dim=(1, 2))
        rows = len(loudest)
        usual = augment.uniform(-0.2, 0.5, rows, loudest)
        louder_before = augment.uniform(0.0, 2.0, rows, loudest)
        above = torch.where(torch.rand(rows, device=power.device) < 0.3, louder_before, usual)
        above = torch.where(silent, augment.uniform(-0.2, 4.0, rows, loudest), above)
        return (loudest + above).clamp(min=LEAST_LEVEL)


def _levelled(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    loud = samples[np.abs(samples) > 0.01]
    return samples * np.float32(0.08 / max(float(loud.std()), 1e-4))


def _silenced(x: Tensor, frames: int) -> tuple[Tensor, Tensor, Tensor]:
    """Cuts speech off: some windows are silent from or up to a random frame, some wholly."""
    rows = len(x)
    device = x.device
    k = torch.arange(frames, device=device)
    cut = (torch.rand(rows, device=device) * frames).long()[:, None]
    kind = torch.rand(rows, device=device)[:, None]
    silent = ((kind < 0.06) & (k < cut)) | ((kind > 0.94) & (k >= cut)) | ((kind > 0.06) & (kind < 0.12))
    whole = silent.all(dim=1, keepdim=True) | (~silent).all(dim=1, keepdim=True)
    weight = torch.where(~whole & ((k - cut).abs() < _NEAR_A_CUT), 0.0, 1.0)
    keep = (~silent).float()
    keep = torch.nn.functional.interpolate(keep[:, None], size=x.shape[1], mode="linear")[:, 0]
    return x * keep, silent, weight
