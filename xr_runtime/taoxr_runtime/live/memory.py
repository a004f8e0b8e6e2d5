"""What was said: captions for now, history for a conversation that has to be opened again."""

import re
import threading
from collections import deque
from dataclasses import dataclass
from typing import Final

from taoxr.client import MediaChunk
from taoxr_runtime.live.status import Captions

_MESSAGES: Final = 40
_SILENCE: Final = ("", "_")


@dataclass(slots=True)
class _Clause:
    """A clause on the turn's media clock; ``end_us`` is where its last sound ends."""

    text: str
    start_us: int
    end_us: int

    def heard(self, heard_us: int) -> str:
        """Its words up to a time."""
        share = (heard_us - self.start_us) / max(self.end_us - self.start_us, 1)
        if share >= 1.0:
            return self.text
        words = re.findall(r"\S+\s*", self.text)
        begun, count = "", 0
        for word in words:
            if count >= share * len(self.text):
                break
            begun, count = begun + word, count + len(word)
        return begun.strip()


class Memory:
    """Safe to use from any threads.

    What the user says becomes an exchange when the avatar begins to answer it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._saying = ""
        self._asked: str | None = None
        self._user = ""
        self._clauses: list[_Clause] = []
        # The answer as far as it was heard, once it is over.
        self._answer: str | None = None
        self._messages: deque[tuple[str, str]] = deque(maxlen=_MESSAGES)

    def said(self, text: str) -> None:
        """The user says a text; empty takes it back."""
        with self._lock:
            self._saying = text

    def begin(self) -> None:
        """The avatar begins to answer what the user said."""
        with self._lock:
            self._user = self._asked = self._saying
            self._saying, self._clauses, self._answer = "", [], None

    def add(self, chunk: MediaChunk) -> None:
        """The avatar will say what a chunk holds."""
        if not chunk.clause_text:
            return
        voiced = [p.end_us for p in chunk.phonemes if p.symbol not in _SILENCE]
        with self._lock:
            end_us = max(voiced, default=chunk.end_us)
            self._clauses.append(_Clause(chunk.clause_text.strip(), chunk.start_us, end_us))

    def answered(self, heard_text: str) -> None:
        """The answer is over, of which a part was heard."""
        with self._lock:
            if self._asked is None:
                return
            if self._asked:
                self._messages.append(("user", self._asked))
            if heard_text:
                self._messages.append(("assistant", heard_text))
            self._asked, self._answer = None, heard_text

    def captions(self, heard_us: int) -> Captions:
        """What was said last, the answer as far as it was heard."""
        with self._lock:
            if self._saying:
                return Captions(self._saying, "")
            if self._answer is not None:
                return Captions(self._user, self._answer)
            parts = (clause.heard(heard_us) for clause in self._clauses if clause.start_us < heard_us)
            return Captions(self._user, " ".join(part for part in parts if part))

    def history(self) -> tuple[tuple[str, str], ...]:
        """Pairs of "user" or "assistant" and text, oldest first."""
        with self._lock:
            return tuple(self._messages)
