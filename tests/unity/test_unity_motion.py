"""What the Unity package's components compute, beside plain twins in Python."""

import subprocess
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pytest
from components import components, dll
from csharp import RUNTIMES, Runtime, command

from taoxr import arkit
from taoxr.client import BodyTrack
from taoxr_models.a2bs.articulation import CONTROLS, TABLE
from taoxr_models.a2bs.rig import arkit_weights
from taoxr_models.motion.bones import BONES, PARENTS
from taoxr_runtime.animation import rotation
from taoxr_runtime.animation.body_player import BodyPlayer

pytestmark = pytest.mark.parity

Array = npt.NDArray[np.float64]

KERNEL_TOLERANCE: Final = 3e-5
"""Of a full-scale sound: a table of 256 phases, interpolated, and single precision."""
POSE_TOLERANCE: Final = 2e-5
"""Of quaternions and metres: single against double precision."""


@pytest.fixture(params=RUNTIMES)
def runtime(request: pytest.FixtureRequest) -> Runtime:
    return request.param


def run(runtime: Runtime, *arguments: object, data: bytes = b"") -> bytes:
    """What harness/AvatarRunner.cs answers."""
    words = [*command(runtime, dll(components(), runtime, "avatar_runner")), *map(str, arguments)]
    done = subprocess.run(words, input=data, capture_output=True, check=False)
    assert done.returncode == 0, (done.stdout[-2000:] + done.stderr).decode()
    return done.stdout


def lines(*arguments: object, text: str = "", runtime: Runtime = "dotnet") -> list[str]:
    return run(runtime, *arguments, data=text.encode()).decode().splitlines()


# Sound: a windowed sinc, worked out at each place in double precision.


def _resampled(sound: Array, source_hz: int, target_hz: int, first: float, count: int) -> Array:
    cutoff = 0.91 * min(1.0, target_hz / source_hz)
    half = int(np.ceil(24 / cutoff))
    times = first + np.arange(count) * source_hz / target_hz
    offsets = np.arange(-half, half + 1)
    places = np.floor(times).astype(int)[:, None] + offsets
    away = times[:, None] - places
    window = np.i0(7 * np.sqrt(np.clip(1 - (away / half) ** 2, 0, 1))) / np.i0(7)
    kernel = np.where(np.abs(away) < half, cutoff * np.sinc(cutoff * away) * window, 0)
    inside = (places >= 0) & (places < len(sound))
    return (np.where(inside, sound[np.clip(places, 0, len(sound) - 1)], 0) * kernel).sum(1)


def _noise(samples: int) -> npt.NDArray[np.int16]:
    return np.random.default_rng(1).integers(-20000, 20000, samples).astype("<i2")


