"""Trains the head: ``python -m taoxr_models.a2bs.training.train CORPUS TRUNK OUT [--steps N] [--seed S]``.

CORPUS is what `speak` made, TRUNK an ``.npz`` of `model.trunk_weights`. Runs on a GPU where there is one. The
same seed gives the same batches on one kind of device; sums differ in their last bits between devices.
"""

import argparse
import time
from pathlib import Path
from typing import Final

import click
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from taoxr_models.a2bs.articulation import TABLE
from taoxr_models.a2bs.training import targets, utterances
from taoxr_models.a2bs.training.batches import Batch, Speech
from taoxr_models.a2bs.training.model import Head, Trunk
from taoxr_models.a2bs.training.targets import N_CLASSES
from taoxr_models.a2bs.training.voices import TRAINED

SEED: Final = 8
STEPS: Final = 7000
ROWS: Final = 64
# Windows of the running product: 1.5 s live, more when much audio comes at once.
_FRAMES: Final = (75, 75, 75, 125, 250)
_RATE: Final = 2e-3
_AVERAGE: Final = 0.998
# Closed lips are seen at once when they are wrong.
_CLASS_WEIGHT: Final = {"p": 1.5, "f": 1.3}


def loss_of(said: Tensor, batch: Batch, class_weight: Tensor) -> Tensor:
    """Cross entropy of the sounds and squared error of the teacher's curves."""
    logits, rest = said[..., :N_CLASSES], said[..., N_CLASSES:]
    sounds = functional.cross_entropy(
        logits.transpose(1, 2), batch.classes, class_weight, reduction="none", label_smoothing=0.05
    )
    curves = (torch.sigmoid(rest[..., :-1]) - batch.controls) ** 2
    brow = (torch.sigmoid(rest[..., -1]) - batch.brow) ** 2
    per_frame = sounds + 4.0 * curves.sum(-1)
    total = (per_frame * batch.weight).sum() / batch.weight.sum()
    return total + 4.0 * (brow * batch.brow_weight).sum() / batch.brow_weight.sum().clamp(min=1.0)


def train(speech: Speech, trunk: Trunk, steps: int, seed: int) -> Head:
    """Fits a head; returns the running average of its weights."""
    torch.manual_seed(seed)
    device = speech.device
    head = Head().to(device)
    average = Head().to(device)
    average.load_state_dict(head.state_dict())
    optimiser = torch.optim.AdamW(head.parameters(), _RATE, weight_decay=2e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, _RATE, total_steps=steps, pct_start=0.05)
    weight = torch.tensor([_CLASS_WEIGHT.get(row.name, 1.0) for row in TABLE], device=device)
    sizes = np.random.default_rng(seed)
    began = time.monotonic()
    for step in range(steps):
        frames = int(sizes.choice(_FRAMES))
        with torch.no_grad():
            batch = speech.batch(max(8, ROWS * 75 // frames), frames)
            with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                features = trunk(batch.mel)
        loss = loss_of(head(features.float()), batch, weight)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        decay = min(_AVERAGE, (step + 1) / (step + 10))
        with torch.no_grad():
            for slow, fast in zip(average.parameters(), head.parameters(), strict=True):
                slow.lerp_(fast, 1.0 - decay)
        if step % 100 == 0 or step == steps - 1:
            click.echo(f"step {step} loss {loss.item():.3f} {time.monotonic() - began:.0f} s")
    return average.eval()


def main() -> None:
    """Trains and writes ``OUT``, an ``.npz`` of the head's arrays."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("trunk", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--without", nargs="*", default=[], help="engines or voices to leave out")
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    names = [n for n in TRAINED if not {n, n.split("-")[0]} & set(arguments.without)]
    speech = Speech({n: targets.timeline(utterances.load(arguments.corpus, n)) for n in names}, device)
    click.echo(f"{len(names)} voices, {len(speech.samples) / 16_000 / 60:.0f} minutes, {device}")
    with np.load(arguments.trunk) as arrays:
        trunk = Trunk(dict(arrays)).to(device)
    head = train(speech, trunk, arguments.steps, arguments.seed)
    np.savez(arguments.out, **{k: v.float().cpu().numpy() for k, v in head.state_dict().items()})


if __name__ == "__main__":
    main()
