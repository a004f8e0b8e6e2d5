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
from taoxr_runtime.animation.aim import Aim
from taoxr_runtime.animation.blink import Blinks
from taoxr_runtime.animation.body import Skeleton
from taoxr_runtime.animation.curves import Drift, Follower
from taoxr_runtime.animation.gaze import Gaze, LidShapes
from taoxr_runtime.animation.humanoid import BodyPose
from taoxr_runtime.animation.merge import merge_expressions
from taoxr_runtime.animation.nods import Nods
from taoxr_runtime.animation.posture import BREATH, MANNERS, breath_at

Array = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]

EASE_S: Final = 1.2
"""Seconds in which the body goes over from a track that has stalled to its own motion, and back."""
_UNSEEN: Final = 1e-4
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
        self._aim = Aim(skeleton, lid_shapes or LidShapes())
        self._blinks = Blinks(rngs[0])
        self._gaze = Gaze(rngs[1])
        self._shift = self._gaze.shift
        self._nods = Nods(rngs[2])
        self._sway = Drift(rngs[3], 3, 7.0)
        self._head_drift = Drift(rngs[4], 3, 4.5)
        self._talk_drift = Drift(rngs[5], 4, 1.9)
        self._mix = Follower(_one_hot(Activity.IDLE), 0.9)
        self._beat = Follower(0.0, 0.3)
        self._own: Follower | None = None
        self._last_body: BodyPose | None = None
        self._first_us: int | None = None
        self._last_us: int | None = None

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

        if body is None:
            # From a track that is gone, as after a lost connection, it eases over too.
            body, stalled = self._last_body, True
        self._last_body = body
        own = self._own_share(body is None or stalled, body is not None, dt)
        pose, root = self._skeleton.rest_pose(), np.zeros(3)
        if own > 0.0:
            self._breathe(pose, t)
            self._hold_torso(pose, t, mix)
        if body is not None and own < 1.0:
            pose, root = rotation.slerp(body.pose, pose, own), body.root * (1.0 - own)
        jaw = float(speech[arkit.INDEX["jawOpen"]])
        viewer = camera - root
        trunk = self._aim.trunk(pose, viewer, dt)
        if abs(trunk) > _UNSEEN:
            for bone, share in self._aim.spine_bones.items():
                self._turn(pose, bone, np.array([0.0, trunk * share, 0.0]))
        self._hold_head(pose, t, dt, mix, viewer, glance, jaw, own)
        idle = self._aim.eyes(pose, viewer, glance)
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
        for bone, share in self._aim.spine_bones.items():
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
        turn = self._aim.head(pose, camera, glance, dt)
        if own > 0.0:
            turn = turn + own * self._head_of_its_own(t, dt, mix, jaw)
        for bone, share in self._aim.head_bones.items():
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
