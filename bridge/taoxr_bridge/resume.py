"""How a conversation is begun, kept in the journal, and gone on with after its connection was lost."""

import asyncio
import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from taoxr.errors import NotFoundError, TaoxrError
from taoxr.v1 import common_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr_bridge.history import History
from taoxr_bridge.journal import Journal, Saved
from taoxr_bridge.turn import Turn

# While the avatar speaks, what was heard is saved this often; else only that the conversation runs.
_SPEAKING_S: Final = 1.0
_QUIET_S: Final = 20.0
# A disk that is slower does not hold up the conversation.
_DISK_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a conversation stands when its stream begins.

    Attributes:
        session_id: Its name.
        token: Resumes it; empty when it cannot be resumed.
        resumed: Whether it began on another stream.
        epoch: First epoch.
        turns: Turns so far.
        lost: The turn that the loss broke off.
    """

    session_id: str
    token: str = ""
    resumed: bool = False
    epoch: int = 0
    turns: int = 0
    lost: pb.LostTurn | None = None


def begin(journal: Journal | None) -> Origin:
    """A new conversation."""
    return Origin(uuid.uuid4().hex[:12], secrets.token_urlsafe(32) if journal is not None else "")


async def find(journal: Journal | None, token: str) -> Saved:
    """The conversation of a token.

    Raises:
        NotFoundError: There is none (any more).
    """
    saved = None if journal is None else await journal.find(token)
    if saved is None:
        raise NotFoundError(
            "no conversation can be resumed with this token: it has ended or was lost too long ago;"
            " begin a new one without config.resume_token"
        )
    return saved


def go_on(token: str, saved: Saved, config: pb.ConversationConfig) -> tuple[Origin, pb.ConversationConfig]:
    """Where a saved conversation stands, and its config.

    Sound and frames are as in the new first request, since the client may be another device now.
    What was said and the persona are the conversation's, and so is the sampling that the request leaves out.
    """
    merged = pb.ConversationConfig()
    merged.CopyFrom(config)
    merged.ClearField("resume_token")
    merged.system_prompt = saved.config.system_prompt
    merged.history.extend(saved.config.history)
    merged.max_answer_tokens = config.max_answer_tokens or saved.config.max_answer_tokens
    merged.seed = config.seed or saved.config.seed
    if not config.HasField("temperature") and saved.config.HasField("temperature"):
        merged.temperature = saved.config.temperature
    lost = None
    if saved.lost_turn:
        asked = [m.content for m in saved.config.history if m.role == common_pb2.ROLE_USER]
        lost = pb.LostTurn(
            turn_id=saved.lost_turn, user_text=asked[-1] if asked else "", heard_text=saved.lost_heard
        )
    # Media of the old stream must not be taken for the new one's.
    return Origin(saved.session_id, token, True, saved.epoch + 1, saved.turns, lost), merged


class Keeper:
    """Saves one conversation whenever it changes; does nothing without a journal.

    Args:
        journal: Where to.
        origin: The conversation.
        config: Its wishes; may change.
        history: What was said.
    """

    def __init__(
        self, journal: Journal | None, origin: Origin, config: pb.ConversationConfig, history: History
    ) -> None:
        self._journal = journal if origin.token else None
        self._origin = origin
        self._config = config
        self._history = history

    async def describe(self, started: pb.SessionStarted) -> None:
        """Tells the client how to resume; only what is on disk is promised."""
        origin = self._origin
        started.resumed = origin.resumed
        if origin.lost is not None:
            started.lost_turn.CopyFrom(origin.lost)
        if self._journal is None:
            return
        try:
            await asyncio.wrap_future(
                self._journal.save(origin.token, self._saved(origin.epoch, origin.turns))
            )
        except TaoxrError:  # logged by the journal; an empty token says it to the client
            self._journal = None
            return
        started.resume_token = origin.token
        started.resume_window_us = round(self._journal.keep_s * 1e6)
        started.capabilities.append(pb.CAPABILITY_RESUME)

    def save(self, epoch: int, turns: int, running: Turn | None = None) -> None:
        """The conversation has changed; `running` is the turn that is lost if nothing follows."""
        if self._journal is not None:
            self._journal.save(self._origin.token, self._saved(epoch, turns, running))

    async def saved(self, epoch: int, turns: int, running: Turn | None = None) -> None:
        """As `save`, and returns when it is on disk, or that failed or takes too long."""
        if self._journal is not None:
            future = self._journal.save(self._origin.token, self._saved(epoch, turns, running))
            await asyncio.wait([asyncio.wrap_future(future)], timeout=_DISK_S)

    def forget(self) -> None:
        """The conversation has ended."""
        if self._journal is not None:
            self._journal.forget(self._origin.token)

    async def run(self, state: Callable[[], tuple[int, int, Turn | None]]) -> None:
        """Keeps the entry young, and what was heard of the running turn in it."""
        if self._journal is None:
            return
        waited = 0.0
        while True:
            await asyncio.sleep(_SPEAKING_S)
            waited += _SPEAKING_S
            epoch, turns, running = state()
            if running is not None:
                self.save(epoch, turns, running)
            elif waited >= min(_QUIET_S, self._journal.keep_s / 4):
                self._journal.touch(self._origin.token)
                waited = 0.0

    def _saved(self, epoch: int, turns: int, running: Turn | None = None) -> Saved:
        config = pb.ConversationConfig()
        config.CopyFrom(self._config)
        del config.history[:]
        config.history.extend(self._history.said())
        heard = "" if running is None else running.heard()
        if heard:
            config.history.add(role=common_pb2.ROLE_ASSISTANT, content=heard)
        turn_id = "" if running is None else running.turn_id
        return Saved(self._origin.session_id, config, epoch, turns, turn_id, heard)
