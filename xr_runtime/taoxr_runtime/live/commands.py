"""What the stage asks of the conversation, handed from any thread to the conversation's."""

import asyncio
import threading
from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ask:
    """The user says a text."""

    text: str


@dataclass(frozen=True, slots=True)
class Say:
    """The avatar says a text that no model has made."""

    text: str


@dataclass(frozen=True, slots=True)
class Talk:
    """The user begins or stops to speak (push to talk), at a time of the steady clock."""

    pressed: bool
    at_us: int


@dataclass(frozen=True, slots=True)
class Interrupt:
    """The user has heard enough."""


Command = Ask | Say | Talk | Interrupt


class Inbox:
    """Commands in order; what is to be asked or said outlives a lost connection, the rest does not.

    Args:
        loop: The conversation's event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._commands: deque[Command] = deque()
        self._arrived = asyncio.Event()

    def put(self, command: Command) -> None:
        """Adds a command; from any thread, never waits."""
        with self._lock:
            self._commands.append(command)
        try:
            self._loop.call_soon_threadsafe(self._arrived.set)
        except RuntimeError:
            return  # the loop is closed: the conversation is over

    async def first(self) -> Command:
        """The oldest command, which stays until `done`."""
        while True:
            with self._lock:
                if self._commands:
                    return self._commands[0]
            self._arrived.clear()
            # One may have come between the look and the clearing.
            if not self._commands:
                await self._arrived.wait()

    def done(self) -> None:
        """Removes the oldest command."""
        with self._lock:
            self._commands.popleft()

    def again(self, command: Command) -> None:
        """Puts back a command, to be carried out first."""
        with self._lock:
            self._commands.appendleft(command)

    def ask_again(self, text: str) -> None:
        """Puts a question back that was lost, to be asked first, unless it waits already."""
        with self._lock:
            waits = any(isinstance(c, Ask) and c.text == text for c in self._commands)
        if not waits:
            self.again(Ask(text))

    def keep_questions(self) -> None:
        """Drops what made sense only in the conversation that was lost."""
        with self._lock:
            self._commands = deque(c for c in self._commands if isinstance(c, Ask | Say))
