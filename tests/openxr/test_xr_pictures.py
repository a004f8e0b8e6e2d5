"""What both eyes are shown, against the NumPy reference from the poses that the test gave the headset."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import viewing
from monado import Monado, Placed
from scenes import BALL, person
from viewing import IPD, START, Looker, eyes, looking, turn

pytestmark = pytest.mark.gl

Note = Callable[[str, object], None]

MIN_PSNR = 35.0
SIZE = (176, 160)
ASYMMETRIC = eyes((-0.9, 0.6, 0.8, -0.85), (-0.55, 0.8, 0.7, -0.9))

POSES = {
    "start": (START, eyes()),
    "turned": (Placed(turn("y", 20), START.position), eyes()),
    "moved": (Placed(turn("x", -12), (0.6, 1.3, -0.1)), eyes()),
    "rolled": (Placed(turn("z", 30), START.position), eyes()),
    "asymmetric": (Placed(turn("y", -8), (0.1, 1.5, 0.2)), ASYMMETRIC),
}


@pytest.fixture(scope="module")
def monado() -> Iterator[Monado]:
    with Monado() as running:
        yield running


@pytest.fixture(scope="module")
def looker(monado: Monado, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Looker]:
    with looking(monado, tmp_path_factory.mktemp("looker"), size=SIZE) as client:
        yield client


@pytest.mark.parametrize("pose", POSES)
def test_pictures_equal_the_reference(looker: Looker, pose: str, record_property: Note) -> None:
    head, settings = POSES[pose]
    shot = looker.look(head, settings)
    assert str(shot["state"]) == "FOCUSED"
    assert str(shot["space"]) == "STAGE"
    np.testing.assert_allclose(shot["angles"], [eye.angles for eye in settings], atol=1e-6)
    wanted = viewing.expected(person(), head, settings, SIZE)
    found = [viewing.psnr(*pair) for pair in zip(shot["pictures"], wanted, strict=True)]
    record_property("psnr", found)
    assert min(found) >= MIN_PSNR
    # The comparison would notice the wrong eye.
    assert viewing.psnr(shot["pictures"][0], wanted[1]) < MIN_PSNR


def test_the_avatar_stands_in_front_on_the_floor(looker: Looker) -> None:
    shot = looker.look(START, eyes())
    np.testing.assert_allclose(shot["model"], viewing.model(START), atol=1e-5)


@pytest.mark.parametrize(("format", "layers"), [("rgba8", 2), ("rgba16f", 1), ("srgb8", 2), ("auto", "auto")])
def test_formats_and_layers(
    monado: Monado, tmp_path: Path, record_property: Note, format: str, layers: int | str
) -> None:
    head, settings = POSES["asymmetric"]
    with looking(monado, tmp_path, size=SIZE, format=format, layers=layers) as client:
        shot = client.look(head, settings)
    wanted = viewing.expected(person(), head, settings, SIZE)
    found = [viewing.psnr(*pair) for pair in zip(shot["pictures"], wanted, strict=True)]
    record_property("psnr", found)
    assert min(found) >= MIN_PSNR


def test_disparity_has_the_right_sign_and_size(monado: Monado, tmp_path: Path) -> None:
    with looking(monado, tmp_path, scene="ball", size=SIZE) as client:
        shot = client.look(START, eyes())
    background = np.rint(np.array(viewing.BACKGROUND_SRGB) * 255)
    weight = np.abs(shot["pictures"] - background).sum(axis=-1)
    columns = (weight * (np.arange(SIZE[0]) + 0.5)).sum(axis=(1, 2)) / weight.sum(axis=(1, 2))
    focal = SIZE[0] / (2 * np.tan(0.7))
    disparity = focal * IPD / (1.5 - BALL[2])
    assert columns[0] - columns[1] == pytest.approx(disparity, abs=0.1)
    assert columns.mean() - SIZE[0] / 2 == pytest.approx(focal * BALL[0] / (1.5 - BALL[2]), abs=0.1)


def test_the_trigger_is_the_key_to_talk(monado: Monado, looker: Looker) -> None:
    right = monado.remote.state.right
    right.trigger, right.trigger_click = 1.0, True
    monado.remote.send()
    looker.wait_for("talk")
    right.trigger, right.trigger_click = 0.0, False
    monado.remote.send()
    looker.wait_for("quiet")