@pytest.mark.parametrize(("source_hz", "target_hz"), [(22050, 48000), (22050, 44100), (48000, 24000)])
def test_the_voice_is_resampled_as_its_twin(source_hz: int, target_hz: int, runtime: Runtime) -> None:
    pcm = _noise(2000)
    got = np.frombuffer(run(runtime, "voice", source_hz, target_hz, 512, data=pcm.tobytes()), "<f4")
    expected = _resampled(pcm / 32768, source_hz, target_hz, 0, 2000 * target_hz // source_hz)
    np.testing.assert_allclose(got[: len(expected)], expected, atol=KERNEL_TOLERANCE)


@pytest.mark.parametrize("source_hz", [48000, 44100])
@pytest.mark.parametrize("block", [882, 100])
def test_the_microphone_is_resampled_as_its_twin(source_hz: int, block: int) -> None:
    pcm = _noise(6000)
    data = run("dotnet", "resample", source_hz, 16000, block, data=pcm.tobytes())
    got = np.frombuffer(data, "<f4").astype(np.float64)
    expected = _resampled(pcm / 32768, source_hz, 16000, 0, len(got))
    assert len(got) > 1900
    np.testing.assert_allclose(got, expected, atol=KERNEL_TOLERANCE)


def test_speech_passes_and_images_do_not() -> None:
    hz = 3000
    tone = (16000 * np.sin(2 * np.pi * hz * np.arange(22050) / 22050)).astype("<i2")
    got = np.frombuffer(run("dotnet", "voice", 22050, 48000, 512, data=tone.tobytes()), "<f4")[4000:36768]
    spectrum = np.abs(np.fft.rfft(got * np.hanning(len(got)))) ** 2
    frequency = np.fft.rfftfreq(len(got), 1 / 48000)
    passed = np.abs(frequency - hz) < 20
    # What is not the tone is 60 dB below it: linear interpolation leaves an image at 19 kHz 32 dB below.
    assert spectrum[~passed].sum() < 1e-6 * spectrum[passed].sum()
    assert np.sqrt(np.mean(got**2)) == pytest.approx(16000 / 32768 / np.sqrt(2), rel=1e-3)


# Faces.


def _shapes(kind: str, weights: Array) -> list[dict[str, float]]:
    text = "\n".join(" ".join(f"{x:.6f}" for x in row) for row in weights)
    return [
        {name: float(weight) for name, weight in (pair.rsplit("=", 1) for pair in line.split())}
        for line in lines("mix", kind, text=text)
    ]


_MOUTH_ONLY: Final = {
    "Arkit": (),
    "ReadyPlayerMe": (),
    # VRM's expressions have no place for these; nor has a viseme for a lopsided mouth.
    "Vrm": (
        "jawForward", "jawLeft", "jawRight", "mouthLeft", "mouthRight", "mouthDimpleLeft",
        "mouthDimpleRight", "mouthRollLower", "mouthRollUpper", "mouthShrugLower", "mouthShrugUpper",
        "mouthPressLeft", "mouthPressRight", "mouthUpperUpLeft", "mouthUpperUpRight", "cheekPuff",
        "tongueOut",
    ),
    "OculusVisemes": (
        "jawLeft", "jawRight", "mouthLeft", "mouthRight", "mouthFrownLeft", "mouthFrownRight",
        "mouthDimpleLeft", "mouthDimpleRight", "mouthRollUpper", "mouthShrugLower", "mouthShrugUpper",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", _MOUTH_ONLY)
def test_every_arkit_name_is_in_a_table_or_known_not_to_be(kind: str) -> None:
    assert lines("silent", kind) == list(_MOUTH_ONLY[kind])


def test_the_names_are_the_servers() -> None:
    for name, row in zip(arkit.NAMES, _shapes("Arkit", np.eye(52)), strict=True):
        assert {shape for shape, weight in row.items() if weight > 0} == {name}
        assert row[name] == 1.0


@pytest.mark.parametrize(
    ("kind", "mouths"),
    [
        ("Vrm", {"ɑ": "aa", "i": "ih", "u": "ou", "ɛ": "ee", "o": "oh", "w": "ou", "ʌ": "aa"}),
        (
            "OculusVisemes",
            {
                "p": "viseme_PP", "f": "viseme_FF", "θ": "viseme_TH", "ʃ": "viseme_CH", "s": "viseme_SS",
                "ɑ": "viseme_aa", "ɛ": "viseme_E", "i": "viseme_I", "o": "viseme_O", "u": "viseme_U",
            },
        ),
        ("ReadyPlayerMe", {"ɑ": "mouthOpen"}),
    ],
)  # fmt: skip
def test_the_mouths_of_sounds_become_the_right_shapes(kind: str, mouths: dict[str, str]) -> None:
    controls = np.array([[row.targets.get(name, 0.0) for name in CONTROLS] for row in TABLE])
    rows = _shapes(kind, arkit_weights(controls))
    for sound, shapes in zip((row.name for row in TABLE), rows, strict=True):
        own = {name: weight for name, weight in shapes.items() if name not in arkit.INDEX}
        if sound in mouths:
            assert max(own, key=lambda name: own[name]) == mouths[sound], (sound, own)
        if sound in ("p", "silence"):
            opened = {"aa", "viseme_aa", "mouthOpen", "oh", "viseme_O"}
            assert max((weight for name, weight in own.items() if name in opened), default=0) < 0.1


# Bodies.


def _text(numbers: npt.ArrayLike) -> str:
    return " ".join(f"{x:.9g}" for x in np.asarray(numbers, np.float32).ravel().tolist())


def _turns(rng: np.random.Generator, *shape: int) -> npt.NDArray[np.float32]:
    turns = rng.normal(size=(*shape, 4))
    return (turns / np.linalg.norm(turns, axis=-1, keepdims=True)).astype(np.float32)


def _poses(rng: np.random.Generator, start_us: int, count: int, bones: int) -> BodyTrack:
    times = start_us + np.arange(count) * 33_333
    return BodyTrack(times, _turns(rng, count, bones), rng.normal(size=(count, 3)).astype(np.float32))


def test_the_body_is_played_as_on_our_stage(runtime: Runtime) -> None:
    rng = np.random.default_rng(2)
    names = ("hips", "spine", "head")
    twin = BodyPlayer(names)
    script = ["bones " + " ".join(names)]
    expected: list[Array | None] = []

    def frames(track: BodyTrack) -> list[str]:
        parts = zip(track.times_us.tolist(), track.rotations, track.hips, strict=True)
        return [f"{time} {_text(turns)} {_text(hips)}" for time, turns, hips in parts]

    def motion(now: int, track: BodyTrack) -> None:
        twin.add_motion(now, track)
        script.append(f"motion {now} " + " ".join(frames(track)))

    def media(track: BodyTrack) -> None:
        twin.add_media("a", track)
        script.extend(f"media {frame}" for frame in frames(track))

    def update(now: int, heard: int | None) -> None:
        pose = twin.sample(now, heard)
        expected.append(None if pose is None else np.concatenate([pose.rotations.ravel(), pose.hips]))
        script.append(f"update {now} {'-' if heard is None else heard}")

    update(0, None)
    for piece in range(4):
        motion(1_000_000 + piece * 380_000, _poses(rng, piece * 400_000, 12, 3))
    media(_poses(rng, 0, 20, 3))
    for now in range(1_000_000, 3_600_000, 16_667):
        heard = now - 1_700_000 if 1_700_000 <= now < 2_400_000 else None
        update(now, heard)
    answers = lines("body", text="\n".join(script), runtime=runtime)
    assert len(answers) == len(expected)
    for answer, pose in zip(answers, expected, strict=True):
        if pose is None:
            assert answer == "none"
        else:
            np.testing.assert_allclose([float(x) for x in answer.split()], pose, atol=POSE_TOLERANCE)


_MIRROR_TURN: Final = np.array([1.0, -1.0, -1.0, 1.0])
_MIRROR_PLACE: Final = np.array([-1.0, 1.0, 1.0])


def _rotated(turn: Array, place: Array) -> Array:
    full = rotation.multiply(rotation.multiply(turn, np.array([*place, 0.0])), rotation.inverse(turn))
    return full[:3]


def _posed(
    rest: dict[str, tuple[Array, Array]], parents: dict[str, str], turns: dict[str, Array], hips: Array
) -> dict[str, tuple[Array, Array]]:
    """Places and rotations in the avatar's frame (right-handed), bone by bone.

    Args:
        rest: Place and rotation of each bone of the skeleton in the T-pose.
        parents: What each hangs on; "root" for the first.
        turns: Of all bones of VRM: all that those above it and itself are turned.
        hips: Where the hips are moved.
    """
    posed: dict[str, tuple[Array, Array]] = {}
    for name, (place, turn) in rest.items():
        above = parents[name]
        if above == "root":
            posed[name] = place + hips, rotation.multiply(turns[name], turn)
            continue
        start, _ = posed[above]
        offset = _rotated(turns[above], place - rest[above][0])
        posed[name] = start + offset, rotation.multiply(turns[name], turn)
    return posed


def test_a_pose_on_any_skeleton_of_unity(runtime: Runtime) -> None:
    rng = np.random.default_rng(3)
    # A skeleton without upper chest and shoulders, whose bones have axes of their own.
    lacks = {"upperChest", "leftShoulder", "rightShoulder", "leftEye", "rightEye"}
    names = [name for name in BONES if name not in lacks]
    parents = {name: _above(name, lacks) for name in names}
    rest: dict[str, tuple[Array, Array]] = {}
    for name in names:
        above = np.zeros(3) if parents[name] == "root" else rest[parents[name]][0]
        step = np.array([0.0, 1.1, 0.0]) if name == "hips" else rng.normal(scale=0.2, size=3)
        rest[name] = above + step, _turns(rng, 1)[0].astype(np.float64)

    turns = _turns(rng, len(BONES)).astype(np.float64)
    hips = rng.normal(scale=0.1, size=3)
    whole: dict[str, Array] = {}
    for name, turn in zip(BONES, turns, strict=True):
        above = PARENTS[name]
        whole[name] = turn if above is None else rotation.multiply(whole[above], turn)
    expected = _posed(rest, parents, whole, hips * 1.1 / 0.95)

    script: list[str] = []
    for name in names:
        place, turn = (rest[name][0] * _MIRROR_PLACE, rest[name][1] * _MIRROR_TURN)
        if parents[name] != "root":
            above_place, above_turn = (
                rest[parents[name]][0] * _MIRROR_PLACE,
                rest[parents[name]][1] * _MIRROR_TURN,
            )
            back = rotation.inverse(above_turn)
            place, turn = _rotated(back, place - above_place), rotation.multiply(back, turn)
        script.append(f"bone {name} {parents[name]} {name} {_text(place)} {_text(turn)}")
    script.append(f"pose {' '.join(BONES)} | {_text(turns)} {_text(hips)}")
    answers = lines("skeleton", text="\n".join(script), runtime=runtime)
    for name, answer in zip(names, answers, strict=True):
        numbers = np.array([float(x) for x in answer.split()])
        place, turn = expected[name]
        np.testing.assert_allclose(numbers[:3], place * _MIRROR_PLACE, atol=POSE_TOLERANCE, err_msg=name)
        same = abs(float(numbers[3:] @ (turn * _MIRROR_TURN)))
        assert same == pytest.approx(1, abs=POSE_TOLERANCE), name


def _above(name: str, lacks: set[str]) -> str:
    above = PARENTS[name]
    while above in lacks:
        above = PARENTS[above]
    return above or "root"


def test_every_bone_of_the_server_has_one_of_unity() -> None:
    script = [f"bone {name} root {name} 0 0 0 0 0 0 1" for name in BONES]
    turned = _turns(np.random.default_rng(4), len(BONES))
    script.append(f"pose {' '.join(BONES)} | {_text(turned)} 0 0 0")
    seen: Sequence[str] = lines("skeleton", text="\n".join(script))
    moved = [line for line in seen if abs(float(line.split()[6])) < 0.9999]
    assert len(moved) == len(BONES)
