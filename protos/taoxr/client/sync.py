"""The client without ``async``, for scripts and notebooks: the same calls, which wait.

::

    with sync.private_bridge() as target, sync.connect(target) as client:
        speech = client.say("Hello!")
        with client.converse() as conversation:
            conversation.send_text("Who are you?")
            for event in conversation:
                ...

A thin layer: an event loop on a thread of its own runs `taoxr.client`, which documents arguments, results
and errors. Objects may be used from several threads, for example one that sends and one that iterates.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Generator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from taoxr import client as aclient
from taoxr.client import events

T = TypeVar("T")

_JOIN_S: Final = 5.0


class _Portal:
    """Runs coroutines on a loop of its own thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="taoxr-client", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What the coroutine returns; an exception of the waiting thread (Ctrl-C) cancels it."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    @contextmanager
    def inside(self, manager: AbstractAsyncContextManager[T]) -> Generator[T]:
        """Enters and leaves a manager of the loop, both in one task, as cancel scopes demand."""
        value, leave = self.run(self._enter(manager))
        try:
            yield value
        finally:
            self.run(leave())

    async def _enter(self, manager: AbstractAsyncContextManager[T]) -> tuple[T, Any]:
        entered: asyncio.Future[T] = self._loop.create_future()
        leaving = asyncio.Event()

        async def hold() -> None:
            async with manager as value:
                entered.set_result(value)
                await leaving.wait()

        async def leave() -> None:
            leaving.set()
            await holding

        holding = asyncio.create_task(hold())
        try:
            await asyncio.wait((holding, entered), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            holding.cancel()
            raise
        if not entered.done():
            await holding  # raises what entering raised
        return entered.result(), leave

    def each(self, iterator: AsyncIterator[T]) -> Generator[T]:
        """The items of an asynchronous iterator."""

        async def following() -> tuple[T, ...]:
            try:
                return (await anext(iterator),)
            except StopAsyncIteration:
                return ()

        async def close() -> None:
            ending = getattr(iterator, "aclose", None)
            if ending is not None:
                await ending()

        try:
            while item := self.run(following()):
                yield item[0]
        finally:
            self.run(close())

    def close(self) -> None:
        """Ends the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_JOIN_S)
        if not self._thread.is_alive():
            self._loop.close()


class Conversation:
    """A running conversation, see `taoxr.client.Conversation`; made by `Client.converse`.

    Attributes:
        asynchronous: What it wraps.
    """

    def __init__(self, portal: _Portal, conversation: aclient.Conversation) -> None:
        self._portal = portal
        self.asynchronous = conversation

    @property
    def options(self) -> aclient.ConversationOptions:
        """What was wished for."""
        return self.asynchronous.options

    @property
    def started(self) -> events.SessionStarted:
        """What was negotiated."""
        return self.asynchronous.started

    @property
    def turn_id(self) -> str:
        """The avatar's newest turn, or empty."""
        return self.asynchronous.turn_id

    def send_text(self, text: str) -> None:
        """The user says `text`."""
        self._portal.run(self.asynchronous.send_text(text))

    def send_audio(self, pcm: NDArray[np.int16]) -> None:
        """More of the user's voice: int16 [n], mono."""
        self._portal.run(self.asynchronous.send_audio(pcm))

    def end_of_user_turn(self) -> None:
        """The user has finished speaking (push to talk)."""
        self._portal.run(self.asynchronous.end_of_user_turn())

    def interrupt(self, played_us: int) -> None:
        """Stops the current turn, of which `played_us` microseconds were heard."""
        self._portal.run(self.asynchronous.interrupt(played_us))

    def report_playback(self, turn_id: str, played_us: int, underruns: int = 0) -> None:
        """Tells how far playback of a turn has come."""
        self._portal.run(self.asynchronous.report_playback(turn_id, played_us, underruns))

    def answer_tool(self, call_id: str, *, output: str = "", error: str = "") -> None:
        """Tells what came of a `ToolCall` of a tool that has no function."""
        self._portal.run(self.asynchronous.answer_tool(call_id, output=output, error=error))

    def mute(self, muted: bool) -> None:
        """Switches the microphone off or on."""
        self._portal.run(self.asynchronous.mute(muted))

    def update(self, **settings: Any) -> None:
        """Changes settings from the next turn on; takes what `taoxr.client.Conversation.update` takes."""
        self._portal.run(self.asynchronous.update(**settings))

    def play_action(self, action: aclient.Action) -> None:
        """Asks for a gesture, now."""
        self._portal.run(self.asynchronous.play_action(action))

    def look_at(self, target: Sequence[float] | None) -> None:
        """Where the avatar shall look from now on; None: straight ahead."""
        self._portal.run(self.asynchronous.look_at(target))

    def ping(self) -> None:
        """Asks for a `Pong`."""
        self._portal.run(self.asynchronous.ping())

    def end(self) -> None:
        """Ends the conversation."""
        self._portal.run(self.asynchronous.end())

    def __iter__(self) -> Generator[events.Event]:
        """The events in order, until the conversation has ended."""
        return self._portal.each(aiter(self.asynchronous))


class Client:
    """A connection to a bridge, see `taoxr.client.Client`; made by `connect`."""

    def __init__(self, portal: _Portal, client: aclient.Client) -> None:
        self._portal = portal
        self._client = client

    @contextmanager
    def converse(self, options: aclient.ConversationOptions | None = None) -> Generator[Conversation]:
        """A conversation for the length of the block."""
        with self._portal.inside(self._client.converse(options)) as conversation:
            yield Conversation(self._portal, conversation)

    @contextmanager
    def resume(self, lost: Conversation, *, patience_s: float = 60.0) -> Generator[Conversation]:
        """Goes on with a conversation whose connection was lost, for the length of the block."""
        found = self._client.resume(lost.asynchronous, patience_s=patience_s)
        with self._portal.inside(found) as conversation:
            yield Conversation(self._portal, conversation)

    def watch(self, session_id: str) -> Generator[events.Event]:
        """What another client's conversation is told."""
        return self._portal.each(self._client.watch(session_id))

    def say(
        self, text: str, *, frame_rate: float = 0.0, tracks: frozenset[aclient.Track] = frozenset()
    ) -> aclient.Speech:
        """Speaks `text` and returns the whole of it."""
        return self._portal.run(self._client.say(text, frame_rate=frame_rate, tracks=tracks))

    def stream_say(
        self, text: str, *, frame_rate: float = 0.0, tracks: frozenset[aclient.Track] = frozenset()
    ) -> Generator[events.SessionStarted | events.MediaChunk | events.Motion]:
        """Speaks `text`: `SessionStarted`, then chunks as they are made."""
        return self._portal.each(self._client.stream_say(text, frame_rate=frame_rate, tracks=tracks))

    def animate_audio(
        self, pcm: NDArray[np.int16], sample_rate_hz: int, *, frame_rate: float = 0.0
    ) -> aclient.FaceTrack:
        """Lips for any voice."""
        return self._portal.run(self._client.animate_audio(pcm, sample_rate_hz, frame_rate=frame_rate))

    def animate_text(
        self, text: str, *, frame_rate: float = 0.0, tracks: frozenset[aclient.Track] = frozenset()
    ) -> aclient.AnimatedText:
        """Lips for `text` in the server's voice, without the audio."""
        return self._portal.run(self._client.animate_text(text, frame_rate=frame_rate, tracks=tracks))

    def synthesize(self, text: str, *, speed: float = 0.0) -> aclient.SpokenText:
        """Speaks `text` without a face."""
        return self._portal.run(self._client.synthesize(text, speed=speed))

    def recognize(
        self, audio: Iterable[NDArray[np.int16]], sample_rate_hz: int, **options: Any
    ) -> Generator[events.SpeechActivity | events.Transcript]:
        """Recognises speech in pieces int16 [n], which may come as they are recorded.

        Args:
            audio: The pieces; a thread of its own waits for them.
            sample_rate_hz: 8000 to 48000.
            options: The others of `taoxr.client.Client.recognize`.
        """
        pieces = iter(audio)

        async def as_they_come() -> AsyncGenerator[NDArray[np.int16]]:
            while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
                yield piece

        return self._portal.each(self._client.recognize(as_they_come(), sample_rate_hz, **options))

    def avatars(self) -> tuple[aclient.Avatar, ...]:
        """The avatars that the server gives away, the default one first."""
        return self._portal.run(self._client.avatars())

    def avatar_rig(self, avatar_id: str = "") -> aclient.AvatarRig:
        """What drives an avatar; an empty id means the default one."""
        return self._portal.run(self._client.avatar_rig(avatar_id))

    def avatar(self, avatar_id: str = "") -> aclient.Avatar:
        """One of `avatars`; an empty id means the default one."""
        return self._portal.run(self._client.avatar(avatar_id))

    def download_avatar(self, path: Path, avatar_id: str = "", *, patience_s: float = 0.0) -> aclient.Avatar:
        """Downloads an avatar's ``.nnr`` file, or the rest of it."""
        return self._portal.run(self._client.download_avatar(path, avatar_id, patience_s=patience_s))

    def server_info(self) -> aclient.ServerInfo:
        """What the bridge can do and how its workers are."""
        return self._portal.run(self._client.server_info())


@contextmanager
def connect(target: str, **access: Any) -> Generator[Client]:
    """Connects to a bridge; `access` is what `taoxr.client.connect` takes (certificates, token)."""
    with _portal() as portal, portal.inside(aclient.connect(target, **access)) as client:
        yield Client(portal, client)


@contextmanager
def private_bridge(
    *, arguments: Sequence[str] = (), log: Path | None = None, timeout: float = 120.0
) -> Generator[str]:
    """Starts a bridge for the length of the block, see `taoxr.client.private_bridge`."""
    own = aclient.private_bridge(arguments=arguments, log=log, timeout=timeout)
    with _portal() as portal, portal.inside(own) as target:
        yield target


@contextmanager
def _portal() -> Generator[_Portal]:
    portal = _Portal()
    try:
        yield portal
    finally:
        portal.close()
