"""The GPU is reset in mid-frame, twice: everything on it is made anew, and the picture is right again.

Pretended, for software drivers never do that; see resetter.py.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
import viewing
from monado import Monado
from output import Output

from taoxr_runtime.render import View, reference
from taoxr_runtime.splats import Splats
from taoxr_runtime.xr.link import BACKGROUND_SRGB

pytestmark = pytest.mark.gl

MIN_PSNR = 35.0
SIZE = 64


def test_a_reset_of_the_gpu_is_told_and_survived(tmp_path: Path) -> None:
    file = tmp_path / "last.npz"
    with Monado() as monado:
        client = Output(
            monado.start([sys.executable, Path(__file__).with_name("resetter.py"), file, "3", "6"])
        )
        client.wait_for("first frame shown")
        for after in ("updated 4", "updated 7"):
            client.wait_for("the GPU was reset, by a fault or an update of its driver")
            client.wait_for("connected to Monado")
            client.wait_for(after)
        client.wait_for("saved")
        client.wait_for("8 frames")  # the two in which the context was lost were never shown
        assert client.process.wait(30) == 0, client.text
    assert client.text.count("first frame shown") == 1
    with np.load(file) as last:
        splats = Splats(last["means"], last["covariances"], last["opacities"], last["colors"])
        view = View(last["world_to_view"], last["projection"], SIZE, SIZE)
        order = reference.back_to_front(splats.means, view.position)
        background = np.ones((SIZE, SIZE, 4)) * (*BACKGROUND_SRGB, 1)
        wanted = reference.render(splats, view, order, background)[..., :3]
        assert np.abs(wanted - BACKGROUND_SRGB).max() > 0.3, "the avatar is in sight"
        assert viewing.psnr(last["pictures"][0], wanted) >= MIN_PSNR
        assert np.isfinite(last["distances"]).any(axis=(1, 2)).all()


def test_a_gpu_that_is_reset_before_each_picture_is_given_up(tmp_path: Path) -> None:
    with Monado() as monado:
        resetter = Path(__file__).with_name("resetter.py")
        done = monado.run(
            [sys.executable, resetter, tmp_path / "none.npz", *(f"d{n}" for n in range(2, 9))], timeout=120
        )
    assert done.returncode != 0
    assert "ContextLostError: the GPU was reset" in done.stdout
    assert done.stdout.count("what was on it is made anew") == 2
