"""What was said so far, as the language model is told it: the avatar's part as far as it was heard."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from google.rpc import status_pb2  # pyright: ignore[reportMissingTypeStubs]

from taoxr.v1 import common_pb2
from taoxr.worker.v1 import llm_pb2
from taoxr_bridge.notices import notice

FORGOTTEN: Final = "HISTORY_DROPPED"
"""Reason of the notice that the model is no longer told of the conversation's beginning."""

# Phoneme symbols that stand for silence (see PhonemeTiming).
_SILENCE: Final = ("", "_")


@dataclass(frozen=True, slots=True)
class SpokenClause:
    """A clause as it lies on the turn's media clock.

    Attributes:
        text: The clause with the white space after it.
        start_us: First sample.
        end_us: End, exclusive; the pause after the clause included.
        phonemes: Its phonemes.
    """

    text: str
    start_us: int
    end_us: int
    phonemes: Sequence[common_pb2.PhonemeTiming]


def heard_text(clauses: Iterable[SpokenClause], played_us: int) -> str:
    """The text of a turn that was heard until `played_us`, cut at a word.

    Inside a clause the share of its phonemes that were over is taken for the share of its letters.
    """
    heard = ""
    for clause in clauses:
        if clause.end_us <= played_us:
            heard += clause.text
        elif clause.start_us < played_us:
            heard += _heard_part(clause, played_us)
    return heard.strip()


def _heard_part(clause: SpokenClause, played_us: int) -> str:
    ends = [p.end_us for p in clause.phonemes if p.symbol not in _SILENCE]
    if ends:
        share = sum(end <= played_us for end in ends) / len(ends)
    else:
        share = (played_us - clause.start_us) / (clause.end_us - clause.start_us)
    words = re.findall(r"\S+\s*", clause.text)
    letters = [sum(c.isalnum() for c in word) for word in words]
    budget, heard = share * sum(letters) + 1e-6, ""
    for word, count in zip(words, letters, strict=True):
        budget -= count
        if budget < 0:
            break
        heard += word
    return heard


class History:
    """Messages of one conversation, oldest first, kept within a budget of characters.

    When it grows over the budget, the oldest messages go until half is left: rarely and many at once,
    because every change at the front costs the language model its cache.

    Args:
        system_prompt: Comes first and always stays.
        examples: Exchanges (user, avatar) that show how to answer; they come next and always stay.
        earlier: Turns from before this conversation.
        max_chars: Budget for all that does not always stay.

    Attributes:
        dropped: How many messages have gone.
    """

    def __init__(
        self,
        system_prompt: str,
        examples: Iterable[tuple[str, str]],
        earlier: Iterable[common_pb2.ChatMessage],
        max_chars: int,
    ) -> None:
        self._fixed = _persona(system_prompt, examples)
        self._messages = list(earlier)
        # Of each message, the turn that it belongs to.
        self._turns = [""] * len(self._messages)
        # Their positions count from the first of `_messages`.
        self._uses: list[llm_pb2.ToolUse] = []
        self._max_chars = max_chars
        self.dropped = 0
        self._told = 0

    def change_persona(self, system_prompt: str, examples: Iterable[tuple[str, str]]) -> None:
        """Another system prompt and other examples; what was said stays."""
        self._fixed = _persona(system_prompt, examples)

    def add_user(self, text: str, turn_id: str = "") -> None:
        """The user said `text`, which a turn answers."""
        self._add(common_pb2.ROLE_USER, text, turn_id)
        self._trim()

    def add_assistant(self, text: str, uses: Iterable[llm_pb2.ToolUse] = (), turn_id: str = "") -> None:
        """The user heard the avatar say `text`, for which it used tools; nothing heard leaves no message.

        What goes on after an interruption that was none joins the message before it.
        """
        for use in uses:
            placed = llm_pb2.ToolUse(position=len(self._messages), call=use.call, result=use.result)
            self._uses.append(placed)
        last = self._messages[-1] if self._messages else None
        if text and last is not None and last.role == common_pb2.ROLE_ASSISTANT:
            self._messages[-1] = _message(common_pb2.ROLE_ASSISTANT, f"{last.content} {text}")
        elif text:
            self._add(common_pb2.ROLE_ASSISTANT, text, turn_id)

    def forget(self, turn_id: str) -> None:
        """What belongs to a turn was never said: the user's words, the avatar's, the tools used for them."""
        for place in reversed([i for i, turn in enumerate(self._turns) if turn == turn_id]):
            self._delete(place)

    def messages(self) -> list[common_pb2.ChatMessage]:
        """System prompt, examples and turns, oldest first."""
        return [*self._fixed, *self._messages]

    def tool_uses(self) -> list[llm_pb2.ToolUse]:
        """The calls in between, with their places among `messages`."""
        fixed = len(self._fixed)
        return [
            llm_pb2.ToolUse(position=fixed + u.position, call=u.call, result=u.result) for u in self._uses
        ]

    def forgotten(self, by_model: int) -> status_pb2.Status | None:
        """What to tell the client when the model has lost more of the conversation than it was told of.

        Args:
            by_model: How many of the oldest messages the language model left out by itself, system prompt not
                counted; calls and results of tools are messages, too.
        """
        lost = self.dropped + max(0, by_model - (len(self._fixed) - 1))
        if lost <= self._told:
            return None
        self._told = lost
        text = (
            f"the conversation is longer than what the model keeps: its {lost} oldest messages are forgotten"
        )
        return notice(FORGOTTEN, text, messages=str(lost))

    def said(self) -> list[common_pb2.ChatMessage]:
        """Words only, without persona and tools, oldest first."""
        return [*self._messages]

    def _trim(self) -> None:
        if self._chars() <= self._max_chars:
            return
        # It goes on where the user speaks: an answer without its question says nothing.
        while len(self._messages) > 1 and (
            self._chars() > self._max_chars // 2 or self._messages[0].role == common_pb2.ROLE_ASSISTANT
        ):
            self._delete(0)
            self.dropped += 1

    def _add(self, role: common_pb2.Role.ValueType, text: str, turn_id: str) -> None:
        self._messages.append(_message(role, text))
        self._turns.append(turn_id)

    def _delete(self, place: int) -> None:
        """Takes a message away, and the tools used after it: a result without its question says nothing."""
        del self._messages[place], self._turns[place]
        self._uses = [use for use in self._uses if use.position != place + 1]
        for use in self._uses:
            use.position -= use.position > place

    def _chars(self) -> int:
        results = (u.result.output + u.result.error + u.call.arguments_json for u in self._uses)
        return sum(map(len, results)) + sum(len(m.content) for m in self._messages)


def _persona(system_prompt: str, examples: Iterable[tuple[str, str]]) -> list[common_pb2.ChatMessage]:
    messages = [_message(common_pb2.ROLE_SYSTEM, system_prompt)]
    for user, avatar in examples:
        messages.append(_message(common_pb2.ROLE_USER, user))
        messages.append(_message(common_pb2.ROLE_ASSISTANT, avatar))
    return messages


def _message(role: common_pb2.Role.ValueType, content: str) -> common_pb2.ChatMessage:
    return common_pb2.ChatMessage(role=role, content=content)
