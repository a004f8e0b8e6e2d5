"""Words that were not meant for the avatar: it hears them, and does not answer."""

from collections.abc import Callable

from taoxr.client import Event, Transcript

Addressed = Callable[[str, bool], str | None]
"""What of the user's words is meant for the avatar, given the transcript so far and whether it is final.

None: nothing. Empty, though there are words: the avatar was only called. Other words than the transcript's
are asked in its place.
"""


class Overheard:
    """Tells which events belong to what nobody said to the avatar, or not in these words.

    Args:
        addressed: Asked for every transcript, in the conversation's thread; None: everything is meant.

    Attributes:
        meant: Of the last final transcript that was hidden: what to ask in its place; None: nothing.
    """

    def __init__(self, addressed: Addressed | None) -> None:
        self._addressed = addressed
        self._turn_id = ""
        self.meant: str | None = None

    def hides(self, event: Event) -> bool:
        """Whether the avatar shall not react to an event."""
        if self._addressed is None:
            return False
        if isinstance(event, Transcript):
            meant = self._addressed(event.text, event.is_final)
            if not event.is_final:
                return meant is None
            self.meant = meant
            hidden = meant != event.text
            self._turn_id = event.turn_id if hidden else ""
            return hidden
        return event.turn_id != "" and event.turn_id == self._turn_id
