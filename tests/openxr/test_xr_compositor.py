"""What the compositor makes of our pictures, as its own window shows it, against the NumPy reference."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import viewing
from monado import Monado, Placed
from scenes import ball, person
from viewing import eyes, looking, turn

pytestmark = pytest.mark.gl

Note = Callable[[str, object], None]

MIN_PSNR = 35.0
HALF = (480, 540)
"""Size of each eye's half of the window: pictures of this size are shown pixel by pixel."""
DISPLAY = (-0.741764903, 0.741764903, 0.7787635922, -0.7787635922)
"""Field of view of the window's halves: that of the simulated device, whatever the eyes are told to have."""
HEAD = Placed(turn("z", 30), (0.3, 1.45, 0.1))
ASYMMETRIC = eyes((-0.6, 0.5, 0.6, -0.65), (-0.5, 0.6, 0.55, -0.6))


@pytest.fixture(scope="module")
def monado() -> Iterator[Monado]:
    with Monado(picture=True) as running:
        yield running


@pytest.fixture(scope="module")
def wanted() -> list[np.ndarray]:
    return viewing.expected(person(), HEAD, eyes(DISPLAY, DISPLAY), HALF)


def shown(monado: Monado, wanted: list[np.ndarray], parts: list[tuple[slice, slice]]) -> float:
    """PSNR of the window's halves; of the best of some looks, for a frame is shown a little later."""
    best = 0.0
    end = time.monotonic() + 10
    while best < MIN_PSNR and time.monotonic() < end:
        halves = zip(monado.screenshot(), wanted, parts, strict=True)
        best = max(best, min(viewing.psnr(half[part], want[part]) for half, want, part in halves))
    return best


@pytest.mark.parametrize(
    ("binding", "format", "layers"),
    [
        ("egl", "srgb8", 1),
        ("egl", "rgba8", 1),
        ("egl", "rgba16f", 2),
        ("glx", "srgb8", 1),
        ("glx", "rgba8", 2),
    ],
)
def test_the_compositor_shows_the_reference(
    monado: Monado,
    wanted: list[np.ndarray],
    tmp_path: Path,
    record_property: Note,
    binding: str,
    format: str,
    layers: int,
) -> None:
    with looking(monado, tmp_path, size=HALF, binding=binding, format=format, layers=layers) as client:
        shot = client.look(HEAD, eyes(DISPLAY, DISPLAY))
        best = shown(monado, wanted, [np.s_[:, :]] * 2)
    drawn = min(viewing.psnr(*pair) for pair in zip(shot["pictures"], wanted, strict=True))
    record_property("psnr", {"drawn": drawn, "shown": best})
    assert drawn >= MIN_PSNR
    assert best >= MIN_PSNR


def test_the_compositor_places_asymmetric_pictures(
    monado: Monado, wanted: list[np.ndarray], tmp_path: Path, record_property: Note
) -> None:
    """Another field of view than the display's: the avatar stays where it is."""
    with looking(monado, tmp_path, size=HALF) as client:
        client.look(HEAD, ASYMMETRIC)
        best = shown(monado, wanted, [inside(eye.angles) for eye in ASYMMETRIC])
    record_property("psnr", best)
    assert best >= MIN_PSNR


def test_depth_beside_the_picture_changes_nothing_of_it(monado: Monado, tmp_path: Path) -> None:
    with looking(monado, tmp_path, scene="ball", size=HALF) as client:
        shot = client.look(HEAD, eyes(DISPLAY, DISPLAY))
        best = shown(monado, viewing.expected(ball(), HEAD, eyes(DISPLAY, DISPLAY), HALF), [np.s_[:, :]] * 2)
    assert np.isfinite(shot["distances"]).any()
    assert best >= MIN_PSNR


def inside(angles: tuple[float, float, float, float]) -> tuple[slice, slice]:
    """Rows and columns of a half that the picture covers, two pixels from its edges."""
    tangents, display = np.tan(angles), np.tan(DISPLAY)
    columns = (tangents[:2] / display[:2] * (-1, 1) + 1) / 2 * HALF[0]
    rows = (tangents[2:] / display[2:] * (-1, 1) + 1) / 2 * HALF[1]
    (left, right), (top, bottom) = ((int(np.ceil(low)) + 2, int(high) - 2) for low, high in (columns, rows))
    return slice(top, bottom), slice(left, right)
