"""Poses of VRM's humanoid on the default avatar's skeleton."""

import numpy as np
import pytest

from taoxr_runtime.animation import Skeleton, rotation
from taoxr_runtime.animation.body_player import HumanoidPose
from taoxr_runtime.animation.humanoid import HIPS_HEIGHT_M, BodyPose, Retarget
from taoxr_runtime.demo.stage import load_avatar

pytestmark = pytest.mark.unit

SIDES = (("left", "L", 1.0), ("right", "R", -1.0))


@pytest.fixture(scope="module")
def skeleton() -> Skeleton:
    scene = load_avatar(None)
    try:
        return Skeleton.of(scene)
    finally:
        scene.close()


def posed(skeleton: Skeleton, hips: tuple[float, float, float] = (0.0, 0.0, 0.0), **turns) -> BodyPose:
    """The avatar in T-pose, apart from some bones: name = degrees about x, y, z."""
    names = ("hips", *(name for name in turns if name != "hips"))
    rotations = np.array([rotation.from_euler_deg(*turns.get(name, (0.0, 0.0, 0.0))) for name in names])
    pose = Retarget(skeleton).pose(HumanoidPose(names, rotations, np.array(hips)))
    assert pose is not None
    return pose


def place(skeleton: Skeleton, pose: BodyPose, bone: str) -> np.ndarray:
    """Where a bone starts."""
    index = skeleton.index[bone]
    turn, shift = skeleton.transform(pose.pose, int(skeleton.parents[index]))
    return turn @ skeleton.heads[index] + shift


def along(skeleton: Skeleton, pose: BodyPose, start: str, end: str) -> np.ndarray:
    way = place(skeleton, pose, end) - place(skeleton, pose, start)
    return way / np.linalg.norm(way)


def test_without_turns_it_stands_in_t_pose(skeleton: Skeleton) -> None:
    pose = posed(skeleton)
    for _, letter, sign in SIDES:
        out = np.array([sign, 0.0, 0.0])
        for start, end in (("upperarm01", "lowerarm01"), ("lowerarm01", "wrist"), ("finger2-1", "finger2-2")):
            assert along(skeleton, pose, f"{start}.{letter}", f"{end}.{letter}") @ out > 0.9999
        # Palms down: the index finger lies in front of the little finger.
        knuckles = along(skeleton, pose, f"finger5-1.{letter}", f"finger2-1.{letter}")
        assert knuckles[2] > 0.9
        assert abs(knuckles[1]) < 0.3
    for bone in ("foot.L", "head"):
        assert place(skeleton, pose, bone) == pytest.approx(skeleton.heads[skeleton.index[bone]], abs=1e-6)


def test_arms_go_where_they_are_turned(skeleton: Skeleton) -> None:
    down = posed(skeleton, leftUpperArm=(0.0, 0.0, -90.0), rightUpperArm=(0.0, 0.0, 90.0))
    bent = posed(skeleton, leftLowerArm=(0.0, -90.0, 0.0), rightLowerArm=(0.0, 90.0, 0.0))
    for _, letter, _sign in SIDES:
        assert along(skeleton, down, f"upperarm01.{letter}", f"wrist.{letter}")[1] < -0.999
        assert along(skeleton, bent, f"lowerarm01.{letter}", f"wrist.{letter}")[2] > 0.999


def test_fingers_curl_to_the_palm(skeleton: Skeleton) -> None:
    fist = posed(skeleton, leftIndexProximal=(0.0, 0.0, -90.0), leftIndexIntermediate=(0.0, 0.0, -90.0))
    assert along(skeleton, fist, "finger2-1.L", "finger2-2.L")[1] < -0.99
    assert along(skeleton, fist, "finger2-2.L", "finger2-3.L")[0] < -0.99


def test_the_head_makes_all_of_a_turn_that_the_neck_bones_share(skeleton: Skeleton) -> None:
    pose = posed(skeleton, neck=(0.0, 20.0, 0.0), head=(0.0, 20.0, 0.0), chest=(10.0, 0.0, 0.0))
    turn, _ = skeleton.transform(pose.pose, skeleton.index["head"])
    yaw, _ = rotation.look_angles_deg(turn @ np.array([0.0, 0.0, 1.0]))
    assert yaw == pytest.approx(40.0, abs=1.0)


def test_the_feet_stay_where_they_are(skeleton: Skeleton) -> None:
    lean = np.rad2deg(np.arcsin(0.03 / 0.86))
    sway = posed(skeleton, hips=(0.03, 0.0, 0.0), leftUpperLeg=(0, 0, -lean), rightUpperLeg=(0, 0, -lean))
    for foot in ("foot.L", "foot.R"):
        slip = place(skeleton, sway, foot) + sway.root - skeleton.heads[skeleton.index[foot]]
        assert np.linalg.norm(slip) < 2e-3
    # The hips move by the height of the avatar's, as near as the feet allow.
    assert sway.root[0] == pytest.approx(
        0.03 * skeleton.heads[skeleton.index["root"], 1] / HIPS_HEIGHT_M, abs=2e-3
    )


def test_bones_that_no_track_names_move_along(skeleton: Skeleton) -> None:
    pose = posed(skeleton, hips=(0.0, 0.0, 0.0), spine=(0.0, 30.0, 0.0))
    turn, _ = skeleton.transform(pose.pose, skeleton.index["head"])
    assert rotation.look_angles_deg(turn @ np.array([0.0, 0.0, 1.0]))[0] == pytest.approx(30.0, abs=0.01)


def test_a_skeleton_of_other_names_has_no_pose() -> None:
    other = Skeleton(
        ("bone", "eye_l", "eye_r"), np.array([-1, 0, 0]), np.zeros((3, 3)), "bone", ("eye_l", "eye_r"),
        np.zeros((2, 3)),
    )  # fmt: skip
    still = HumanoidPose(("hips",), np.array([rotation.IDENTITY]), np.zeros(3))
    assert Retarget(other).pose(still) is None
    assert Retarget(other).pose(None) is None
