"""Words that were not meant for the avatar: it hears them, and does not answer."""

from collections.abc import Callable

from taoxr.client import Event, Transcript

Addressed = Callable[[str, bool], bool]
"""Whether words are meant for the avatar: the transcript so far, and whether it is final."""


class Overheard:
    """Tells which events belong to what nobody said to the avatar.

    Args:
        addressed: Asked for every transcript, in the conversation's thread; None: everything is meant.
    """

    def __init__(self, addressed: Addressed | None) -> None:
        self._addressed = addressed
        self._turn_id = ""

    def hides(self, event: Event) -> bool:
        """Whether an event is none of the avatar's business."""
        if self._addressed is None:
            return False
        if isinstance(event, Transcript):
            meant = self._addressed(event.text, event.is_final)
            if event.is_final:
                self._turn_id = "" if meant else event.turn_id
            return not meant
        return event.turn_id != "" and event.turn_id == self._turn_id
