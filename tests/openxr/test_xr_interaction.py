"""Hands that carry the avatar, buttons, recentring, focus, and smaller pictures, on the real runtime."""

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import viewing
from monado import Controller, Monado, Placed
from PIL import Image
from scenes import person
from viewing import START, Looker, eyes, looking, matrix, turn

from taoxr_runtime.xr.controls import LONG_PRESS_S

pytestmark = pytest.mark.gl

Note = Callable[[str, object], None]

MIN_PSNR = 35.0
SIZE = (480, 540)
"""Of each eye's half of the compositor's window."""
DISPLAY = (-0.741764903, 0.741764903, 0.7787635922, -0.7787635922)
"""Field of view of the halves; see test_xr_compositor.py."""
EYES = eyes(DISPLAY, DISPLAY)
HAND = Placed(turn("x", -20), (0.4, 1.2, 0.1))
PATIENCE_S = 30.0


@pytest.fixture(scope="module")
def monado() -> Iterator[Monado]:
    with Monado(picture=True) as running:
        yield running


@pytest.fixture(scope="module")
def looker(monado: Monado, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Looker]:
    with looking(monado, tmp_path_factory.mktemp("looker"), size=SIZE) as client:
        yield client


@pytest.fixture
def controller(monado: Monado, looker: Looker) -> Iterator[Controller]:
    """The right one, at ``HAND``."""
    controller = monado.remote.state.right
    controller.pose = HAND
    yield controller
    controller.squeeze_force = controller.trigger = 0.0
    controller.a = controller.b = False
    felt(monado, looker)


@pytest.fixture
def right(monado: Monado, looker: Looker, controller: Controller) -> Controller:
    """The right controller at ``HAND``, and the avatar at its first place."""
    bring_back(monado, looker, controller, START)
    return controller


def bring_back(monado: Monado, looker: Looker, controller: Controller, head: Placed) -> None:
    """Hold the menu's button until the avatar is back before this head."""
    controller.b = True
    felt(monado, looker)
    looker.look(head, EYES)
    looker.look(head, EYES, later_s=LONG_PRESS_S + 0.1)
    controller.b = False
    felt(monado, looker)


def felt(monado: Monado, looker: Looker) -> None:
    """Send the controllers' state, and wait for a frame that has seen it."""
    x, y, z = START.position
    now = monado.remote.state.head.position
    aside = Placed(position=(x - 0.01 if now == (x, y, z) else x, y, z))
    looker.look(aside, EYES)  # it has arrived in this frame, if only after the hands were asked
    looker.look(aside, EYES)


def carried(hand: Placed, degrees: float) -> np.ndarray:
    """Where the avatar must stand after the hand went from ``HAND`` to here, turned by this about +Y."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    about = np.array([[cos, 0, sin], [0, 1, 0], [-sin, 0, cos]])
    start = viewing.model(START)
    result = np.eye(4)
    result[:3, :3] = about @ start[:3, :3]
    result[:3, 3] = np.array(hand.position) + about @ (start[:3, 3] - HAND.position)
    result[1, 3] = 0
    return result


def shown(monado: Monado, wanted: list[np.ndarray]) -> float:
    """PSNR of the window's halves; of the best of some looks, for a frame is shown a little later."""
    best, end = 0.0, time.monotonic() + 10
    while best < MIN_PSNR and time.monotonic() < end:
        best = max(best, min(viewing.psnr(*pair) for pair in zip(monado.screenshot(), wanted, strict=True)))
    return best


def test_a_hand_takes_the_avatar_and_carries_it(
    monado: Monado, looker: Looker, right: Controller, record_property: Note
) -> None:
    right.squeeze_force = 1.0
    monado.remote.send()
    looker.wait_for("right grabs")
    shot = looker.look(START, EYES, (None, HAND))
    np.testing.assert_allclose(shot["model"], viewing.model(START), atol=1e-5)

    # To the right and turned; the hand also goes up and nods, which must not show.
    about, nods = matrix(Placed(turn("y", -25))), matrix(Placed(turn("x", 35)))
    right.pose = Placed(quaternion(about @ matrix(Placed(HAND.orientation)) @ nods), (0.75, 1.5, -0.2))
    monado.remote.send()
    shot = looker.look(START, EYES, (None, right.pose))
    twist = twist_degrees(right.pose)
    stands = carried(right.pose, twist)
    np.testing.assert_allclose(shot["model"], stands, atol=1e-4)
    wanted = viewing.expected(person(), START, EYES, SIZE, stands)
    drawn = min(viewing.psnr(*pair) for pair in zip(shot["pictures"], wanted, strict=True))
    seen = shown(monado, wanted)
    record_property("psnr", {"drawn": drawn, "shown": seen, "twist": twist})
    assert min(drawn, seen) >= MIN_PSNR
    before = viewing.expected(person(), START, EYES, SIZE)
    assert viewing.psnr(shot["pictures"][0], before[0]) < 25, "the comparison sees that it moved"

    right.squeeze_force = 0.0
    monado.remote.send()
    looker.wait_for("right lets go")
    right.pose = HAND
    monado.remote.send()
    np.testing.assert_allclose(looker.look(START, EYES)["model"], stands, atol=1e-4)


def quaternion(rotation: np.ndarray) -> tuple[float, float, float, float]:
    """Of a turn by less than 180 degrees."""
    w = math.sqrt(1 + np.trace(rotation[:3, :3])) / 2
    x, y, z = (
        rotation[2, 1] - rotation[1, 2],
        rotation[0, 2] - rotation[2, 0],
        rotation[1, 0] - rotation[0, 1],
    )
    return (x / (4 * w), y / (4 * w), z / (4 * w), w)


