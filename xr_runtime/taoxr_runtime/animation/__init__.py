"""What moves the avatar: the face of a turn, and the life between turns."""

from taoxr_runtime.animation.activity import Activity
from taoxr_runtime.animation.body import Skeleton
from taoxr_runtime.animation.face import Face
from taoxr_runtime.animation.idle import Idle, Motion
from taoxr_runtime.animation.merge import merge_expressions

__all__ = ["Activity", "Face", "Idle", "Motion", "Skeleton", "merge_expressions"]
