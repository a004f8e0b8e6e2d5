"""The line in which the user types."""

import unicodedata
from typing import Final

LONGEST: Final = 500


class Line:
    """A text that grows at its end.

    Attributes:
        text: What was typed so far.
    """

    def __init__(self) -> None:
        self.text = ""

    def type(self, letters: str) -> None:
        """Adds letters; control characters become blanks, leading blanks and what is too long go."""
        clean = "".join(" " if unicodedata.category(c) == "Cc" else c for c in letters)
        self.text = (self.text + clean).lstrip()[:LONGEST]

    def backspace(self) -> None:
        """Removes the last letter, with the marks on it."""
        while self.text and unicodedata.combining(self.text[-1]):
            self.text = self.text[:-1]
        self.text = self.text[:-1]

    def take(self) -> str:
        """The text, without blanks around it; the line is empty after that."""
        text, self.text = self.text.strip(), ""
        return text
