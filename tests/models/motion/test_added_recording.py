"""A recording from a user's folder: added, chosen, and moved by the worker."""

from pathlib import Path

import grpc.aio
import numpy as np
import pytest
from motion_steps import Array
from recorded import make
from tests.models.unitalker.test_added_models import home, taoxr, worker

from taoxr.worker.v1 import motion_pb2 as pb
from taoxr.worker.v1.motion_pb2_grpc import MotionServiceStub
from taoxr_models.motion.bones import BONES, INDEX
from taoxr_models.motion.recording import POSES, SLICES, Recording

pytestmark = pytest.mark.process

__all__ = ["home"]


def moved(rows: list[pb.MoveResponse]) -> Array:
    frames = [frame.rotations for row in rows for frame in row.span.frames]
    return np.array(frames).reshape(-1, len(BONES), 4)


async def move(channel: grpc.aio.Channel, activity: pb.Advance.Activity.ValueType) -> Array:
    def requests() -> list[pb.MoveRequest]:
        first = pb.MoveRequest(config=pb.MoveConfig(seed=3, frame_rate=30.0))
        advance = pb.Advance(activity=activity, duration_us=6_000_000)
        return [first, pb.MoveRequest(advance=advance)]

    return moved([r async for r in MotionServiceStub(channel).Move(iter(requests()))])


async def test_the_body_follows_an_added_recording(home: Path, tmp_path: Path) -> None:
    folder = make(tmp_path / "TaoAvatar")
    (folder / "compute.nnr").write_bytes(b"what else lies in that folder")
    added = taoxr("add", str(folder), "--id", "tao-body")
    assert added.returncode == 0, added.stderr
    assert "taoxr models use tao-body" in added.stdout
    assert sorted(p.name for p in (home / "models/tao-body").iterdir()) == sorted([POSES, SLICES])
    assert taoxr("use", "tao-body").returncode == 0
    assert "tao-body" in taoxr("list").stdout

    recording = Recording.of_folder(folder)
    arms = [INDEX[side + bone] for side in ("left", "right") for bone in ("UpperArm", "LowerArm", "Hand")]
    async with worker("motion", tmp_path) as channel:
        talk = await move(channel, pb.Advance.ACTIVITY_TALKING)
    pieces = [piece for piece in recording.slices if piece.talk]
    there = np.concatenate([recording.at(np.arange(p.start, p.end, 0.02))[0] for p in pieces])
    alike = np.abs((talk[45:, None, arms] * there[None][:, :, arms]).sum(-1)).min(-1).max(1)
    assert np.rad2deg(2 * np.arccos(np.clip(alike, 0, 1))).max() < 4.0

    assert taoxr("use", "--reset", "motion").returncode == 0
    async with worker("motion", tmp_path) as channel:
        own = await move(channel, pb.Advance.ACTIVITY_IDLE)
    assert not np.allclose(own[: len(talk)], talk, atol=1e-3)
    assert taoxr("remove", "tao-body", "--yes").returncode == 0


def test_a_damaged_recording_is_refused_and_leaves_nothing(home: Path, tmp_path: Path) -> None:
    folder = make(tmp_path / "TaoAvatar")
    (folder / POSES).write_bytes((folder / POSES).read_bytes()[:-4])
    done = taoxr("add", str(folder), "--id", "x")
    assert done.returncode != 0
    assert "frames of a recording of SMPL-X have" in done.stderr
    (folder / SLICES).unlink()
    assert "idle_speech_slices.json" in taoxr("add", str(folder), "--id", "x").stderr
    assert not (home / "catalog.toml").exists()
