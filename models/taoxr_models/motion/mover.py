"""The body of one conversation, in time."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr.v1.body_pb2 import PlayAction
from taoxr_models.a2bs.animate import frame_times
from taoxr_models.a2bs.phonemes import Phoneme
from taoxr_models.mood import Mood, mood_of
from taoxr_models.motion import gestures
from taoxr_models.motion.actions import ARM_AT_REST, TRUNK_AT_REST, arm_keys, trunk_keys
from taoxr_models.motion.bones import INDEX
from taoxr_models.motion.clips import Clips
from taoxr_models.motion.curves import Drift, Track
from taoxr_models.motion.ease import AT_EASE, Ease
from taoxr_models.motion.gaze import Gaze, direction_to
from taoxr_models.motion.joints import (
    ARM_AT,
    HEAD_AT,
    INDEX_OF,
    JOINTS,
    TRUNK_AND_HEAD,
    TRUNK_AT,
    Pose,
    arm_bones,
    look,
    rotations,
)
from taoxr_models.motion.recording import Recording
from taoxr_models.motion.rotations import Array, multiply, slerp
from taoxr_models.motion.stress import Stress, stresses

CUT_BACK_US: Final = 15_000_000
"""How far back a cut may lie."""
_KEPT_S: Final = CUT_BACK_US / 1e6 + 1.0
_SETTLE_S: Final = 0.9
_RETRACT_S: Final = 0.8


class Activity(Enum):
    """What the body does."""

    IDLE = "idle"
    LISTENING = "listening"
    THINKING = "thinking"
    TALKING = "talking"


class CueKind(Enum):
    """What a cue tells."""

    STRESS = "stress"
    BEAT = "beat"
    EMOTION = "emotion"


@dataclass(frozen=True, slots=True)
class Cue:
    """Something in the speech, on the clock that was asked for; see ``taoxr.v1.Cue``."""

    kind: CueKind
    time_us: int
    duration_us: int
    strength: float
    name: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """Poses in time.

    Attributes:
        start_us: Start on the body's clock.
        times_us: [n] int64 on the clock that was asked for.
        rotations: [n, bones, 4] local rotations from the T-pose, unit quaternions x, y, z, w.
        hips: [n, 3] translation of the hips in metres.
        cues: What begins inside.
    """

    start_us: int
    times_us: NDArray[np.int64]
    rotations: Array
    hips: Array
    cues: tuple[Cue, ...]


def _manner(liveliness: float, **joints: float) -> Array:
    manner = np.zeros(HEAD_AT.stop + 1)
    manner[-1] = liveliness
    for name, degrees in joints.items():
        manner[INDEX_OF[name]] = degrees
    return manner


# Bearing of trunk and head, and how much the body drifts with its talk.
_MANNERS: Final = {
    Activity.IDLE: _manner(0.0),
    Activity.LISTENING: _manner(0.0, lean=2.0, nod=1.0, tilt=-3.5),
    Activity.THINKING: _manner(0.1, lean=-0.6, nod=-5.0, shake=6.0, tilt=2.5),
    Activity.TALKING: _manner(1.0, lean=0.8),
}
# People look away, mostly up, while they think of what to say (Kendon, 1967).
_THINKING_GAZE: Final = np.array([10.0, 9.0])
_TRUNK_TALK: Final = (0.6, 1.6, 0.7)
_HEAD_TALK: Final = (1.3, 2.3, 1.5)


class Mover:
    """Moves a body; its clock stands still until `advance`.

    Args:
        seed: The same seed and the same calls give the same motion.
        frame_rate: Frames per second.
        start_us: Where its clock begins.
        recording: What the body does at ease and while it talks, in place of what is made up here; nods,
            actions and gaze come on top.
    """

    def __init__(
        self,
        seed: int = 0,
        frame_rate: float = 30.0,
        start_us: int = 0,
        recording: Recording | None = None,
    ) -> None:
        self._seed = seed
        self._frame_rate = frame_rate
        self._start_us = self._now_us = start_us
        self._ease = Ease(seed)
        rngs = np.random.default_rng([seed, 1]).spawn(4)
        self._clips = None if recording is None else Clips(recording, rngs[3], start_us / 1e6)
        self._trunk_talk, self._head_talk = Drift(rngs[0], 3, 5.2), Drift(rngs[1], 3, 3.7)
        self._listener = gestures.ListenerNods(rngs[2])
        self._activity = Activity.IDLE
        self._manner = Track(_MANNERS[Activity.IDLE])
        self._head = Track(np.zeros(3))
        self._arms = {side: Track(AT_EASE[at]) for side, at in ARM_AT.items()}
        self._action = Track(TRUNK_AT_REST)
        self._action_arms = {side: Track(ARM_AT_REST) for side in ARM_AT}
        self._playing: tuple[float, PlayAction.Action.ValueType] | None = None
        self._gaze = Gaze()
        self._target: Array | None = None
        self._clauses = 0
        self._hands_until = -1.0
        self._mood = Mood()
        # On the body's clock, in order.
        self._cues: list[Cue] = []

    @property
    def now_us(self) -> int:
        """The body's clock."""
        return self._now_us

    def speak(self, text: str, phonemes: Sequence[Phoneme]) -> None:
        """A clause is spoken from now on.

        Args:
            text: Its words.
            phonemes: In order; seconds from now.

        Raises:
            InvalidInputError: Phonemes are out of order or not IPA.
        """
        now = self._now_us / 1e6
        stressed = [Stress(now + s.start, now + s.end, s.strength) for s in stresses(phonemes)]
        end = now + (phonemes[-1].end if phonemes else 0.0)
        self._clauses += 1
        rng = np.random.default_rng([self._seed, 2, self._clauses])
        cues = [Cue(CueKind.STRESS, *_span_us(s.start, s.end), s.strength) for s in stressed]
        gesture = gestures.beats(stressed, now, rng, self._hands_until)
        # Hands that follow a recording make gestures of their own.
        if gesture is not None and self._clips is None:
            for side, keys in gesture.keys.items():
                self._arms[side].plan(gesture.begin, keys)
            self._hands_until = gesture.strokes[-1].apex
            cues += [Cue(CueKind.BEAT, *_span_us(s.start, s.apex), s.strength) for s in gesture.strokes]
        self._head.plan(*gestures.nods(stressed, now, end, rng))
        mood = mood_of(text)
        if mood.name != "neutral" or mood.name != self._mood.name:
            cues.append(Cue(CueKind.EMOTION, *_span_us(now, end), mood.strength, mood.name))
        self._mood = mood
        self._cues = sorted((*self._cues, *cues), key=lambda cue: cue.time_us)

    def act(self, action: PlayAction.Action.ValueType) -> None:
        """Plays a gesture, now; it takes the place of one that plays."""
        now = self._now_us / 1e6
        self._action.plan(now, trunk_keys(action, now))
        for side, track in self._action_arms.items():
            track.plan(now, arm_keys(action, side, now))
        self._playing = (now, action)

    def look_at(self, point: tuple[float, float, float] | None) -> None:
        """Looks at a point in the avatar's space (metres) from now on; None: straight ahead."""
        self._target = None if point is None else direction_to(point)
        self._turn_gaze(self._now_us / 1e6)

    def cut(self, at_us: int) -> None:
        """Nobody will see what comes after `at_us`: the body goes on from how it was then.

        Speech ends there: hands and head come to rest. Gestures asked for and the gaze go on.

        Raises:
            InvalidInputError: The time is in the future or too far back.
        """
        if not max(self._start_us, self._now_us - CUT_BACK_US) <= at_us <= self._now_us:
            expected = f"up to {CUT_BACK_US} us before now, {self._now_us} us"
            raise InvalidInputError("cut.at_us", at_us, expected)
        at, self._now_us = at_us / 1e6, at_us
        for side, track in self._arms.items():
            track.plan(at, [(at + _RETRACT_S, AT_EASE[ARM_AT[side]])])
        self._head.plan(at, [(at + _RETRACT_S, np.zeros(3))])
        self._manner.plan(at, [(at + _SETTLE_S, _MANNERS[self._activity])])
        self._gaze.cut(at)
        if self._clips is not None:
            self._clips.cut(at)
        self._hands_until = min(self._hands_until, at)
        self._cues = []
        if self._playing is not None and self._playing[0] > at:
            self.act(self._playing[1])

    def advance(self, activity: Activity, duration_us: int, clock_offset_us: int) -> Span:
        """Lets time go on.

        Args:
            activity: What the body does meanwhile.
            duration_us: For how long.
            clock_offset_us: The body's now on the clock that frames and cues are for.
        """
        start_us, end_us = self._now_us, self._now_us + duration_us
        if activity is not self._activity:
            self._activity = activity
            self._manner.plan(start_us / 1e6, [(start_us / 1e6 + _SETTLE_S, _MANNERS[activity])])
            self._turn_gaze(start_us / 1e6)
        if self._clips is not None:
            self._clips.turn_to(start_us / 1e6, activity is Activity.TALKING)
        if activity is Activity.LISTENING:
            for begin, keys in self._listener.within(start_us / 1e6, end_us / 1e6):
                self._head.plan(begin, keys)
        times_us = frame_times(clock_offset_us, clock_offset_us + duration_us, self._frame_rate)
        shift_us = clock_offset_us - start_us
        q, hips = self._bones((times_us - shift_us) / 1e6) if len(times_us) else _nothing()
        cues = tuple(_shifted(cue, shift_us) for cue in self._cues if cue.time_us < end_us)
        self._cues = [cue for cue in self._cues if cue.time_us >= end_us]
        self._now_us = end_us
        self._forget(end_us / 1e6 - _KEPT_S)
        return Span(start_us, times_us, q, hips, cues)

    def _bones(self, times: Array) -> tuple[Array, Array]:
        """Rotations [n, bones, 4] and where the hips are [n, 3]."""
        if self._clips is None:
            pose = self._pose(times)
            for side, at in ARM_AT.items():
                arm = self._action_arms[side].at(times)
                pose.joints[:, at] += arm[:, -1:] * (arm[:, :-1] - pose.joints[:, at])
            return rotations(pose)
        return self._layered(self._clips, times)

    def _layered(self, clips: Clips, times: Array) -> tuple[Array, Array]:
        """The recording; what trunk and head do otherwise is added to it, and actions take its arms."""
        q, hips = clips.at(times)
        joints = np.zeros((len(times), len(JOINTS)))
        self._add_bearing(joints, times)
        arms = {side: self._action_arms[side].at(times) for side in ARM_AT}
        for side, at in ARM_AT.items():
            joints[:, at] = arms[side][:, :-1]
        still = np.zeros((len(times), 4))
        gaze = self._gaze.direction(times) + self._ease.glances(times)
        added, _ = rotations(Pose(joints, still, still[:, 0], gaze))
        for bone in TRUNK_AND_HEAD:
            q[:, INDEX[bone]] = multiply(q[:, INDEX[bone]], added[:, INDEX[bone]])
        for side, arm in arms.items():
            if arm[:, -1].any():
                bones = arm_bones(side)
                q[:, bones] = slerp(q[:, bones], added[:, bones], arm[:, -1:])
        look(q, gaze)
        return q, hips

    def _pose(self, times: Array) -> Pose:
        joints = self._ease.joints(times)
        for side, at in ARM_AT.items():
            joints[:, at] += self._arms[side].at(times) - AT_EASE[at]
        self._add_bearing(joints, times)
        gaze = self._gaze.direction(times) + self._ease.glances(times)
        return Pose(joints, self._ease.hips(times), self._ease.breath(times), gaze)

    def _add_bearing(self, joints: Array, times: Array) -> None:
        """Adds what trunk and head do with their mood, words, gaze and actions to joints [n, joints]."""
        manner = self._manner.at(times)
        lively = manner[:, -1:]
        joints[:, TRUNK_AT] += manner[:, TRUNK_AT] + lively * self._trunk_talk.at(times) * _TRUNK_TALK
        joints[:, HEAD_AT] += manner[:, HEAD_AT] + lively * self._head_talk.at(times) * _HEAD_TALK
        joints[:, HEAD_AT] += self._head.at(times)
        carried = self._gaze.carried(times)
        joints[:, INDEX_OF["turn"]] += carried[:, 0]
        joints[:, INDEX_OF["shake"]] += carried[:, 1]
        joints[:, INDEX_OF["nod"]] += carried[:, 2]
        joints[:, : HEAD_AT.stop] += self._action.at(times)

    def _turn_gaze(self, at: float) -> None:
        if self._target is not None:
            self._gaze.turn(at, self._target)
        else:
            self._gaze.turn(at, _THINKING_GAZE if self._activity is Activity.THINKING else np.zeros(2))

    def _forget(self, before: float) -> None:
        tracks = (self._manner, self._head, self._action, *self._action_arms.values())
        for part in (*tracks, *self._arms.values(), self._gaze, self._ease, self._listener):
            part.forget(before)


def _span_us(start: float, end: float) -> tuple[int, int]:
    """Start and length in microseconds."""
    return round(start * 1e6), round(end * 1e6) - round(start * 1e6)


def _shifted(cue: Cue, by_us: int) -> Cue:
    return Cue(cue.kind, cue.time_us + by_us, cue.duration_us, cue.strength, cue.name)


def _nothing() -> tuple[Array, Array]:
    return np.zeros((0, 0, 4)), np.zeros((0, 3))
