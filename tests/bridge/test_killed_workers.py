"""Real workers, and the bridge with them, killed in mid-turn: told at once, and the next turn works."""

import asyncio
import os
import random
import signal
import statistics
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import soxr
from numpy.typing import NDArray

from taoxr.client import (
    Client,
    Conversation,
    ConversationOptions,
    Event,
    GoingAway,
    InputMode,
    Leaving,
    MediaChunk,
    Notice,
    State,
    Transcript,
    TurnMetrics,
    TurnState,
    connect,
)
from taoxr.errors import UnavailableError

pytestmark = pytest.mark.process

ROLES = ("ear", "llm", "tts", "a2bs")
QUESTION = "Why is the sky blue? Tell me about it."
SPOKEN = "What is the capital of France?"
RATE = 16000
PIECE = RATE // 50
OPTIONS = ConversationOptions(audio_in_hz=RATE, input_mode=InputMode.PUSH_TO_TALK, max_answer_tokens=40)
# A worker is killed before so many seconds of a turn.
LATEST_S = 2.0
# Limits for a machine that is busy with other things; what is measured is printed by the long run.
SOON_S = 30.0
LOAD_S = 120.0


@dataclass
class Serving:
    """A bridge with real workers, and the folder of its sockets."""

    process: Any
    target: str
    sockets: Path

    def folders(self) -> list[Path]:
        return list(self.sockets.glob("taoxr-*"))


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory, start_bridge) -> Iterator[Callable[[], Serving]]:
    """`serve()`: the bridge with real workers; after its end another, at its port and with its journal."""
    folder, sockets = tmp_path_factory.mktemp("bridge"), tmp_path_factory.mktemp("s")
    started: list[Any] = []
    port = "0"

    def start() -> Serving:
        nonlocal port
        if not started or started[-1].process.poll() is not None:
            started.append(start_bridge(folder, "--port", port, TMPDIR=str(sockets)))
        target = started[-1].wait_ready()
        port = target.rpartition(":")[2]
        return Serving(started[-1], target, sockets)

    yield start
    for process in started:
        process.stop()
    # Not a socket, not a folder, not a process is left.
    assert not list(sockets.iterdir())


