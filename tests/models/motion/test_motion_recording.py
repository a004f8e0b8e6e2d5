"""Recordings of MNN-TaoAvatar: read, turned onto the humanoid's bones, refused when they are damaged."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recorded import SLICES, make, motion

from taoxr.errors import ModelError
from taoxr_models.motion import smplx
from taoxr_models.motion.bones import BONES, INDEX
from taoxr_models.motion.recording import POSES, Recording
from taoxr_models.motion.recording import SLICES as SLICES_FILE
from taoxr_models.motion.rotations import about, about_vector, inverse, multiply, rotate

pytestmark = pytest.mark.unit

EYES = {INDEX["leftEye"], INDEX["rightEye"]}
BYTES_OF_FRAME = 1356
"""Of the layout that MNN's app reads: 4 + 10 x 8 + 4 x 318."""

# SMPL-X's joints in the order of its model files, and what each is on a humanoid.
BODY = {
    "left_hip": "leftUpperLeg", "right_hip": "rightUpperLeg", "spine1": "spine", "left_knee": "leftLowerLeg",
    "right_knee": "rightLowerLeg", "spine2": "chest", "left_ankle": "leftFoot", "right_ankle": "rightFoot",
    "spine3": "upperChest", "left_foot": None, "right_foot": None, "neck": "neck",
    "left_collar": "leftShoulder", "right_collar": "rightShoulder", "head": "head",
    "left_shoulder": "leftUpperArm", "right_shoulder": "rightUpperArm", "left_elbow": "leftLowerArm",
    "right_elbow": "rightLowerArm", "left_wrist": "leftHand", "right_wrist": "rightHand",
}  # fmt: skip
FINGERS = ("index", "middle", "pinky", "ring", "thumb")
ON_HAND = {"index": "Index", "middle": "Middle", "pinky": "Little", "ring": "Ring", "thumb": "Thumb"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("recording"))


def frames(count: int = 3) -> np.ndarray:
    """A recording of nobody who moves, upright."""
    made = np.zeros(count, smplx._FRAME)
    for name, length in smplx._VECTORS.items():
        made[f"length of {name}"] = length
    return made


