"""Fenced code in an answer: shown, but not read aloud."""

from typing import Final

_FENCE: Final = "```"


class CodeBlocks:
    """Follows an answer clause by clause."""

    def __init__(self) -> None:
        self._inside = False

    def outside(self, clause: str) -> str:
        """What of the next clause is not code between fences; its language, after the fence, is code, too."""
        spoken = ""
        for i, part in enumerate(clause.split(_FENCE)):
            if i:
                self._inside = not self._inside
            if not self._inside:
                spoken += part
        return spoken
