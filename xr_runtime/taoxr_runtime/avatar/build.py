"""Builds an avatar: ``python -m taoxr_runtime.avatar.build -o OUT.nnr [--splats N] [--seed S]``."""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from . import anatomy, assemble, brows, clothes, container, eyes, face, hair, shoes, skin, stance
from .anatomy import Anatomy
from .character import Character
from .parts import SEGMENTS, Strands, Surface
from .pattern import Pattern

_HAIR_SHARE = 0.26


def parts(
    body: Anatomy, who: Character, splats: int, seed: int
) -> tuple[list[Surface], list[Strands], stance.Stance, face.Face]:
    """Makes every part with about ``splats`` splats in all."""
    rng = np.random.default_rng(seed)
    pose = stance.relaxed(body)
    found = face.find(body)
    pattern = Pattern(body)
    # Areas were tuned at about 330,000 surface splats; detail scales them to the wish.
    detail = 385_000 / (splats * (1 - _HAIR_SHARE))
    surface = skin.make(body, pose, found, who, pattern.hidden(), detail)
    cards = brows.lash_cards(body, pose)
    surfaces = [
        surface,
        *eyes.make(body, pose, found, who, detail),
        *eyes.teeth_and_tongue(body, pose, found, detail),
        *clothes.make(body, pose, who, pattern, detail),
        *shoes.make(body, pose, who, pattern, detail),
        cards,
    ]
    strands = [
        hair.make(body, found, who, surface, int(splats * _HAIR_SHARE / SEGMENTS), rng),
        brows.make(found, who, surface, rng),
        brows.lashes(body, found, cards),
    ]
    return surfaces, strands, pose, found


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m taoxr_runtime.avatar.build", description="Build an avatar (.nnr)."
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="OUT.nnr")
    parser.add_argument(
        "--splats", type=int, default=185_000, help="about how many Gaussians (default %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=7, help="of the strands' randomness (default %(default)s)"
    )
    options = parser.parse_args()
    if not 40_000 <= options.splats <= 900_000:
        parser.error(f"--splats is {options.splats}, expected 40000 to 900000")
    start = time.monotonic()
    who = Character()
    body = anatomy.load(who)
    surfaces, strands, pose, found = parts(body, who, options.splats, options.seed)
    scene = assemble.scene(body, pose, found, who, surfaces, strands)
    size = container.write(options.output, scene)
    for name, count in scene.counts.items():
        sys.stdout.write(f"{name:14} {count:8,}\n")
    total = sum(scene.counts.values())
    sys.stdout.write(
        f"{'all':14} {total:8,}  {size / 1e6:.2f} MB  {time.monotonic() - start:.1f} s  {options.output}\n"
    )


if __name__ == "__main__":
    main()
