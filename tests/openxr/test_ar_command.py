"""`taoxr ar` as a whole, on Monado, with a real bridge."""

import sys
from pathlib import Path

import numpy as np
import pytest
from monado import Monado
from PIL import Image

pytestmark = pytest.mark.e2e

TAOXR = (
    "-c",
    "from taoxr.cli import main; main()",
    "ar",
    "--mic",
    "null",
    "--sound",
    "null",
    "--scale",
    "0.25",
)
PATIENCE_S = 240.0


@pytest.mark.slow
def test_without_a_view_of_the_room_it_stands_on_a_floor_and_says_so(
    real_bridge: str, tmp_path: Path
) -> None:
    """Monado has no way to show the room."""
    picture = tmp_path / "last.png"
    command = [sys.executable, *TAOXR, "--target", real_bridge, "--frames", "5", "--screenshot", str(picture)]
    with Monado() as monado:
        done = monado.run(command, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout
    assert "beside the avatar you see nothing" in done.stdout
    assert "your room stays hidden: this runtime offers the blend mode OPAQUE only" in done.stdout
    assert "it hears nothing" in done.stdout
    assert "5 frames" in done.stdout
    shown = np.asarray(Image.open(picture).convert("RGB"))
    assert shown.std() > 10


@pytest.mark.slow
def test_over_another_app_it_is_transparent(real_bridge: str, tmp_path: Path) -> None:
    picture = tmp_path / "last.png"
    command = [
        sys.executable, *TAOXR, "--overlay", "--target", real_bridge,
        "--frames", "5", "--screenshot", str(picture),
    ]  # fmt: skip
    with Monado() as monado:
        done = monado.run(command, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout
    assert "beside the avatar you see another app" in done.stdout
    shown = np.asarray(Image.open(picture).convert("RGB"))
    assert not shown[:5, :5].any(), "nothing is drawn beside the avatar"
    assert shown.max() > 100
