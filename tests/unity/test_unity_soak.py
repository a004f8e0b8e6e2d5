"""A long conversation costs the Unity client's main path no memory, and its queues stay short."""

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from csharp import command

pytestmark = pytest.mark.process


class Story:
    """A short answer first, with which the client warms up, and then long ones."""

    def __init__(self) -> None:
        self._told = 0

    def __call__(self, prompt: str) -> str:
        self._told += 1
        return "go on and on and on again as long as one can " * (2 if self._told == 1 else 24)


@pytest.mark.parametrize(
    "frames", [1200, pytest.param(36_000, marks=pytest.mark.slow)], ids=["20 s", "10 minutes"]
)
async def test_no_allocation_per_frame(programs: Path, fake_bridge: Callable[..., Any], frames: int) -> None:
    async with fake_bridge() as (_, fakes):
        fakes.llm.answer = Story()
        program = [*command("dotnet", programs / "dotnet" / "soak.dll"), fakes.bridge, str(frames)]
        done = await asyncio.to_thread(
            subprocess.run, program, capture_output=True, text=True, check=True, timeout=540
        )
    counted, allocated, most, waiting, faces, bodies, voice_s, turns, update_ns = map(
        int, done.stdout.split()
    )
    assert counted == frames
    assert (allocated, most) == (0, 0)
    assert waiting <= 257  # the bound; one may be a step of the conversation
    # The avatar spoke. Between its turns a busy machine lets much of the fast clock pass.
    assert voice_s > frames / 60 * 0.1
    assert min(faces, bodies) > 20 * voice_s
    assert turns >= 1
    assert update_ns < 3_000_000  # of the 16,700,000 of a frame; a slow machine needs a tenth of it
