"""Contextual biasing: phrases that shall be heard rather than what sounds like them.

An Aho-Corasick automaton over tokens: each step into a phrase adds to a hypothesis's score, and what was
added is taken back when the phrase is left before its end (as in icefall's ``ContextGraph``).
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from taoxr.errors import InvalidInputError
from taoxr_models.ear.online.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Hotword:
    """A phrase to boost.

    Attributes:
        tokens: Its ids.
        score: Boost per token.
    """

    tokens: tuple[int, ...]
    score: float


@dataclass(slots=True, eq=False)
class State:
    """A node of the automaton: how much of which phrase has been heard.

    Attributes:
        token_score: Boost of the step into this node.
        total: Sum of the boosts from the root.
        output: Boost to keep, of the phrases that end here.
        ends: True where a phrase ends.
        next: Node by token.
        fail: Node of the longest other phrase beginning that the tokens so far end with.
    """

    token_score: float = 0.0
    total: float = 0.0
    output: float = 0.0
    ends: bool = False
    next: "dict[int, State]" = field(default_factory=dict["int", "State"])
    fail: "State | None" = None


class ContextGraph:
    """The automaton of some phrases.

    Args:
        hotwords: The phrases; of two that begin alike, the higher score holds for the common part.
    """

    def __init__(self, hotwords: Iterable[Hotword]) -> None:
        self.root = State()
        for hotword in hotwords:
            self._add(hotword)
        self._link()

    def step(self, state: State, token: int) -> tuple[float, State]:
        """Goes on with a token.

        Returns:
            What to add to the hypothesis's score, and its next state.
        """
        node = state.next.get(token)
        if node is not None:
            gained = node.token_score
        else:
            node = self._fallback(state.fail or self.root, token)
            gained = node.total - state.total
        if node.output != 0.0:  # a phrase is through: its boost stays, and matching begins anew
            kept = node.total if node.ends else node.output
            return gained + kept - node.total, self.root
        return gained, node

    def _add(self, hotword: Hotword) -> None:
        node = self.root
        for i, token in enumerate(hotword.tokens):
            parent, last = node, i == len(hotword.tokens) - 1
            node = parent.next.setdefault(token, State(token_score=hotword.score))
            node.token_score = max(hotword.score, node.token_score)
            node.total = parent.total + node.token_score
            node.ends = node.ends or last
            node.output = node.total if node.ends else 0.0

    def _link(self) -> None:
        queue: deque[State] = deque()
        for node in self.root.next.values():
            node.fail = self.root
            queue.append(node)
        while queue:
            node = queue.popleft()
            for token, child in node.next.items():
                child.fail = self._fallback(node.fail or self.root, token)
                suffix = self._ending(child.fail)
                if suffix is not None:
                    child.output += suffix.output
                queue.append(child)

    def _fallback(self, node: State, token: int) -> State:
        while token not in node.next and node is not self.root:
            node = node.fail or self.root
        return node.next.get(token, self.root)

    def _ending(self, node: State) -> State | None:
        """The longest phrase that ends here; None without one."""
        while node is not self.root:
            if node.ends:
                return node
            node = node.fail or self.root
        return None


class HotwordEncoder:
    """Turns phrases into tokens.

    Args:
        tokens: The model's symbols.
        unit: What a token is: ``"cjkchar"``, ``"bpe"`` or ``"cjkchar+bpe"``.
        pieces: For ``bpe``: log probability of each piece.
    """

    def __init__(self, tokens: Tokens, unit: str, pieces: "dict[str, float] | None") -> None:
        if unit not in ("cjkchar", "bpe", "cjkchar+bpe"):
            raise InvalidInputError("modeling_unit", unit, "cjkchar, bpe or cjkchar+bpe")
        self._tokens = tokens
        self._unit = unit
        self._pieces = pieces

    def encode(self, lines: Iterable[str], default_score: float) -> list[Hotword]:
        """One phrase per line, words apart by spaces; ``:2.5`` at the end is a boost of its own.

        Raises:
            InvalidInputError: A phrase has a piece that the model does not know, or a wrong boost.
        """
        return [self._line(line, default_score) for line in lines if line.split()]

    def _line(self, line: str, default_score: float) -> Hotword:
        *words, last = line.split()
        score = default_score
        if last.startswith(":"):
            try:
                score = float(last[1:]) or default_score
            except ValueError as error:
                raise InvalidInputError("hotwords", line, "a number after `:`") from error
        else:
            words.append(last)
        if not words or any(w.startswith(":") for w in words):
            raise InvalidInputError("hotwords", line, "words, then at most one `:BOOST`")
        ids: list[int] = []
        for piece in (p for word in words for p in self._split(word)):
            token = self._tokens.id_of(piece)
            if token is None:
                raise InvalidInputError(
                    "hotwords", line, f"tokens of the model; {piece!r} is none (case matters)"
                )
            ids.append(token)
        return Hotword(tuple(ids), score)

    def _split(self, word: str) -> Sequence[str]:
        if self._unit == "bpe":
            return self._bpe(word)
        runs = _characters(word)
        if self._unit == "cjkchar":
            return runs
        return [
            piece
            for run in runs
            for piece in (self._bpe(run) if run[0].isascii() and run[0].isalpha() else (run,))
        ]

    def _bpe(self, word: str) -> Sequence[str]:
        """The most likely split into pieces (sentencepiece's unigram model)."""
        if self._pieces is None:
            raise InvalidInputError("bpe_vocab", "", f"the pieces' file, for modeling_unit {self._unit}")
        text = f"▁{word}"
        best: list[tuple[float, int]] = [(0.0, 0)] + [(-float("inf"), 0)] * len(text)
        for end in range(1, len(text) + 1):
            for start in range(end):
                score = self._pieces.get(text[start:end])
                if score is not None and best[start][0] + score > best[end][0]:
                    best[end] = (best[start][0] + score, start)
        if best[-1][0] == -float("inf"):
            raise InvalidInputError("hotwords", word, "a word that the pieces of bpe_vocab can spell")
        pieces: list[str] = []
        end = len(text)
        while end:
            pieces.append(text[best[end][1] : end])
            end = best[end][1]
        return pieces[::-1]


def _characters(word: str) -> list[str]:
    """Characters, but runs of ASCII letters whole."""
    runs: list[str] = []
    for character in word:
        latin = character.isascii() and character.isalpha()
        if latin and runs and runs[-1][-1].isascii() and runs[-1][-1].isalpha():
            runs[-1] += character
        else:
            runs.append(character)
    return runs
