"""The body and cues tracks: a real motion worker behind a bridge whose other workers are fakes."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from taoxr.client import (
    Action,
    BodyActivity,
    Client,
    Conversation,
    ConversationOptions,
    CueKind,
    Event,
    MediaChunk,
    Motion,
    Notice,
    SessionStarted,
    State,
    Track,
    TurnState,
    cli_say,
)
from taoxr.client import body as bodies
from taoxr.errors import InvalidInputError
from taoxr.v1 import conversation_pb2 as pb

pytestmark = pytest.mark.process

BOTH = ConversationOptions(tracks=frozenset({Track.BODY, Track.CUES}))
ANSWER = "hello my friend, this is a very good day. so let me tell you all about it now. and on it goes."
SHORT = "hello my friend, this is a very good day."
FRAME_US = 1e6 / 30


@asynccontextmanager
async def conversing(
    fake_bridge: Callable[..., Any], options: ConversationOptions = BOTH, **settings: Any
) -> AsyncIterator[tuple[Client, Conversation, Any]]:
    async with fake_bridge(**settings) as (client, fakes):
        fakes.llm.answer = lambda _prompt: ANSWER
        fakes.tts.stressed = "ae"
        async with client.converse(options) as conversation:
            yield client, conversation, fakes


async def until(
    conversation: Conversation, wanted: Callable[[Event], bool], *, in_time: bool = False
) -> list[Event]:
    """The events up to and with the first that is wanted; media are heard `in_time`, or at once."""
    seen: list[Event] = []
    async with asyncio.timeout(60):
        async for event in conversation:
            seen.append(event)
            if isinstance(event, MediaChunk) and not in_time:
                await conversation.report_playback(event.turn_id, event.end_us)
            if wanted(event):
                return seen
    raise AssertionError("the conversation ended")


def ended(event: Event) -> bool:
    return isinstance(event, TurnState) and event.state.ended


def angles(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float64]:
    """Degrees between rotations of the same bones, without the eyes, which may jump."""
    dot = np.abs((a.astype(np.float64) * b).sum(-1))
    return np.delete(np.rad2deg(2.0 * np.arccos(np.clip(dot, 0.0, 1.0))), (6, 7), axis=-1)


async def test_media_carry_an_even_body_and_motion_fills_the_time_between(
    fake_bridge: Callable[..., Any],
) -> None:
    async with conversing(fake_bridge) as (_, conversation, fakes):
        fakes.llm.answer = lambda _prompt: SHORT
        bones = conversation.started.bones
        assert conversation.started.tracks == {Track.FACE, Track.BODY, Track.CUES}
        assert bones is not None
        assert {"hips", "head", "leftUpperArm", "rightIndexDistal", "leftEye"} <= set(bones.names)
        before = await until(conversation, lambda e: isinstance(e, Motion))
        await conversation.send_text("hi")
        turn = await until(conversation, ended, in_time=True)
        after = await until(conversation, lambda e: isinstance(e, Motion))
        after += await until(conversation, lambda e: isinstance(e, Motion))

    chunks = [e for e in turn if isinstance(e, MediaChunk)]
    for chunk in chunks:
        assert len(chunk.body.times_us) == len(chunk.frame_times_us)
        assert (chunk.start_us <= chunk.body.times_us).all()
        assert (chunk.body.times_us < chunk.end_us).all()
    track = bodies.joined([c.body for c in chunks])
    assert track.times_us.tolist() == [round(k * FRAME_US) for k in range(len(track.times_us))]
    assert track.rotations.shape[1:] == (len(bones.names), 4)
    assert np.abs(np.linalg.norm(track.rotations, axis=-1) - 1.0).max() < 1e-5
    cues = [cue for c in chunks for cue in c.cues]
    assert {cue.kind for cue in cues} >= {CueKind.STRESS, CueKind.EMOTION}
    assert all(c.start_us <= cue.time_us < c.end_us for c in chunks for cue in c.cues)
    assert "joy" in {cue.name for cue in cues}

    # Motion comes at once, pauses while media last, and has no gap before and after.
    motion = [e for e in (*before, *turn, *after) if isinstance(e, Motion)]
    places = [i for i, e in enumerate(turn) if isinstance(e, MediaChunk)]
    assert not [e for e in turn[places[0] : places[-1]] if isinstance(e, Motion)]
    quiet = [e for e in (*before, *turn[: places[0]]) if isinstance(e, Motion)]
    for pieces in (quiet, motion[len(quiet) :]):
        times = bodies.joined([m.body for m in pieces]).times_us
        assert np.diff(times).max() < 1.02 * FRAME_US
    length_us = chunks[-1].end_us
    # (Its first frames come a little ahead of their time.)
    assert motion[len(quiet)].body.times_us[0] > quiet[0].body.times_us[0] + length_us - 3 * FRAME_US
    # Nothing jumps where the one takes over from the other.
    last, first = chunks[-1].body.rotations[-1], motion[len(quiet)].body.rotations[0]
    assert angles(last, first).max() < 12.0


async def test_the_activity_follows_the_turn(fake_bridge: Callable[..., Any]) -> None:
    async with conversing(fake_bridge) as (_, conversation, fakes):
        fakes.llm.hold.clear()
        await conversation.send_text("hi")
        thinking = await until(
            conversation, lambda e: isinstance(e, Motion) and e.activity is BodyActivity.THINKING
        )
        assert isinstance(thinking[-1], Motion)
        fakes.llm.hold.set()
        await until(conversation, ended)
        await until(conversation, lambda e: isinstance(e, Motion) and e.activity is BodyActivity.IDLE)


async def test_without_the_tracks_nothing_comes_and_no_worker_runs(fake_bridge: Callable[..., Any]) -> None:
    async with conversing(fake_bridge, ConversationOptions()) as (client, conversation, _):
        await conversation.send_text("hi")
        events = await until(conversation, ended)
        [worker] = [w for w in (await client.server_info()).workers if w.role == "motion"]
    assert conversation.started.bones is None
    assert conversation.started.tracks == {Track.FACE}
    assert not [e for e in events if isinstance(e, Motion)]
    assert not any(len(e.body.times_us) or e.cues for e in events if isinstance(e, MediaChunk))
    assert (worker.state, worker.pid) == ("asleep", 0)


async def test_cues_come_without_a_body(fake_bridge: Callable[..., Any]) -> None:
    async with conversing(fake_bridge, ConversationOptions(tracks=frozenset({Track.CUES}))) as (_, talk, _f):
        await talk.send_text("hi")
        events = await until(talk, ended)
        await talk.play_action(Action.WAVE)
        with pytest.raises(InvalidInputError, match="play_action"):
            await until(talk, lambda _: False)
    assert not [e for e in events if isinstance(e, Motion)]
    assert [cue for e in events if isinstance(e, MediaChunk) for cue in e.cues]
    assert not any(len(e.body.times_us) for e in events if isinstance(e, MediaChunk))


async def test_a_worker_that_is_killed_costs_the_body_but_not_the_voice(
    fake_bridge: Callable[..., Any],
) -> None:
    async with conversing(fake_bridge) as (client, conversation, _):
        await conversation.send_text("hi")
        turn = await until(
            conversation, lambda e: isinstance(e, MediaChunk) and e.start_us > 1_000_000, in_time=True
        )
        [worker] = [w for w in (await client.server_info()).workers if w.role == "motion"]
        os.kill(worker.pid, signal.SIGKILL)
        turn += await until(conversation, ended, in_time=True)
        back = await until(conversation, lambda e: isinstance(e, Motion) and bool(len(e.body.times_us)))
        await conversation.send_text("hi again")
        again = await until(conversation, ended)
        info = [w for w in (await client.server_info()).workers if w.role == "motion"]
    assert isinstance(turn[-1], TurnState)
    assert turn[-1].state is State.DONE
    chunks = [e for e in turn if isinstance(e, MediaChunk)]
    ends = [c.end_us for c in chunks]
    assert [c.start_us for c in chunks] == [0, *ends[:-1]]
    assert all(len(c.frame_times_us) for c in chunks)
    assert any(not len(c.body.times_us) for c in chunks)
    assert len([e for e in (*turn, *back) if isinstance(e, Notice)]) == 1
    assert all(len(e.body.times_us) for e in again if isinstance(e, MediaChunk))
    assert info[0].restarts == 1


async def test_a_worker_that_hangs_holds_up_nothing(fake_bridge: Callable[..., Any]) -> None:
    async with conversing(fake_bridge) as (client, conversation, _):
        await until(conversation, lambda e: isinstance(e, Motion))
        [worker] = [w for w in (await client.server_info()).workers if w.role == "motion"]
        os.kill(worker.pid, signal.SIGSTOP)
        try:
            await conversation.send_text("hi")
            turn = await until(conversation, ended)
        finally:
            os.kill(worker.pid, signal.SIGCONT)
        await until(conversation, lambda e: isinstance(e, Motion))
    chunks = [e for e in turn if isinstance(e, MediaChunk)]
    assert chunks[-1].last
    assert not any(len(c.body.times_us) for c in chunks)
    assert len([e for e in turn if isinstance(e, Notice)]) == 1


async def test_a_gesture_and_a_gaze_show_between_the_turns(fake_bridge: Callable[..., Any]) -> None:
    async with conversing(fake_bridge) as (_, conversation, _f):
        bones = conversation.started.bones
        assert bones is not None
        elbow, head = bones.names.index("rightLowerArm"), bones.names.index("head")
        await conversation.play_action(Action.WAVE)
        await conversation.look_at((2.0, 1.6, 1.0))
        moved = await until(
            conversation,
            lambda e: isinstance(e, Motion) and bool((np.abs(e.body.rotations[:, elbow, 3]) < 0.6).any()),
        )
    last = moved[-1]
    assert isinstance(last, Motion)
    assert last.body.rotations[-1, head, 1] > 0.1  # to its left


async def test_an_interruption_takes_the_body_from_where_it_was(fake_bridge: Callable[..., Any]) -> None:
    async with conversing(fake_bridge) as (_, conversation, _f):
        await conversation.send_text("hi")
        seen = await until(
            conversation, lambda e: isinstance(e, MediaChunk) and e.start_us > 1_300_000, in_time=True
        )
        played_us = 1_000_000
        await conversation.interrupt(played_us)
        after = await until(conversation, lambda e: isinstance(e, Motion))
    track = bodies.joined([e.body for e in seen if isinstance(e, MediaChunk)])
    shown = track.rotations[int(np.searchsorted(track.times_us, played_us))]
    motion = after[-1]
    assert isinstance(motion, Motion)
    assert angles(shown, motion.body.rotations[0]).max() < 12.0


async def test_watchers_see_the_same_body(fake_bridge: Callable[..., Any]) -> None:
    async with conversing(fake_bridge) as (client, conversation, _):
        watched = client.watch(conversation.started.session_id)
        started = await anext(aiter(watched))
        assert isinstance(started, SessionStarted)
        assert started.bones == conversation.started.bones
        await conversation.send_text("hi")
        own = await until(conversation, ended)
        theirs: list[Event] = []
        async for event in watched:
            theirs.append(event)
            if ended(event):
                break
    for mine, other in zip(
        [e for e in own if isinstance(e, MediaChunk)],
        [e for e in theirs if isinstance(e, MediaChunk)],
        strict=True,
    ):
        assert np.array_equal(mine.body.rotations, other.body.rotations)
        assert mine.cues == other.cues


async def test_a_text_is_said_with_the_same_body_every_time(fake_bridge: Callable[..., Any]) -> None:
    async with fake_bridge() as (client, _):
        tracks = frozenset({Track.BODY, Track.CUES})
        first, again = [await client.say(ANSWER, tracks=tracks) for _ in range(2)]
        plain = await client.say(ANSWER)
        animated = await client.animate_text(ANSWER, tracks=tracks)
        assert (await client.animate_text(ANSWER)).bones is None
    assert first.bones is not None
    assert animated.bones == first.bones
    assert animated.body.rotations.tobytes() == first.body.rotations.tobytes()
    assert animated.body.times_us.tobytes() == first.body.times_us.tobytes()
    assert animated.cues == first.cues
    assert first.body.rotations.tobytes() == again.body.rotations.tobytes()
    assert first.cues == again.cues != ()
    length_us = len(first.pcm) * 1_000_000 // first.sample_rate_hz
    # It comes to rest after the speech.
    assert first.body.times_us[-1] > length_us + 1_000_000
    assert np.diff(first.body.times_us).max() < 1.02 * FRAME_US
    assert plain.bones is None
    assert not len(plain.body.times_us)


async def test_say_writes_the_body_to_a_file(fake_bridge: Callable[..., Any], tmp_path: Path) -> None:
    out, body = tmp_path / "out.wav", tmp_path / "body.json"
    async with fake_bridge() as (_, fakes):
        arguments = [ANSWER, "-o", str(out), "--body", str(body), "--target", fakes.bridge]
        result = await asyncio.to_thread(CliRunner().invoke, cli_say.app, arguments)
    assert result.exit_code == 0, result.output
    content = json.loads(body.read_text())
    assert len(content["frames"][0]["rotations"]) == len(content["bone_names"]) == 52
    assert content["frames"][1]["time_us"] == 33_333
    assert content["cues"][0]["kind"] == "emotion"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.ConverseRequest(play_action={"action": 0}), "play_action.action"),
        (pb.ConverseRequest(play_action={"action": 99}), "play_action.action"),
        (pb.ConverseRequest(look_at={"target": {"x": float("nan")}}), "look_at.target.x"),
        (pb.ConverseRequest(look_at={"target": {"z": -101.0}}), "look_at.target.z"),
    ],
)
async def test_wrong_requests_are_named(
    fake_bridge: Callable[..., Any], request_: pb.ConverseRequest, field: str
) -> None:
    async with conversing(fake_bridge) as (_, conversation, _f):
        await conversation._send(request_)
        with pytest.raises(InvalidInputError, match=field):
            await until(conversation, lambda _: False)


async def test_a_track_that_is_none_is_named(fake_bridge: Callable[..., Any]) -> None:
    async with fake_bridge() as (client, _):
        call = client._conversations.Converse()
        await call.write(pb.ConverseRequest(config=pb.ConversationConfig(tracks=[1, 7])))
        with pytest.raises(grpc.aio.AioRpcError):
            await call.read()
        assert "config.tracks[1]" in (await call.details())
