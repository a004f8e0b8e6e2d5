"""Where the avatar stands."""

from __future__ import annotations

from taoxr_runtime.xr.carry import Carry
from taoxr_runtime.xr.controls import Wishes
from taoxr_runtime.xr.poses import Matrix, Pose, in_front


class Placing:
    """In front of the user at first, and again when told; else where the user's hands put the avatar.

    Attributes:
        model: Where it stands; None before the user has been seen.
        anew: Whether it has just been put in front of the user.
    """

    def __init__(self) -> None:
        self.model: Pose | None = None
        self.anew = False
        self._recentred = 0
        self._carry = Carry()

    def update(self, head: Matrix, floor_y: float, recentred: int, wishes: Wishes) -> Pose:
        """Where it stands in this frame.

        Args:
            head: float64 [4, 4], pose of the user's head.
            floor_y: Height of the floor in metres, in the same space.
            recentred: How often the space's origin has been moved.
            wishes: The user's.
        """
        self.anew = self.model is None or recentred != self._recentred or wishes.reset
        if self.model is None or self.anew:
            self.model = in_front(head, floor_y)
            self._recentred = recentred
            self._carry.let_go()
        self.model = self._carry.move(self.model, wishes.grips)
        return self.model
