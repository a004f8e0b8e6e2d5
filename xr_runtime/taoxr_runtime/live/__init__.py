"""The avatar alive on a stage: its conversation, its motion, its splats.

::

    with Companion(None, open_sink(), open_source()) as companion, Actor(scene, companion) as actor:
        companion.ask("Hello!")
        while drawing:
            splats = actor.update(camera_in_model)
"""

from taoxr_runtime.live.actor import Actor
from taoxr_runtime.live.companion import Companion
from taoxr_runtime.live.status import Captions, CompanionState, Remark

__all__ = ["Actor", "Captions", "Companion", "CompanionState", "Remark"]
