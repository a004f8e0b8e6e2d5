"""A long conversation costs the Unity client's main path no memory, and its queues stay short."""

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from csharp import command

pytestmark = pytest.mark.process


def _story(prompt: str) -> str:
    return "go on and on and on again as long as one can " * 6


@pytest.mark.parametrize(
    "frames", [1200, pytest.param(36_000, marks=pytest.mark.slow)], ids=["20 s", "10 minutes"]
)
async def test_no_allocation_per_frame(programs: Path, fake_bridge: Callable[..., Any], frames: int) -> None:
    async with fake_bridge() as (_, fakes):
        fakes.llm.answer = _story
        program = [*command("dotnet", programs / "dotnet" / "soak.dll"), fakes.bridge, str(frames)]
        done = await asyncio.to_thread(
            subprocess.run, program, capture_output=True, text=True, check=True, timeout=540
        )
    counted, allocated, most, waiting, faces, bodies, voice_s, turns, update_ns = map(
        int, done.stdout.split()
    )
    assert counted == frames
    assert (allocated, most) == (0, 0)
    assert waiting < 64
    # It was a conversation: nearly all of the simulated time the avatar spoke.
    assert voice_s > frames / 60 * 0.3
    assert min(faces, bodies) > 20 * voice_s
    assert turns >= 1
    assert update_ns < 3_000_000  # of the 16,700,000 of a frame; a slow machine needs a tenth of it
