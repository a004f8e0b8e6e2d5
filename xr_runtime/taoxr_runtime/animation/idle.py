"""The life of the avatar between and below the words: breath, blinks, gaze, sway, nods.

Everything is drawn from one seed; the same seed and the same calls give the same motion.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from taoxr import arkit
from taoxr.errors import InvalidInputError
from taoxr_runtime.animation import rotation
from taoxr_runtime.animation.activity import Activity
from taoxr_runtime.animation.blink import Blinks
from taoxr_runtime.animation.body import Skeleton
from taoxr_runtime.animation.curves import Drift, Follower, smoothstep
from taoxr_runtime.animation.gaze import Gaze, LidShapes, eye_motion
from taoxr_runtime.animation.humanoid import BodyPose
from taoxr_runtime.animation.merge import merge_expressions
from taoxr_runtime.animation.nods import Nods
from taoxr_runtime.animation.posture import BREATH, HEAD_SHARES, MANNERS, SPINE_SHARES, breath_at

Array = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]

HEAD_YAW_LIMIT_DEG: Final = 28.0
HEAD_PITCH_LIMIT_DEG: Final = 18.0
EASE_S: Final = 1.2
"""Seconds in which the body goes over from a track that has stalled to its own motion, and back."""
_UNSEEN: Final = 1e-4
# Of a turn towards something the head makes this share, the eyes the rest.
_HEAD_SHARE_VIEWER: Final = 0.55
_HEAD_SHARE_GLANCE: Final = 0.3
# Degrees of nod at a fully open jaw: the head goes with the stress of the words.
_BEAT_DEG: Final = 7.0


@dataclass(frozen=True)
class Motion:
    """What to draw.

    Attributes:
        expression: float32 [52], in the order of ``arkit.NAMES``, each in [0, 1].
        pose: float32 [B, 4], xyzw: one rotation per bone in model axes about the bone's head.
        root: float32 [3], translation of the whole body in metres.
    """

    expression: Weights
    pose: Weights
    root: Weights = field(default_factory=lambda: np.zeros(3, np.float32))


class Idle:
    """Moves a skeleton and the eyes; put the speech's face on top with `sample`."""

    def __init__(self, skeleton: Skeleton, *, seed: int = 0, lid_shapes: LidShapes | None = None) -> None:
        """Args: the bones, the seed of everything, and how far the eyeLook shapes turn the eyes."""
        rngs = np.random.default_rng(seed).spawn(6)
        self._skeleton = skeleton
        self._lids = lid_shapes or LidShapes()
        self._blinks = Blinks(rngs[0])
        self._gaze = Gaze(rngs[1])
        self._shift = self._gaze.shift
        self._nods = Nods(rngs[2])
        self._sway = Drift(rngs[3], 3, 7.0)
        self._head_drift = Drift(rngs[4], 3, 4.5)
        self._talk_drift = Drift(rngs[5], 4, 1.9)
        self._mix = Follower(_one_hot(Activity.IDLE), 0.9)
        self._head_aim = Follower(np.zeros(2), 0.55)
        self._beat = Follower(0.0, 0.3)
        self._own: Follower | None = None
        self._first_us: int | None = None
        self._last_us: int | None = None
        self._head_bones = _shares(skeleton, HEAD_SHARES | {skeleton.head_bone: HEAD_SHARES["head"]})
        self._spine_bones = _shares(skeleton, SPINE_SHARES)

    def sample(
        self,
        time_us: int,
        activity: Activity,
        camera: Array,
        face: Weights | None = None,
        body: BodyPose | None = None,
        *,
        stalled: bool = False,
    ) -> Motion:
        """Motion at a time.

        Args:
            time_us: Display time in microseconds, never decreasing.
            activity: What the avatar is doing.
            camera: float64 [3], point between the viewer's eyes, model frame, metres.
            face: float32 [52] of the turn; None is a face at rest.
            body: Pose of the body, from a body track, to which only eyes, lids and a turn of the head to the
                viewer are added; None: breath, sway and nods too.
            stalled: Nothing new comes of the body track: the body eases over to breath, sway and nods of its
                own, and back when something comes.

        Raises:
            InvalidInputError: Time went back, or a shape is wrong.
        """
        if self._last_us is not None and time_us < self._last_us:
            raise InvalidInputError("time_us", time_us, f"at least {self._last_us}: time never goes back")
        speech = np.zeros(len(arkit.NAMES), np.float32) if face is None else face
        if speech.shape != (len(arkit.NAMES),):
            raise InvalidInputError("face", speech.shape, f"shape ({len(arkit.NAMES)},)")
        dt = 0.0 if self._last_us is None else (time_us - self._last_us) / 1e6
        self._last_us = time_us
        # From the first call on: a machine's clock may show months, and each blink of them would be drawn.
        self._first_us = time_us if self._first_us is None else self._first_us
        t = (time_us - self._first_us) / 1e6
        mix = self._mix.step(_one_hot(activity), dt)
        glance = self._gaze.offset_deg(t, activity)
        if self._gaze.shift != self._shift:
            self._shift = self._gaze.shift
            # Not before now: what has been shown stays.
            self._blinks.shifted(t, self._shift[1])

        own = self._own_share(body is None or stalled, body is not None, dt)
        pose, root = self._skeleton.rest_pose(), np.zeros(3)
        if own > 0.0:
            self._breathe(pose, t)
            self._hold_torso(pose, t, mix)
        if body is not None and own < 1.0:
            pose, root = rotation.slerp(body.pose, pose, own), body.root * (1.0 - own)
        jaw = float(speech[arkit.INDEX["jawOpen"]])
        self._hold_head(pose, t, dt, mix, camera - root, glance, jaw, own)
        idle = self._look(pose, camera - root, glance)
        blink = self._blinks.at(t, activity)
        idle[[arkit.INDEX["eyeBlinkLeft"], arkit.INDEX["eyeBlinkRight"]]] = blink
        self._move_brows(idle, t, mix)
        return Motion(merge_expressions(speech, idle), pose.astype(np.float32), root.astype(np.float32))

    def _own_share(self, alone: bool, has_body: bool, dt: float) -> float:
        """How much of the pose is the stage's own rather than the body track's, 0 to 1."""
        if self._own is None:
            self._own = Follower(float(alone), EASE_S)
        share = float(self._own.step(float(alone), dt))
        nearest = round(share)
        share = nearest if abs(share - nearest) < _UNSEEN else share
        # Without a body there is nothing to mix with.
        return share if has_body else 1.0

    def _breathe(self, pose: Array, t: float) -> None:
        breath = breath_at(t)
        for bone, degrees in BREATH.items():
            self._turn(pose, bone, np.array(degrees) * breath)

    def _hold_torso(self, pose: Array, t: float, mix: Array) -> None:
        talking = mix[_SPEAKING]
        x, y, z = self._sway.at(t) * (0.35, 0.9, 0.8) * (1.0 + 0.6 * talking)
        x += sum(m * manner.lean_deg for m, manner in zip(mix, MANNERS, strict=True))
        for bone, share in self._spine_bones.items():
            self._turn(pose, bone, np.array([x, y, z]) * share)

    def _hold_head(
        self,
        pose: Array,
        t: float,
        dt: float,
        mix: Array,
        camera: Array,
        glance: Array,
        jaw: float,
        own: float,
    ) -> None:
        """Turns the head to the viewer, on top of what it does already, and so far as it is ours."""
        turn = self._aim(pose, dt, camera, glance)
        if own > 0.0:
            turn = turn + own * self._head_of_its_own(t, dt, mix, jaw)
        for bone, share in self._head_bones.items():
            self._turn(pose, bone, turn * share)

    def _head_of_its_own(self, t: float, dt: float, mix: Array, jaw: float) -> Array:
        """Drift, bearing, beats of speech and nods, degrees about X, Y and Z."""
        talking = mix[_SPEAKING]
        drift = self._head_drift.at(t) * (1.0, 1.7, 1.2)
        talk = self._talk_drift.at(t)
        drift = drift + talk[:3] * (1.6, 2.2, 1.5) * talking
        # A changing share of the stresses shows, so that the head does not tick with every syllable.
        beat = self._beat.step(jaw * talking, dt) * _BEAT_DEG * (0.55 + 0.45 * talk[3])
        manner = sum(m * np.array(manner.head_deg) for m, manner in zip(mix, MANNERS, strict=True))
        nod = self._nods.at(t) * float(mix[_LISTENING])
        return drift + manner + np.array([beat + nod, 0.0, 0.0])

    def _aim(self, pose: Array, dt: float, camera: Array, glance: Array) -> Array:
        """The head's part in looking at the viewer, degrees about X, Y and Z."""
        yaw, pitch, attention = self._towards(pose, camera)
        aim = np.array([yaw, pitch]) * _HEAD_SHARE_VIEWER * attention + glance * _HEAD_SHARE_GLANCE
        aim = np.clip(
            aim, (-HEAD_YAW_LIMIT_DEG, -HEAD_PITCH_LIMIT_DEG), (HEAD_YAW_LIMIT_DEG, HEAD_PITCH_LIMIT_DEG)
        )
        yaw, pitch = self._head_aim.step(aim, dt)
        return np.array([-pitch, yaw, 0.0])

    def _towards(self, pose: Array, camera: Array) -> tuple[float, float, float]:
        """Yaw and pitch of the viewer seen from the shoulders, and how much of it to follow (0: behind)."""
        neck = next(iter(self._head_bones), self._skeleton.head_bone)
        parent = int(self._skeleton.parents[self._skeleton.index[neck]])
        turn, shift = self._skeleton.transform(pose, parent)
        yaw, pitch = rotation.look_angles_deg(turn.T @ (camera - shift) - self._skeleton.eyes.mean(axis=0))
        return yaw, pitch, smoothstep((115.0 - abs(yaw)) / 45.0)

    def _look(self, pose: Array, camera: Array, glance: Array) -> Weights:
        """Turns the eyes' bones in ``pose`` and returns the eyeLook weights."""
        skeleton = self._skeleton
        weights = np.zeros(len(arkit.NAMES), np.float32)
        turn, shift = skeleton.transform(pose, skeleton.index[skeleton.head_bone])
        viewer = turn.T @ (camera - shift)
        for side, bone, eye in zip(("Left", "Right"), skeleton.eye_bones, skeleton.eyes, strict=True):
            yaw, pitch = rotation.look_angles_deg(viewer - eye)
            attention = smoothstep((75.0 - abs(yaw)) / 30.0)
            yaw, pitch = np.array([yaw, pitch]) * attention + glance
            pose[skeleton.index[bone]], lids = eye_motion(side, float(yaw), float(pitch), self._lids)
            for index, weight in lids.items():
                weights[index] = weight
        return weights

    def _move_brows(self, idle: Weights, t: float, mix: Array) -> None:
        inner, outer, down = sum(
            m * np.array(manner.brows) for m, manner in zip(mix, MANNERS, strict=True)
        ) + np.zeros(3)
        talk = self._talk_drift.at(t * 0.8 + 11.0)
        inner += 0.22 * max(talk[3], 0.0) * mix[_SPEAKING]
        outer += 0.15 * max(talk[3], 0.0) * mix[_SPEAKING]
        for name, value in (
            ("browInnerUp", inner),
            ("browOuterUpLeft", outer),
            ("browOuterUpRight", outer),
            ("browDownLeft", down),
            ("browDownRight", down),
        ):
            idle[arkit.INDEX[name]] = value

    def _turn(self, pose: Array, bone: str, degrees: Array) -> None:
        index = self._skeleton.index.get(bone)
        if index is not None:
            pose[index] = rotation.multiply(rotation.from_euler_deg(*degrees), pose[index])


_SPEAKING: Final = list(Activity).index(Activity.SPEAKING)
_LISTENING: Final = list(Activity).index(Activity.LISTENING)


def _one_hot(activity: Activity) -> Array:
    return np.array([float(a is activity) for a in Activity])


def _shares(skeleton: Skeleton, shares: dict[str, float]) -> dict[str, float]:
    """The shares of the bones that the rig has, in the rig's order, summing to 1."""
    present = {name: shares[name] for name in skeleton.names if name in shares}
    total = sum(present.values())
    return {name: share / total for name, share in present.items()}
