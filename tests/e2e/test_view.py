"""`taoxr view` as a user starts it: a question, the answer heard and shown, through all processes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PIL import Image

pytestmark = pytest.mark.e2e


def test_a_question_is_answered_in_the_window(display: str, real_bridge: str, tmp_path: Path) -> None:
    voice, shot = tmp_path / "voice.wav", tmp_path / "view.png"
    done = subprocess.run(
        [
            sys.executable, "-c", "from taoxr.cli import main; main()", "view",
            "--ask", "What is the capital of France?", "--sound", str(voice), "--size", "320x400",
            "--target", real_bridge, "--debug", "--screenshot", str(shot), "--once",
        ],
        env={**os.environ, "DISPLAY": display, "COLUMNS": "300"},
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "fps" in done.stderr
    sound, rate = soundfile.read(voice)
    loud = np.flatnonzero(np.abs(sound) > 0.02)
    assert (loud[-1] - loud[0]) / rate > 0.8
    image = np.asarray(Image.open(shot).convert("RGB")).astype(int)
    # The answer's colour, which nothing else in the picture has.
    amber = (np.abs(image - (255, 214, 140)).max(axis=2) < 40).sum()
    assert amber > 50
