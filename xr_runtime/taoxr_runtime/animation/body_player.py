"""The body of a conversation: the media's while something is heard, the motion between the turns else."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from taoxr.client import BodyTrack
from taoxr_runtime.animation import rotation
from taoxr_runtime.animation.curves import smoothstep

Array = npt.NDArray[np.float64]

JOIN_US: Final = 250_000
"""Time in which one source takes over from the other; they nearly meet, so that little is left to see."""
_KEPT_US: Final = 3_000_000


@dataclass(frozen=True, slots=True)
class HumanoidPose:
    """A pose of VRM's humanoid.

    Attributes:
        names: The bones.
        rotations: float64 [bones, 4], local rotations from the T-pose, xyzw.
        hips: float64 [3], translation of the hips in metres.
        stalled: Whether it is the last pose of a track of which no more came in time.
    """

    names: tuple[str, ...]
    rotations: Array
    hips: Array
    stalled: bool = False


class Poses:
    """Poses in time, sampled at any."""

    def __init__(self) -> None:
        self._times = np.zeros(0, np.int64)
        self._rotations = np.zeros((0, 0, 4))
        self._hips = np.zeros((0, 3))

    @property
    def span_us(self) -> tuple[int, int] | None:
        """Times of the first and the last pose; None without any."""
        return (int(self._times[0]), int(self._times[-1])) if len(self._times) else None

    def add(self, track: BodyTrack, keep_us: int | None = None) -> None:
        """Poses from the track's first time on; those that were there from then on are replaced.

        Args:
            track: The poses.
            keep_us: Older poses are dropped when they are so much older than the newest.
        """
        if not len(track.times_us):
            return
        keep = self._times < track.times_us[0]
        if keep_us is not None:
            keep &= self._times >= track.times_us[-1] - keep_us
        if not keep.any():
            self._times, self._rotations, self._hips = (
                track.times_us, track.rotations.astype(np.float64), track.hips.astype(np.float64)
            )  # fmt: skip
            return
        self._times = np.concatenate([self._times[keep], track.times_us])
        self._rotations = np.concatenate([self._rotations[keep], track.rotations])
        self._hips = np.concatenate([self._hips[keep], track.hips])

    def at(self, time_us: int) -> tuple[Array, Array]:
        """Rotations [bones, 4] and hips [3]; the first or last pose outside of what is there."""
        i = int(np.searchsorted(self._times, time_us, side="right"))
        if i == 0 or i == len(self._times):
            i = min(i, len(self._times) - 1)
            return self._rotations[i], self._hips[i]
        before, after = self._times[i - 1], self._times[i]
        mix = float((time_us - before) / (after - before))
        turned = rotation.slerp(self._rotations[i - 1], self._rotations[i], mix)
        return turned, self._hips[i - 1] * (1.0 - mix) + self._hips[i] * mix


class BodyPlayer:
    """Shows the body of a conversation.

    Args:
        names: Bones of the tracks.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._media, self._motion = Poses(), Poses()
        self._turn_id = ""
        # What the session's clock is behind the display's.
        self._behind_us: int | None = None
        self._source: str | None = None
        self._from: tuple[Array, Array] | None = None
        self._shown: tuple[Array, Array] | None = None
        self._change_us = 0

    def add_media(self, turn_id: str, track: BodyTrack) -> None:
        """Takes in poses of a turn, on its media clock; a new turn takes the place of the one before."""
        if turn_id != self._turn_id:
            self._turn_id, self._media = turn_id, Poses()
        self._media.add(track)

    def add_motion(self, now_us: int, track: BodyTrack) -> None:
        """Takes in poses between the turns, on the session's clock; they came at `now_us`."""
        if len(track.times_us):
            # The first piece is due when it comes. Later ones come early; a late one delays what follows.
            behind_us = now_us - int(track.times_us[0])
            self._behind_us = behind_us if self._behind_us is None else max(self._behind_us, behind_us)
            self._motion.add(track, _KEPT_US)

    def sample(self, now_us: int, media_us: int | None) -> HumanoidPose | None:
        """The pose to draw; None before anything came.

        Args:
            now_us: Display time on any steady clock, never decreasing.
            media_us: Position of the audio heard at that time; None when nothing plays.
        """
        source, target = self._target(now_us, media_us)
        if target is not None:
            if source != self._source:
                self._source, self._from, self._change_us = source, self._shown, now_us
            mix = smoothstep((now_us - self._change_us) / JOIN_US)
            if self._from is not None and mix < 1.0:
                turned = rotation.slerp(self._from[0], target[0], mix)
                target = turned, self._from[1] * (1.0 - mix) + target[1] * mix
            self._shown = target
        if self._shown is None:
            return None
        return HumanoidPose(self._names, *self._shown, stalled=target is None)

    def _target(self, now_us: int, media_us: int | None) -> tuple[str, tuple[Array, Array] | None]:
        """Where the pose comes from, and the pose; None when there is none for now: the last one stays."""
        if (
            media_us is not None
            and (span := self._media.span_us) is not None
            and media_us <= span[1] + JOIN_US
        ):
            return f"turn {self._turn_id}", self._media.at(media_us)
        if self._behind_us is None or (span := self._motion.span_us) is None:
            return "", None
        time_us = now_us - self._behind_us
        return "motion", self._motion.at(time_us) if time_us <= span[1] + JOIN_US else None