def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Degrees between rotations; accurate for small ones."""
    between = multiply(a, inverse(b))
    return np.rad2deg(2.0 * np.arcsin(np.clip(np.linalg.norm(between[..., :3], axis=-1), 0.0, 1.0)))


def test_what_was_written_is_read(folder: Path) -> None:
    wanted = motion()
    assert (folder / POSES).stat().st_size == 8 + len(wanted) * BYTES_OF_FRAME
    found = Recording.of_folder(folder)
    assert found.slices == SLICES
    bones = [i for i in range(len(BONES)) if i not in EYES and i != INDEX["hips"]]
    assert apart(found.rotations[:, bones], wanted[:, bones]).max() < 1e-3  # float32
    # The hips but for one turn about the vertical: on the whole it faces the front now.
    turned = multiply(found.rotations[:, INDEX["hips"]], inverse(wanted[:, INDEX["hips"]]))
    assert apart(turned, turned[:1]).max() < 1e-3
    assert np.abs(turned[:, [0, 2]]).max() < 1e-5
    ahead = rotate(found.rotations[:, INDEX["hips"]], np.broadcast_to((0.0, 0.0, 1.0), (len(wanted), 3)))
    assert abs(ahead.mean(axis=0)[0]) < 1e-6
    assert ((found.rotations[1:] * found.rotations[:-1]).sum(-1) > 0.9).all()


@pytest.mark.parametrize(("number", "joint"), list(enumerate(BODY)))
def test_each_joint_of_the_body_turns_its_bone(number: int, joint: str) -> None:
    made = frames()
    turn = np.array([0.3, -0.2, 0.1])
    made["body_pose"][:, 3 * number : 3 * number + 3] = turn
    q = smplx.humanoid(made)
    moved = {bone for bone, i in INDEX.items() if apart(q[0, i], np.array([0, 0, 0, 1.0])) > 1e-3}
    bone = BODY[joint]
    assert moved == ({bone} if bone else set())
    if bone:
        assert apart(q[0, INDEX[bone]], about_vector(np.rad2deg(turn))) < 1e-3


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(("number", "finger"), list(enumerate(FINGERS)))
def test_each_finger_turns_its_bones(side: str, number: int, finger: str) -> None:
    for joint in range(3):
        made = frames()
        at = 3 * (3 * number + joint)
        made[f"{side}_hand_pose"][:, at : at + 3] = (0.0, 0.4, 0.0)
        q = smplx.humanoid(made)
        moved = {bone for bone, i in INDEX.items() if apart(q[0, i], np.array([0, 0, 0, 1.0])) > 1e-3}
        names = ("Metacarpal", "Proximal", "Distal") if finger == "thumb" else ()
        names = names or ("Proximal", "Intermediate", "Distal")
        assert moved == {side + ON_HAND[finger] + names[joint]}


@pytest.mark.parametrize(
    "camera",
    [
        (0, 0, 0),
        (180, 0, 0),  # y down, z ahead
        (90, 0, 0),  # z up
        (0, 0, 90),
        (0, 140, 0),  # turned away
    ],
)
def test_whatever_axes_the_camera_had_it_stands_upright_and_faces_us(camera: tuple[float, ...]) -> None:
    made = frames(4)
    leaning = about_vector(np.array([[4.0, 0, 0], [4.0, 3, 0], [4.0, -3, 0], [4.0, 0, 0]]))
    made["Rh"] = smplx.vectors_of(multiply(about_vector(np.array(camera, float)), leaning))
    hips = smplx.humanoid(made)[:, INDEX["hips"]]
    assert apart(hips, leaning).max() < 0.05


def test_who_lies_is_refused() -> None:
    made = frames()
    made["Rh"] = np.deg2rad([45.0, 0.0, 0.0])
    with pytest.raises(ModelError, match=r"does not stand upright: its axis points to 0\.00, 0\.71, 0\.71"):
        smplx.humanoid(made)


def test_the_feet_stay_and_stand(folder: Path) -> None:
    found = Recording.of_folder(folder)
    q, hips = found.rotations, found.hips
    down = np.broadcast_to((0.0, -0.43, 0.0), (len(q), 3))
    ankles = []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        below = rotate(q[:, INDEX[f"{side}UpperLeg"]], down + rotate(q[:, INDEX[f"{side}LowerLeg"]], down))
        place = hips + rotate(q[:, INDEX["hips"]], np.array([sign * 0.1, 0, 0]) + below)
        ankles.append(place - (sign * 0.1, -0.86, 0))
    middle = np.mean(ankles, axis=0)
    assert np.abs(middle[:, [0, 2]]).max() < 1e-9
    assert np.abs(np.min([ankle[:, 1] for ankle in ankles], axis=0)).max() < 0.005
    # Our own motion, whose feet stood: the hips come out as they were.
    assert np.abs(hips[:, 1]).max() < 0.01


def test_between_the_poses_there_is_no_corner(folder: Path) -> None:
    found = Recording.of_folder(folder)
    times = np.arange(0.0, found.length, 1 / 240)
    q, hips = found.at(times)
    assert np.abs(np.linalg.norm(q, axis=-1) - 1.0).max() < 1e-12
    at_poses, _ = found.at(np.arange(len(found.rotations)) / found.rate_hz)
    assert apart(at_poses, found.rotations).max() < 1e-5
    speed = apart(q[1:], q[:-1]) * 240
    speed[:, list(EYES)] = 0.0
    assert np.abs(np.diff(speed, axis=0)).max() * 240 < 9000.0
    assert np.abs(np.diff(hips, axis=0)).max() * 240 < 0.2


def poses(folder: Path) -> bytes:
    return (folder / POSES).read_bytes()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "has 0 bytes: no count of frames"),
        (lambda data: data[:-1], "frames of a recording of SMPL-X have"),
        (lambda data: data + b"x", "frames of a recording of SMPL-X have"),
        (lambda data: (1).to_bytes(8, "little") + data[8:], "says that it has 1 frames; expected 2 to"),
        (lambda data: b"\xff" * 8 + data[8:], "expected 2 to 72000"),
        (
            lambda data: data[:12] + (51).to_bytes(8, "little") + data[20:],
            "frame 0: expression has 51 numbers, expected 50",
        ),
        (
            lambda data: data[: 8 + 1356 + 12] + np.float32(np.nan).tobytes() + data[8 + 1356 + 16 :],
            "frame 1: expression is not finite",
        ),
    ],
)
def test_damage_is_named(folder: Path, tmp_path: Path, damage, message: str) -> None:
    (tmp_path / POSES).write_bytes(damage(poses(folder)))
    (tmp_path / SLICES_FILE).write_bytes((folder / SLICES_FILE).read_bytes())
    with pytest.raises(ModelError, match=message):
        Recording.of_folder(tmp_path)


@given(st.lists(st.tuples(st.integers(0, 8 + 40 * BYTES_OF_FRAME - 1), st.integers(0, 255)), max_size=8))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_flipped_bytes_never_do_more_than_be_refused(
    folder: Path, tmp_path: Path, flips: list[tuple[int, int]]
) -> None:
    data = bytearray((40).to_bytes(8, "little") + poses(folder)[8 : 8 + 40 * BYTES_OF_FRAME])
    for place, value in flips:
        data[place] = value
    (tmp_path / POSES).write_bytes(data)
    try:
        with np.errstate(all="raise", under="ignore"):
            q = smplx.humanoid(smplx.read(tmp_path / POSES))
    except ModelError:
        return
    assert np.abs(np.linalg.norm(q, axis=-1) - 1.0).max() < 1e-6


@pytest.mark.parametrize(
    ("slices", "message"),
    [
        ("{", "Invalid JSON"),
        ([], "at least 1 item"),
        ([{"status": "idle", "start": 0.0}], r"0\.end: Field required"),
        ([{"status": "sing", "start": 0.0, "end": 1.0}], r"0\.status: Input should be 'idle' or 'talk'"),
        ([{"status": "idle", "start": -1.0, "end": 1.0}], r"0\.start: .*greater than or equal to 0"),
        ([{"status": "idle", "start": 2.0, "end": 1.0}], "slice 0 goes from 2 s to 1 s"),
        ([{"status": "idle", "start": 0.0, "end": 400.0}], r"within the recording's 39\.9"),
        ([{"status": "talk", "start": 0.0, "end": 4.0}], 'no slice is "idle"'),
    ],
)
def test_wrong_slices_are_named(folder: Path, tmp_path: Path, slices: object, message: str) -> None:
    (tmp_path / POSES).write_bytes(poses(folder))
    (tmp_path / SLICES_FILE).write_text(slices if isinstance(slices, str) else json.dumps(slices))
    with pytest.raises(ModelError, match=message):
        Recording.of_folder(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=POSES):
        Recording.of_folder(tmp_path)


def test_axis_and_angle_are_the_way_back() -> None:
    q = about("x", np.linspace(-179.0, 179.0, 50))
    assert apart(about_vector(np.rad2deg(smplx.vectors_of(q).astype(float))), q).max() < 1e-3
