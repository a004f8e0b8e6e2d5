"""The avatar over another OpenXR app: two real clients at once, and what the compositor shows of them."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import viewing
from monado import Monado
from other_app import GREEN
from output import Output
from scenes import person
from viewing import START, eyes

from taoxr.errors import UnavailableError
from taoxr_runtime.render import View, perspective_from_angles, reference
from taoxr_runtime.xr import runtime
from taoxr_runtime.xr.environment import Surroundings

pytestmark = pytest.mark.gl

HERE = Path(__file__).parent
MIN_PSNR = 35.0
HALF = (480, 540)
DISPLAY = (-0.741764903, 0.741764903, 0.7787635922, -0.7787635922)
"""See test_xr_compositor.py."""
PATIENCE_S = 60.0


@contextmanager
def client(monado: Monado, name: str) -> Iterator[Output]:
    """A client, in which the validation layer finds no fault."""
    process = monado.start([sys.executable, HERE / name], stdin=subprocess.PIPE)
    try:
        output = Output(process)
        yield output
        assert process.stdin is not None
        process.stdin.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0, output.text
    finally:
        process.kill()
        process.wait()
    assert monado.check(), "the layer was not there"
    assert "VALID_ERROR" not in output.text


def light(srgb: np.ndarray) -> np.ndarray:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def encoded(linear: np.ndarray) -> np.ndarray:
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def over(behind: tuple[int, int, int]) -> list[np.ndarray]:
    """For each eye the person over a colour, as light is mixed: float64 [H, W, 3], sRGB."""
    splats, pictures = person(), []
    for eye in eyes(DISPLAY, DISPLAY):
        place = viewing.matrix(START) @ viewing.matrix(eye.pose)
        left, right, up, down = eye.angles
        look = np.linalg.inv(place) @ viewing.model(START)
        view = View(look, perspective_from_angles(left, right, up, down), *HALF)
        middle = np.linalg.inv(viewing.model(START)) @ np.append(START.position, 1)
        drawn = reference.render(splats, view, reference.back_to_front(splats.means, middle[:3]))
        alpha = drawn[..., 3:]
        own = np.divide(drawn[..., :3], alpha, out=np.zeros_like(drawn[..., :3]), where=alpha > 0)
        mixed = alpha * light(own) + (1 - alpha) * light(np.array(behind) / 255)
        pictures.append(encoded(mixed))
    return pictures


def shown(monado: Monado, wanted: list[np.ndarray]) -> float:
    """PSNR of what the compositor shows; of the best of some looks, for a frame is shown a little later."""
    best, end = 0.0, time.monotonic() + 20
    while best < MIN_PSNR and time.monotonic() < end:
        best = max(best, min(viewing.psnr(*pair) for pair in zip(monado.screenshot(), wanted, strict=True)))
    return best


def frames(other: Output) -> int:
    """How many frames the other app has shown when it says so next."""
    found = re.search(r"shown (\d+)", other.wait_for(r"shown \d+ "))
    assert found is not None
    return int(found[1])


def test_the_avatar_stands_in_front_of_another_app(tmp_path: Path, record_property) -> None:
    with Monado(picture=True) as monado:
        monado.remote.state.head, monado.remote.state.eyes = START, eyes(DISPLAY, DISPLAY)
        monado.remote.send()
        with client(monado, "other_app.py") as other:
            other.wait_for("shown [1-9].* FOCUSED", PATIENCE_S)
            with client(monado, "assistant.py") as assistant:
                assistant.wait_for("main app visible: True", PATIENCE_S)
                assistant.wait_for("first frame", PATIENCE_S)
                both, alone = over(GREEN), over((0, 0, 0))
                found = shown(monado, both)
                record_property("psnr", found)
                assert found >= MIN_PSNR
                beside = monado.screenshot()[0][20:60, 20:60]
                assert np.abs(beside - np.array(GREEN)).max() <= 2, "the other app is seen beside it"
                # The other app goes on, and keeps the user's hands to itself.
                right = monado.remote.state.right
                right.trigger, right.trigger_click = 1.0, True
                monado.remote.send()
                before = frames(other)
                assert frames(other) > before
                assert other.process.stdin is not None
                other.process.stdin.close()
                assistant.wait_for("main app visible: False", PATIENCE_S)
                assert other.process.wait(PATIENCE_S) == 0
                left = shown(monado, alone)  # it stays, by itself
                record_property("psnr alone", left)
                assert left >= MIN_PSNR
            assert "talk" not in assistant.text
            assert re.search(r"\d+ frames", assistant.text)


def test_a_runtime_without_overlays_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of extensions is mocked: SteamVR's has no XR_EXTX_overlay."""
    monkeypatch.setattr(runtime, "extensions", lambda: {"XR_KHR_opengl_enable"})
    with pytest.raises(
        UnavailableError, match=r"it lacks XR_EXTX_overlay, as SteamVR does.*leave out --overlay"
    ):
        runtime.Runtime((), Surroundings(overlay=True))
