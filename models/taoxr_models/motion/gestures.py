"""The movements that go with speech: beats of the hands, nods of the head.

Beats are small, quick strokes of the hand in time with the speech and without meaning of their own
(McNeill, "Hand and Mind", 1992). A gesture prepares, strokes and retracts (Kendon, "Gesture", 2004), and its
stroke ends on the stressed syllable it belongs to (McClave, "Gestural beats: the rhythm hypothesis", Journal
of Psycholinguistic Research, 1994). Listeners nod every few seconds (Kendon, "Some functions of gaze
direction in social interaction", Acta Psychologica, 1967).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from taoxr_models.motion.curves import Key
from taoxr_models.motion.ease import AT_EASE
from taoxr_models.motion.joints import ARM_AT
from taoxr_models.motion.rotations import Array
from taoxr_models.motion.stress import Stress

Side = Literal["left", "right"]

# Pairs of poses of an arm between which it beats: shrug raise forward inward elbow twist bend swing curl.
_SHAPES: Final = tuple(
    (np.array(ready), np.array(struck))
    for ready, struck in (
        # An open hand, palm half up, that gives something.
        (
            (0.0, 13.0, 12.0, 20.0, 80.0, -28.0, -8.0, 4.0, 20.0),
            (0.0, 14.0, 12.0, 8.0, 62.0, -40.0, 6.0, 0.0, 14.0),
        ),
        # The edge of the hand that cuts.
        (
            (0.0, 11.0, 16.0, 26.0, 86.0, 2.0, -10.0, 8.0, 24.0),
            (0.0, 10.0, 13.0, 22.0, 64.0, 2.0, 8.0, -6.0, 20.0),
        ),
        # Fingers together, palm down: small and exact.
        (
            (1.0, 10.0, 18.0, 30.0, 96.0, 24.0, -12.0, 6.0, 42.0),
            (0.0, 9.0, 16.0, 27.0, 80.0, 20.0, 12.0, 0.0, 38.0),
        ),
        # Low, at the waist.
        (
            (0.0, 10.0, 4.0, 16.0, 58.0, -12.0, -4.0, 2.0, 26.0),
            (0.0, 10.0, 2.0, 9.0, 43.0, -22.0, 8.0, 0.0, 20.0),
        ),
    )
)
# Two hands at once keep out of each other's way: their forearms swing in less.
_APART: Final = np.array([0.0, 0.0, 0.0, 17.0, 0.0, 0.0, 0.0, 0.0, 0.0])
_STROKE_S: Final = (0.17, 0.23)
_PREPARE_S: Final = 0.62
# Less time than that, and the arm would have to be thrown up.
_LEAST_PREPARE_S: Final = 0.45
_LEAST_PREPARE_UP_S: Final = 0.2
_BEAT_GAP_S: Final = 0.62
# A hand springs back from its stroke, which is what makes it a beat.
_RECOIL_S: Final = 0.22
_RECOIL: Final = 0.3
_HOLD_S: Final = 0.5
_RETRACT_S: Final = 1.0
_GESTURE_CHANCE: Final = 0.8
_BOTH_HANDS: Final = 0.35
_LEFT_HAND: Final = 0.2
_MOST_BEATS: Final = 4

_NOD_DEG: Final = (1.8, 3.8)
_NOD_RISE: Final = -0.35
_NOD_DOWN_S: Final = 0.17
_NOD_UP_S: Final = 0.26
_NOD_GAP_S: Final = 0.5
_CLAUSE_TURN: Final = (4.5, 2.5)

_LISTENER_GAP_S: Final = (2.6, 6.0)


@dataclass(frozen=True, slots=True)
class Stroke:
    """A movement that arrives with a stressed syllable: start and apex in seconds, and how strong it is."""

    start: float
    apex: float
    strength: float


@dataclass(frozen=True, slots=True)
class Gesture:
    """One gesture: strokes, and for each side that makes it when to begin and through which poses to go."""

    strokes: tuple[Stroke, ...]
    begin: float
    keys: dict[Side, list[Key]]


def beats(
    stressed: Sequence[Stress], start: float, rng: np.random.Generator, up_until: float
) -> Gesture | None:
    """The beats of a clause, or None when it has none.

    Args:
        stressed: Its stresses, in order.
        start: When it begins, in seconds; the arms can move from then on.
        rng: Chooses.
        up_until: How long the hands stay up from the gesture before.
    """
    chance, shape, hands = rng.random(), _SHAPES[int(rng.integers(len(_SHAPES)))], rng.random()
    strokes: list[Stroke] = []
    for s in stressed:
        length = float(rng.uniform(*_STROKE_S))
        begin = s.peak - length
        ready_in = _LEAST_PREPARE_UP_S if begin < up_until else _LEAST_PREPARE_S
        far_enough = begin - start >= ready_in and (
            not strokes or s.peak - strokes[-1].apex >= _BEAT_GAP_S * rng.uniform(0.8, 1.5)
        )
        if s.strength >= 0.7 and far_enough and len(strokes) < _MOST_BEATS:
            strokes.append(Stroke(begin, s.peak, s.strength))
    if not strokes or chance > _GESTURE_CHANCE:
        return None
    sides: tuple[Side, ...] = ("right",)
    if hands < _BOTH_HANDS:
        sides = ("left", "right")
    elif hands < _BOTH_HANDS + _LEFT_HAND:
        sides = ("left",)
    if len(sides) == 2:
        shape = (shape[0] - _APART, shape[1] - _APART)
    begin = max(start, strokes[0].start - _PREPARE_S)
    keys: dict[Side, list[Key]] = {side: _keys(strokes, shape, rng, AT_EASE[ARM_AT[side]]) for side in sides}
    return Gesture(tuple(strokes), begin, keys)


def _keys(
    strokes: Sequence[Stroke], shape: tuple[Array, Array], rng: np.random.Generator, rest: Array
) -> list[Key]:
    keys: list[Key] = []
    ready, struck = shape
    ready = ready + rng.normal(0.0, 0.06, ready.shape) * np.abs(ready)
    pose = ready
    for i, stroke in enumerate(strokes):
        # The first stroke comes from the full height, those that follow from less.
        ready = ready if i == 0 else ready + rng.uniform(0.1, 0.35) * (struck - ready)
        pose = ready + (struck - shape[0]) * stroke.strength * rng.uniform(0.8, 1.15)
        keys += [(stroke.start, ready), (stroke.apex, pose)]
        if i + 1 == len(strokes) or strokes[i + 1].start - stroke.apex > 2.0 * _RECOIL_S:
            pose = pose + _RECOIL * (ready - pose)
            keys.append((stroke.apex + _RECOIL_S, pose))
    held = strokes[-1].apex + _HOLD_S
    return [*keys, (held, pose), (held + _RETRACT_S, rest)]


def nods(
    stressed: Sequence[Stress], start: float, end: float, rng: np.random.Generator
) -> tuple[float, list[Key]]:
    """The head's part in a clause: when it begins, and keys of nod, shake and tilt in degrees.

    Args:
        stressed: Its stresses, in order.
        start: When it begins, in seconds.
        end: When it ends.
        rng: Chooses.
    """
    turn, tilt = rng.uniform(-1.0, 1.0, 2) * _CLAUSE_TURN
    keys: list[Key] = []
    last = -np.inf
    for s in stressed:
        degrees = float(rng.uniform(*_NOD_DEG)) * s.strength
        begin = s.peak - _NOD_DOWN_S
        if s.strength < 0.7 or begin - start < 0.12 or s.peak - last < _NOD_GAP_S:
            continue
        last = s.peak
        turn, tilt = rng.normal((turn, tilt), 0.8)
        keys += [
            (begin, (_NOD_RISE * degrees, turn, tilt)),
            (s.peak, (degrees, turn, tilt)),
            (s.peak + _NOD_UP_S, (0.0, turn, tilt)),
        ]
    begin = max(start, keys[0][0] - 0.3) if keys else start
    return begin, [*keys, (max(end, last + _NOD_UP_S) + 0.6, (0.0, 0.0, 0.0))]


class ListenerNods:
    """When a listener nods; drawn as far as asked for, so that it does not depend on how often that is.

    Args:
        rng: Where the times come from.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._next = float(rng.uniform(1.0, 2.5))
        self._nods: list[tuple[float, float, bool]] = []

    def within(self, start: float, end: float) -> list[tuple[float, list[Key]]]:
        """Begin and keys (nod, shake, tilt) of the nods that begin in [start, end) seconds."""
        rng = self._rng
        while self._next < end:
            self._nods.append((self._next, float(rng.uniform(3.0, 5.5)), bool(rng.random() < 0.5)))
            self._next += float(rng.uniform(*_LISTENER_GAP_S))
        return [(t, _nod(t, degrees, twice)) for t, degrees, twice in self._nods if start <= t < end]

    def forget(self, before: float) -> None:
        """Nobody will ask about times before `before` seconds."""
        self._nods = [nod for nod in self._nods if nod[0] >= before]


def _nod(t: float, degrees: float, twice: bool) -> list[Key]:
    keys: list[Key] = [(t + 0.24, (degrees, 0.0, 0.0)), (t + 0.56, (-0.1 * degrees, 0.0, 0.0))]
    if twice:
        keys += [(t + 0.78, (0.6 * degrees, 0.0, 0.0)), (t + 1.08, (0.0, 0.0, 0.0))]
    return [*keys, (t + 1.5, (0.0, 0.0, 0.0))]
