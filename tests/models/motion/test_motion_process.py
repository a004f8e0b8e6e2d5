"""The motion worker as a process, through gRPC."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc.aio
import numpy as np
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from motion_steps import clause, length_us

from taoxr import rpc
from taoxr.errors import InvalidInputError
from taoxr.v1 import body_pb2
from taoxr.v1.common_pb2 import PhonemeTiming
from taoxr.worker.v1 import motion_pb2 as pb
from taoxr.worker.v1.motion_pb2_grpc import MotionServiceStub
from taoxr_models.motion.bones import BONES

pytestmark = pytest.mark.process

IDLE, TALKING = pb.Advance.ACTIVITY_IDLE, pb.Advance.ACTIVITY_TALKING
PHONEMES = [
    PhonemeTiming(symbol=p.symbol, start_us=round(p.start * 1e6), end_us=round(p.end * 1e6)) for p in clause()
]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    address = f"unix:{tmp_path_factory.mktemp('m') / 'motion.sock'}"
    arguments = [sys.executable, "-m", "taoxr_models.worker", "motion", "--listen", address]
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    yield address
    process.terminate()
    assert process.wait(10) == 0
    assert not Path(address.removeprefix("unix:")).exists()


@asynccontextmanager
async def service(target: str) -> AsyncIterator[MotionServiceStub]:
    async with grpc.aio.insecure_channel(target, options=rpc.CHANNEL_OPTIONS) as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(
            health_pb2.HealthCheckRequest(), wait_for_ready=True, timeout=120
        )
        async for answer in watch:
            if answer.status == health_pb2.HealthCheckResponse.SERVING:
                break
        yield MotionServiceStub(channel)


async def moved(stub: MotionServiceStub, *requests: pb.MoveRequest) -> list[pb.MoveResponse]:
    return [response async for response in stub.Move(iter(requests))]


def config(seed: int = 1, rate: float = 30.0) -> pb.MoveRequest:
    return pb.MoveRequest(config=pb.MoveConfig(seed=seed, frame_rate=rate))


def advance(activity: pb.Advance.Activity.ValueType, us: int, offset_us: int = 0) -> pb.MoveRequest:
    advance = pb.Advance(activity=activity, duration_us=us, clock_offset_us=offset_us)
    return pb.MoveRequest(advance=advance)


SPEECH = (
    advance(IDLE, 1_000_000, 5_000_000),
    pb.MoveRequest(action=body_pb2.PlayAction(action=body_pb2.PlayAction.ACTION_NOD)),
    pb.MoveRequest(speak=pb.SpeakClause(text="What wonderful news!", phonemes=PHONEMES)),
    advance(TALKING, length_us(clause()) // 2, 0),
    advance(TALKING, length_us(clause()) - length_us(clause()) // 2, length_us(clause()) // 2),
    pb.MoveRequest(cut=pb.Cut(at_us=2_000_000)),
    pb.MoveRequest(look_at=body_pb2.LookAt(target=body_pb2.Point(x=1.0, y=1.6, z=1.0))),
    advance(IDLE, 1_000_000, 0),
)


async def test_a_span_too_short_for_a_frame_has_none(target: str) -> None:
    """Such as the last 10 ms of a clause."""
    async with service(target) as stub:
        spans = await moved(stub, config(), *(advance(TALKING, 10_000, i * 10_000) for i in range(10)))
    frames = [len(response.span.frames) for response in spans if response.HasField("span")]
    assert len(frames) == 10
    assert sum(frames) == 3  # 30 a second
    assert 0 in frames


async def test_it_moves_on_the_clocks_it_is_told_and_says_the_same_for_the_same_seed(target: str) -> None:
    async with service(target) as stub:
        first, again, other = [await moved(stub, config(seed), *SPEECH) for seed in (1, 1, 2)]
    assert [r.SerializeToString(deterministic=True) for r in first] == [
        r.SerializeToString(deterministic=True) for r in again
    ]
    assert first[1] != other[1]
    assert tuple(first[0].started.bone_names) == BONES
    spans = [r.span for r in first[1:]]
    assert [s.start_us for s in spans[:2]] == [0, 1_000_000]
    assert spans[3].start_us == 2_000_000
    assert spans[0].frames[0].time_us == 5_000_000
    talk = [f.time_us for s in spans[1:3] for f in s.frames]
    assert talk == [round(k * 1e6 / 30) for k in range(len(talk))]
    frame = np.array(spans[1].frames[0].rotations).reshape(len(BONES), 4)
    assert np.abs(np.linalg.norm(frame, axis=1) - 1.0).max() < 1e-6
    assert len(spans[1].frames[0].hips_translation) == 3
    assert {c.kind for s in spans for c in s.cues} >= {body_pb2.Cue.KIND_STRESS, body_pb2.Cue.KIND_EMOTION}


@pytest.mark.parametrize(
    ("requests", "field"),
    [
        ([advance(IDLE, 1)], "payload"),
        ([config(rate=5.0)], "config.frame_rate"),
        ([config(seed=-1)], "config.seed"),
        ([config(), config()], "payload"),
        ([config(), advance(pb.Advance.ACTIVITY_UNSPECIFIED, 1)], "advance.activity"),
        ([config(), advance(IDLE, 0)], "advance.duration_us"),
        ([config(), pb.MoveRequest(cut=pb.Cut(at_us=1))], "cut.at_us"),
        ([config(), pb.MoveRequest(action=body_pb2.PlayAction(action=77))], "action.action"),
        ([config(), pb.MoveRequest(look_at={"target": {"x": float("nan")}})], "look_at.target"),
        ([config(), pb.MoveRequest(speak=pb.SpeakClause(text="x" * 4001))], "speak.text"),
        (
            [config(), pb.MoveRequest(speak=pb.SpeakClause(phonemes=[PhonemeTiming(symbol="!!?§")]))],
            "phonemes",
        ),
    ],
)
async def test_wrong_requests_are_named(target: str, requests: list[pb.MoveRequest], field: str) -> None:
    async with service(target) as stub:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await moved(stub, *requests)
    error = rpc.error_of(caught.value)
    assert isinstance(error, InvalidInputError)
    assert error.field.startswith(field)
