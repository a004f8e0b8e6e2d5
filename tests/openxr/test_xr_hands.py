"""Keys, buttons, carrying and placing, without a runtime."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr_runtime.animation import rotation
from taoxr_runtime.xr.bindings import PROFILES
from taoxr_runtime.xr.carry import Carry
from taoxr_runtime.xr.controls import LONG_PRESS_S, Controls, Hand, Switch, Wishes
from taoxr_runtime.xr.placing import Placing
from taoxr_runtime.xr.poses import Pose, about_y, facing, in_front

pytestmark = pytest.mark.unit

FLOOR_Y = -0.3
NOBODY = (Hand(), Hand())
coordinate = st.floats(-3, 3)
angle = st.floats(-math.pi, math.pi)


@st.composite
def hands(draw: st.DrawFn) -> Pose:
    """A hand anywhere, turned anyhow."""
    turn = np.array([draw(st.floats(-1, 1)) for _ in range(4)])
    turn[3] += 1e-3
    turn /= np.linalg.norm(turn)
    return Pose(tuple(turn.tolist()), (draw(coordinate), draw(coordinate), draw(coordinate)))


@st.composite
def standing(draw: st.DrawFn) -> Pose:
    return Pose(about_y(draw(angle)), (draw(coordinate), FLOOR_Y, draw(coordinate)))


held = st.tuples(st.none() | hands(), st.none() | hands())


def heading(model: Pose) -> float:
    """Radians about +Y."""
    return 2 * math.atan2(model.orientation[1], model.orientation[3])


def apart(one: Pose, other: Pose) -> float:
    return float(np.abs(one.matrix - other.matrix).max())


@given(standing(), st.lists(held, max_size=8))
def test_the_avatar_stays_upright_on_the_floor(model: Pose, path: list) -> None:
    carry = Carry()
    for grips in path:
        model = carry.move(model, grips)
        assert model.position[1] == FLOOR_Y
        assert model.orientation[0] == model.orientation[2] == 0
        assert np.linalg.norm(model.orientation) == pytest.approx(1)


@given(standing(), st.lists(held, max_size=8))
def test_taking_hold_and_letting_go_never_move_the_avatar(model: Pose, path: list) -> None:
    carry, before = Carry(), (False, False)
    for grips in path:
        moved = carry.move(model, grips)
        holding = (grips[0] is not None, grips[1] is not None)
        if holding != before:
            assert moved == model
        before, model = holding, moved


@given(standing(), hands(), angle, coordinate, coordinate, coordinate)
def test_one_hand_carries_it_as_on_a_stick(
    model: Pose, hand: Pose, turn: float, x: float, y: float, z: float
) -> None:
    carry = Carry()
    carry.move(model, (hand, None))
    turned = rotation.multiply(np.array(about_y(turn)), np.array(hand.orientation))
    after = Pose(tuple(turned.tolist()), (x, y, z))
    moved = carry.move(model, (after, None))
    # Seen from the hand, on the floor, it is where it was.
    seen = [_seen_from(h, m, t) for h, m, t in ((hand, model, 0.0), (after, moved, turn))]
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-9)
    assert math.cos(heading(moved) - heading(model) - turn) == pytest.approx(1)
    # However it got there, back is back.
    assert apart(carry.move(moved, (hand, None)), model) < 1e-9


def _seen_from(hand: Pose, model: Pose, turn: float) -> np.ndarray:
    x, z = model.position[0] - hand.position[0], model.position[2] - hand.position[2]
    cos, sin = math.cos(-turn), math.sin(-turn)
    return np.array([cos * x + sin * z, cos * z - sin * x])


def test_two_hands_turn_it_where_it_stands() -> None:
    carry = Carry()
    model = Pose(about_y(0.4), (0.2, FLOOR_Y, -1.5))
    level = (0.0, 0.0, 0.0, 1.0)
    carry.move(model, (Pose(level, (-0.2, 1.2, -0.4)), Pose(level, (0.2, 1.2, -0.4))))
    moved = carry.move(model, (Pose(level, (0.1, 1.0, -0.1)), Pose(level, (0.1, 1.3, -0.5))))
    assert moved.position == pytest.approx((0.3, FLOOR_Y, -1.4))  # as far as the middle went
    assert heading(moved) == pytest.approx(0.4 + math.pi / 2)


def test_hands_one_above_the_other_carry_without_a_turn() -> None:
    carry = Carry()
    model = Pose(about_y(0.4), (0.2, FLOOR_Y, -1.5))
    level = (0.0, 0.0, 0.0, 1.0)
    carry.move(model, (Pose(level, (0, 1.0, 0)), Pose(level, (0.01, 1.4, 0))))
    moved = carry.move(model, (Pose(level, (0.3, 1.0, 0)), Pose(level, (0.3, 1.4, 0.02))))
    assert heading(moved) == pytest.approx(0.4)
    assert moved.position[0] == pytest.approx(0.2 + 0.295)


def test_a_hand_turned_over_goes_on_from_there() -> None:
    """Upside down, a turn about the vertical axis has no meaning: no jump, and it still follows."""
    carry = Carry()
    model = Pose(about_y(0.0), (0.0, FLOOR_Y, -1.5))
    over = (1.0, 0.0, 0.0, 0.0)
    carry.move(model, (Pose((0.0, 0.0, 0.0, 1.0), (0, 1, 0)), None))
    assert carry.move(model, (Pose(over, (0, 1, 0)), None)) == model
    assert carry.move(model, (Pose(over, (0.5, 1, 0)), None)).position == pytest.approx((0.5, FLOOR_Y, -1.5))


@given(st.lists(st.floats(0, 1)))
def test_a_key_does_not_chatter(values: list[float]) -> None:
    switch, steady = Switch(), Switch()
    for value in values:
        switch.update(value)
        down = switch.down
        for near in (0.45, 0.55, 0.5):
            assert not switch.update(near)
            assert switch.down == down
        steady.update(value)
        assert switch.down == steady.down


def press(controls: Controls, at: float, until: float, **hand: object) -> list[Wishes]:
    """Wishes while a hand does something, and after."""
    down = Hand(**hand)  # type: ignore[arg-type]
    times = np.linspace(at, until, 5)
    return [controls.update((down, Hand()), now) for now in times] + [controls.update(NOBODY, until + 0.01)]


def test_the_menu_button_switches_captions_and_held_brings_the_avatar_back() -> None:
    controls = Controls()
    assert controls.update(NOBODY, 0.0) == Wishes()
    short = press(controls, 1.0, 1.2, menu=True)
    assert [wishes.captions for wishes in short] == [True] * 5 + [False]
    assert not any(wishes.reset for wishes in short)
    long = press(controls, 2.0, 2.0 + 2 * LONG_PRESS_S, menu=True)
    assert sum(wishes.reset for wishes in long) == 1
    assert not any(wishes.captions for wishes in long)


def test_the_other_button_switches_the_microphone() -> None:
    controls = Controls()
    controls.update(NOBODY, 0.0)
    assert press(controls, 1.0, 1.1, mute=True)[-1].muted
    assert not press(controls, 2.0, 2.1, mute=True)[-1].muted


def test_losing_the_focus_ends_what_is_held_until_pressed_anew() -> None:
    controls = Controls()
    controls.update(NOBODY, 0.0)
    busy = Hand(talk=1.0, menu=True, grip=Pose(about_y(0), (0, 1, 0)))
    held = controls.update((busy, replace_grab(busy)), 0.1)
    assert (held.talking, held.grabbed) == ((True, False), (False, True))
    assert held.grips == (None, busy.grip)
    for away in (False, True):
        assert controls.update(None, 0.2, away) == Wishes(away=away)
    back = controls.update((busy, replace_grab(busy)), 5.0)
    assert back == Wishes(), "a key that was held all the time"
    assert controls.update(NOBODY, 5.1).captions, "the button's end is no press"
    assert controls.update((busy, Hand()), 5.2).talk


def replace_grab(hand: Hand) -> Hand:
    return hand._replace(talk=0.0, grab=1.0)


def test_a_fist_does_not_talk_but_who_talks_may_grab() -> None:
    controls = Controls()
    controls.update(NOBODY, 0.0)
    assert not controls.update((Hand(talk=1, grab=1), Hand()), 0.1).talk
    assert not controls.update((Hand(talk=1), Hand()), 0.2).talk, "a fist that opens"
    controls.update(NOBODY, 0.3)
    assert controls.update((Hand(talk=1), Hand()), 0.4).talk
    assert controls.update((Hand(talk=1, grab=1), Hand()), 0.5).talk
    assert not controls.update((Hand(grab=1), Hand()), 0.6).talk


def test_a_hand_out_of_sight_does_not_carry() -> None:
    controls, placing = Controls(), Placing()
    head = np.eye(4)
    controls.update(NOBODY, 0.0)
    wishes = controls.update((Hand(grab=1.0), Hand()), 0.1)
    assert wishes.grips == (None, None)
    assert placing.update(head, FLOOR_Y, 0, wishes) == in_front(head, FLOOR_Y)


def test_the_avatar_comes_back_when_told_and_when_the_user_recentres() -> None:
    placing, away = Placing(), np.eye(4)
    away[:3, 3] = 2.0, 1.7, 0.5
    start = placing.update(np.eye(4), FLOOR_Y, 0, Wishes())
    assert placing.anew
    assert placing.update(away, FLOOR_Y, 0, Wishes()) == start
    assert not placing.anew
    assert placing.update(away, FLOOR_Y, 1, Wishes()) == in_front(away, FLOOR_Y)
    assert placing.update(np.eye(4), FLOOR_Y, 1, Wishes()) == in_front(away, FLOOR_Y)
    grip = Pose(about_y(0.3), (0.1, 1.0, -0.2))
    held = Wishes(grips=(grip, None), reset=True)
    assert placing.update(np.eye(4), FLOOR_Y, 1, held) == start, "also from the hand"
    farther = replace(held, reset=False, grips=(Pose(grip.orientation, (0.3, 1.0, -0.2)), None))
    assert placing.update(np.eye(4), FLOOR_Y, 1, farther).position[0] == pytest.approx(
        start.position[0] + 0.2
    )


@given(standing(), coordinate, coordinate)
def test_captions_face_the_user(model: Pose, x: float, z: float) -> None:
    head = np.eye(4)
    head[:3, 3] = x, 1.6, z
    way = np.array([x, z]) - (model.position[0], model.position[2])
    front = facing(model, head).matrix[[0, 2], 2]
    if np.linalg.norm(way) >= 0.2:
        np.testing.assert_allclose(front, way / np.linalg.norm(way), atol=1e-9)
    else:
        np.testing.assert_array_equal(front, model.matrix[[0, 2], 2])


def test_every_profile_has_a_key_to_talk_on_each_hand() -> None:
    for profile in PROFILES:
        found = profile.bindings()
        assert len(set(found)) == len(found)
        assert {hand for action, hand, _ in found if action == "talk"} == {"left", "right"}
        assert all(path.startswith(f"/user/hand/{hand}/") for _, hand, path in found)