def twist_degrees(hand: Placed) -> float:
    """How far a hand turned about +Y since ``HAND``: the turn about +Y that leaves the shortest way to go."""
    between = matrix(Placed(hand.orientation)) @ matrix(Placed(HAND.orientation)).T
    angle = math.atan2(between[0, 2] - between[2, 0], between[0, 0] + between[2, 2])
    return math.degrees(angle)


def test_both_hands_turn_it(monado: Monado, looker: Looker, right: Controller) -> None:
    left = monado.remote.state.left
    left.pose = Placed(position=(-0.2, 1.2, 0.1))
    for controller, name in ((right, "right"), (left, "left")):
        controller.squeeze_force = 1.0
        monado.remote.send()
        looker.wait_for(f"{name} grabs")
    shot = looker.look(START, EYES, (left.pose, HAND))
    np.testing.assert_allclose(shot["model"], viewing.model(START), atol=1e-5)
    left.pose, right.pose = Placed(position=(0.3, 1.2, 0.2)), Placed(position=(0.3, 1.1, -0.4))
    monado.remote.send()
    shot = looker.look(START, EYES, (left.pose, right.pose))
    left.squeeze_force = right.squeeze_force = 0.0
    monado.remote.send()
    stands = matrix(Placed(turn("y", 90), (0.2 + 0.2, 0.0, 0.4 - 1.5 - 0.2)))
    np.testing.assert_allclose(shot["model"], stands, atol=1e-4)


def test_buttons(monado: Monado, looker: Looker, controller: Controller) -> None:
    for button, said in (
        ("b", "captions False"),
        ("b", "captions True"),
        ("a", "muted True"),
        ("a", "muted False"),
    ):
        setattr(controller, button, True)
        felt(monado, looker)
        setattr(controller, button, False)
        monado.remote.send()
        looker.wait_for(said)


def test_a_long_press_and_recentring_bring_it_before_the_user(
    monado: Monado, looker: Looker, right: Controller
) -> None:
    there = Placed(turn("y", 90), (0.5, 1.6, 0.3))
    looker.look(there, EYES)
    np.testing.assert_allclose(looker.look(there, EYES)["model"], viewing.model(START), atol=1e-5)
    bring_back(monado, looker, right, there)
    ahead = matrix(Placed(turn("y", 90), (0.5 - 1.5, 0.0, 0.3)))
    np.testing.assert_allclose(looker.look(there, EYES)["model"], ahead, atol=1e-4)
    looker.look(START, EYES)
    monado.control("-c")
    end = time.monotonic() + PATIENCE_S
    while np.abs(looker.look(START, EYES)["model"] - viewing.model(START)).max() > 1e-4:
        assert time.monotonic() < end, "recentring did not bring it back"


def test_without_focus_it_is_drawn_and_let_go(monado: Monado, looker: Looker, right: Controller) -> None:
    """Monado never shows an app without giving it the focus; so the client pretends that it did."""
    right.squeeze_force, right.trigger = 1.0, 1.0
    monado.remote.send()
    looker.wait_for("right grabs")
    shot = looker.look(START, EYES, pretend="VISIBLE")  # no hand holds it
    wanted = viewing.expected(person(), START, EYES, SIZE)
    assert min(viewing.psnr(*pair) for pair in zip(shot["pictures"], wanted, strict=True)) >= MIN_PSNR
    looker.look(START, EYES, pretend="FOCUSED")  # what is still held does not count
    right.squeeze_force = right.trigger = 0.0
    felt(monado, looker)
    right.squeeze_force = 1.0
    monado.remote.send()
    looker.wait_for("right grabs")


def test_smaller_pictures_show_the_same(
    monado: Monado, looker: Looker, right: Controller, record_property: Note
) -> None:
    check_smaller(monado, looker, record_property)


@pytest.mark.slow
def test_smaller_layers_show_the_same(monado: Monado, tmp_path: Path, record_property: Note) -> None:
    with looking(monado, tmp_path, size=SIZE, layers=2) as client:
        check_smaller(monado, client, record_property)


def check_smaller(monado: Monado, looker: Looker, record_property: Note) -> None:
    scale = 0.6
    small = (round(SIZE[0] * scale), round(SIZE[1] * scale))
    head = Placed(turn("z", 20), (0.3, 1.5, 0.2))
    looker.look(START, EYES)  # leaves a large picture of something else around the small one
    shot = looker.look(head, EYES, scale=scale)
    rough = viewing.expected(person(), head, EYES, small)
    drawn = min(viewing.psnr(*pair) for pair in zip(shot["pictures"], rough, strict=True))
    seen = shown(monado, [enlarged(picture) for picture in rough])
    record_property("psnr", {"drawn": drawn, "shown": seen})
    assert min(drawn, seen) >= MIN_PSNR


def enlarged(picture: np.ndarray) -> np.ndarray:
    """To the size of a half of the window, bilinearly as the compositor does it, in light."""
    light = np.where(picture <= 0.04045, picture / 12.92, ((picture + 0.055) / 1.055) ** 2.4)
    channels = [
        np.asarray(Image.fromarray(light[..., n].astype(np.float32)).resize(SIZE, Image.Resampling.BILINEAR))
        for n in range(3)
    ]
    large = np.stack(channels, axis=-1)
    return np.where(large <= 0.0031308, 12.92 * large, 1.055 * large ** (1 / 2.4) - 0.055)
