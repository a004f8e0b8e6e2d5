"""The demo's window under a real X server."""

import sys

import numpy as np
import pytest
from PIL import ImageGrab

from taoxr.errors import UnavailableError
from taoxr_runtime.demo.preview import Preview, has_display
from taoxr_runtime.render import OffscreenRenderer, View
from taoxr_runtime.splats import Splats

pytestmark = pytest.mark.gl


def test_shows_pictures_between_those_that_are_drawn(display: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", display)
    assert has_display()
    picture = np.zeros((120, 200, 3), np.uint8)
    picture[:60], picture[60:, 100:] = (200, 30, 10), (0, 90, 220)
    splats = Splats.isotropic(np.zeros((1, 3), np.float32), 0.1, 1.0, np.ones(3, np.float32))
    view = View.from_pose((0, 0, 1), (0, 0, 0, 1), (-0.5, 0.5, 0.5, -0.5), (32, 32))
    with OffscreenRenderer() as renderer, Preview(200, 120) as preview:
        before = renderer.render(splats, [view])[0]
        assert preview.show(picture)
        assert np.array_equal(renderer.render(splats, [view])[0], before)
        assert preview.show(picture)
        shown = np.asarray(ImageGrab.grab(xdisplay=display).convert("RGB"))
    rows, columns = np.nonzero((shown == (200, 30, 10)).all(axis=2))
    top, left = rows.min(), columns.min()
    assert np.array_equal(shown[top : top + 120, left : left + 200], picture)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there always is a display")
def test_a_display_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    assert not has_display()
    monkeypatch.setenv("DISPLAY", ":987")
    with pytest.raises(UnavailableError, match="display cannot be used"):
        Preview(64, 64)