async def spoken(client: Client) -> NDArray[np.int16]:
    """A question in the avatar's own voice, with silence around it."""
    speech = await client.synthesize(SPOKEN)
    pcm = soxr.resample(speech.pcm.astype(np.float32) / 32768, speech.sample_rate_hz, RATE)
    silence = np.zeros(RATE // 4)
    return (np.concatenate([silence, pcm, silence]) * 32767).astype(np.int16)


async def played(conversation: Conversation) -> AsyncIterator[Event]:
    """The events, to a client that plays in no time, so that a turn lasts as long as the work on it."""
    async for event in conversation:
        if isinstance(event, MediaChunk):
            await conversation.report_playback(event.turn_id, event.end_us)
        yield event


async def until_end(conversation: Conversation) -> list[Event]:
    events: list[Event] = []
    async for event in played(conversation):
        events.append(event)
        if isinstance(event, TurnState) and event.state.ended:
            return events
    raise AssertionError(f"the conversation ended: {events}")


async def ask(conversation: Conversation, text: str) -> list[Event]:
    await conversation.send_text(text)
    return await until_end(conversation)


async def speak(
    conversation: Conversation,
    question: NDArray[np.int16],
    killing: tuple[int, Callable[[], None]] | None = None,
) -> None:
    """Says a question, at once; or as fast as people do, and does something after so many samples."""
    for start in range(0, len(question), PIECE):
        await conversation.send_audio(question[start : start + PIECE])
        if killing is not None:
            await asyncio.sleep(PIECE / RATE)
            if start <= killing[0] < start + PIECE:
                killing[1]()
    await conversation.end_of_user_turn()


@dataclass
class Kill:
    """What became of one kill: seconds until the client was told (None: the turn survived), and until
    the worker was back."""

    role: str
    told_s: float | None
    back_s: float


async def worker(client: Client, role: str) -> Any:
    return next(w for w in (await client.server_info()).workers if w.role == role)


async def back(client: Client, role: str, pid: int) -> None:
    # ASYNC110: another process; no event tells it.
    async with asyncio.timeout(LOAD_S):
        while (now := await worker(client, role)).pid in (0, pid) or now.state == "starting":  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def failures(events: list[Event], role: str) -> bool:
    """Whether the loss of a worker was told; a busy machine may also be told that the voice is slow."""
    return any(isinstance(e, Notice) and f"the {role} worker" in str(e.error) for e in events)


async def kill_in_mid_turn(client: Client, role: str, question: NDArray[np.int16], moment: float) -> Kill:
    """Kills a worker so many seconds into a turn; sees that turn, the next and the worker through."""
    others = {w.role: w.pid for w in (await client.server_info()).workers if w.role in ROLES}
    before = await worker(client, role)
    assert before.pid  # 0 would be ourselves
    killed = 0.0
    told: float | None = None

    def kill() -> None:
        nonlocal killed
        killed = time.monotonic()
        os.kill(before.pid, signal.SIGKILL)

    async def kill_later() -> None:
        await asyncio.sleep(moment)
        kill()

    async with (
        client.converse(OPTIONS) as conversation,
        asyncio.timeout(LOAD_S),
        asyncio.TaskGroup() as tasks,
    ):
        if role == "ear":
            # In the words, however slowly they come.
            at = round(moment / LATEST_S * (len(question) - 1))
            speaking = tasks.create_task(speak(conversation, question, (at, kill)))
            async for event in played(conversation):
                if failures([event], role):
                    break
            told = time.monotonic() - killed
            # What is said next is said by the same mouth.
            await speaking
        else:
            killing = tasks.create_task(kill_later())
            await conversation.send_text(QUESTION)
            events: list[Event] = []
            async for event in played(conversation):
                events.append(event)
                if told is None and failures([event], role):
                    told = time.monotonic() - killed
                if isinstance(event, TurnState) and event.state.ended:
                    break
            assert events[-1].state is (State.DONE if told is None else State.FAILED)
            await killing
        answer = await ask(conversation, SPOKEN)
        if role == "ear":  # the turn that was heard may have failed just before
            while answer[-1].state is State.FAILED:
                answer = await until_end(conversation)
        elif told is None and answer[-1].state is State.FAILED:
            # Killed while it had nothing to do, the worker is missed by whoever calls it at that moment.
            assert failures(answer, role)
            told = time.monotonic() - killed
            answer = await ask(conversation, SPOKEN)
        assert answer[-1].state is State.DONE
        assert any(isinstance(e, MediaChunk) for e in answer)
        await back(client, role, before.pid)
        back_s = time.monotonic() - killed
        if role == "ear":
            await speak(conversation, question)
            heard = await until_end(conversation)
            final = next(e for e in heard if isinstance(e, Transcript) and e.is_final)
            assert "capital of france" in final.text.lower()
            assert heard[-1].state is State.DONE
    after = await worker(client, role)
    assert after.restarts == before.restarts + 1
    now = {w.role: w.pid for w in (await client.server_info()).workers if w.role in ROLES}
    assert now == others | {role: after.pid}
    return Kill(role, told, back_s)


@pytest.mark.parametrize(
    "rounds", [1, pytest.param(5, marks=(pytest.mark.slow, pytest.mark.timeout(1200)))], ids=["4", "20"]
)
async def test_worker_killed_in_mid_turn(serve, rounds: int, capsys):
    began = time.monotonic()
    bridge = serve()
    start_s = time.monotonic() - began
    moments = random.Random(rounds)
    kills: list[Kill] = []
    async with connect(bridge.target) as client:
        question = await spoken(client)
        for _ in range(rounds):
            for role in moments.sample(ROLES, len(ROLES)):
                kills.append(await kill_in_mid_turn(client, role, question, moments.uniform(0.0, LATEST_S)))
                children = bridge.process.children()
                assert len(children) == len(ROLES)
                assert all(child.status() != psutil.STATUS_ZOMBIE for child in children)
                (folder,) = bridge.folders()
                assert sorted(p.name for p in folder.glob("*.sock")) == sorted(f"{r}.sock" for r in ROLES)
    told = [kill.told_s for kill in kills if kill.told_s is not None]
    assert told
    assert max(told) < SOON_S
    if rounds > 1:
        lines = [f"{len(kills)} kills, {len(told)} turns failed, told within {max(told) * 1000:.0f} ms"]
        for role in ROLES:
            took = [kill.back_s for kill in kills if kill.role == role]
            lines.append(f"{role} back in {statistics.median(took):.1f} s, at most {max(took):.1f} s")
        lines.append(f"the bridge with all its workers had started in {start_s:.1f} s")
        with capsys.disabled():
            print("", *lines, sep="\n")  # noqa: T201  the figures are what the long run is for


async def kill_when_it_speaks(conversation: Conversation, bridge: Serving) -> None:
    async for event in played(conversation):
        if isinstance(event, MediaChunk):
            bridge.process.process.kill()


async def test_bridge_killed_in_mid_turn_comes_back_with_the_conversation(serve):
    bridge = serve()
    workers = bridge.process.children()
    assert len(workers) == len(ROLES)
    async with connect(bridge.target) as client, client.converse(OPTIONS) as lost:
        first = await ask(lost, "My name is Bo.")
        assert first[-1].state is State.DONE
        await lost.send_text(QUESTION)
        with pytest.raises(UnavailableError):
            await kill_when_it_speaks(lost, bridge)
    bridge.process.process.wait()
    _, alive = psutil.wait_procs(workers, timeout=SOON_S)
    assert not alive, "workers outlive their bridge"
    bridge = serve()
    assert len(bridge.folders()) == 1
    async with connect(bridge.target) as client:
        async with client.converse(OPTIONS) as fresh:
            alone = await ask(fresh, SPOKEN)
        async with client.resume(lost) as conversation:
            assert conversation.started.resumed
            assert conversation.started.lost_turn.user_text == QUESTION
            events = await ask(conversation, SPOKEN)
    assert events[-1].state is State.DONE
    assert any(isinstance(e, MediaChunk) for e in events)
    assert events[-1].turn_id == "turn-3"
    # The language model was told of what came before.
    (with_history,) = (e.prompt_tokens for e in events if isinstance(e, TurnMetrics))
    (without,) = (e.prompt_tokens for e in alone if isinstance(e, TurnMetrics))
    assert with_history > without + 10
    # Here, since another bridge would take its time to start.
    await stops_in_order(bridge)


async def stops_in_order(bridge: Serving) -> None:
    """Told to stop in mid-turn, a bridge with real workers finishes the clause and leaves nothing behind."""
    workers = bridge.process.children()
    async with connect(bridge.target) as client, client.converse(OPTIONS) as conversation:
        await conversation.send_text(QUESTION)
        events: list[Event] = []
        with pytest.raises(UnavailableError, match="resume"):
            await terminate_when_it_speaks(conversation, bridge, events)
    assert any(isinstance(e, GoingAway) and e.reason is Leaving.SHUTDOWN for e in events)
    (end,) = (e for e in events if isinstance(e, TurnState) and e.state.ended)
    assert end.state is State.DONE
    clauses = {e.clause: e.clause_text for e in events if isinstance(e, MediaChunk) and e.clause_text}
    assert end.heard_text.split() == " ".join(clauses[i] for i in sorted(clauses)).split()
    assert await asyncio.to_thread(bridge.process.process.wait, SOON_S) == 0
    _, alive = psutil.wait_procs(workers, timeout=SOON_S)
    assert not alive
    assert not bridge.folders()


async def terminate_when_it_speaks(conversation: Conversation, bridge: Serving, events: list[Event]) -> None:
    async for event in played(conversation):
        if isinstance(event, MediaChunk) and not any(isinstance(e, MediaChunk) for e in events):
            bridge.process.process.terminate()
        events.append(event)
