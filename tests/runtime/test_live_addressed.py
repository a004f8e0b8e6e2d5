"""Words that are not meant for the avatar, and what it says of its own, with a real bridge and models."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from taoxr import client
from taoxr.client import wav
from taoxr_runtime.ar.attention import Attention
from taoxr_runtime.audio import FileSource, NullSink, NullSource
from taoxr_runtime.live import Companion, CompanionState

pytestmark = pytest.mark.e2e

PATIENCE_S = 120.0
OTHERS, CALLED = "What is the capital of France?", "Hey Joe, what is the capital of Italy?"
PAUSE_S = 1.1
# Whisper tiny does not understand every call, so there are more; each waits for the answer to the one before.
CALLS = 3
ANSWER_S = 8.0


def until(condition: Callable[[], object], companion: Companion, watch: Callable[[], None]) -> None:
    """Waits for something to become true, and looks on meanwhile."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        watch()
        said = (companion.state, companion.captions(), companion.notices)
        assert time.monotonic() < end, f"not within {PATIENCE_S} s: {said}"
        time.sleep(0.005)


@pytest.fixture(scope="module")
def recording(real_bridge: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A question to somebody else, a pause, and calls of the avatar, in its own voice."""

    async def speak() -> tuple[np.ndarray, int]:
        parts: list[np.ndarray] = []
        async with client.connect(real_bridge) as connected:
            for seed, words in enumerate((OTHERS, *[CALLED] * CALLS)):
                said = await connected.say(words, seed=seed)
                pause_s = ANSWER_S if seed else PAUSE_S
                parts += [said.pcm, np.zeros(round(pause_s * said.sample_rate_hz), np.int16)]
            return np.concatenate(parts), said.sample_rate_hz

    pcm, rate = asyncio.run(speak())
    path = tmp_path_factory.mktemp("live") / "both.wav"
    wav.write(path, pcm, rate)
    return path


def test_it_answers_only_who_calls_it(real_bridge: str, recording: Path) -> None:
    source, sink = FileSource(recording), NullSink()
    attention = Attention("hey joe")
    heard: list[tuple[str, bool, str | None]] = []
    seen: set[str] = set()

    def addressed(text: str, final: bool) -> str | None:
        meant = attention.hears(text, final)
        heard.append((text, final, meant))
        return meant

    def watch() -> None:
        seen.add(companion.captions().user)
        assert attention.awake or not sink.sounding(), "it answers who has not called it"

    with Companion(real_bridge, sink, source, hands_free=True, addressed=addressed) as companion:
        until(
            lambda: companion.state is CompanionState.SPEAKING and companion.captions().avatar,
            companion,
            watch,
        )
        finals = [(text.lower(), meant) for text, final, meant in heard if final]
        assert companion.captions().user.lower().startswith("what is the capital of italy")
    source.close()
    meant = [words is not None for _, words in finals]
    assert meant == sorted(meant), finals  # it listens from the call on that it has understood
    assert (meant[0], meant[-1]) == (False, True), finals
    assert "france" in finals[0][0]
    assert not any("france" in words.lower() for words in seen)


def test_it_says_a_text_as_it_is_and_hears_nothing_meanwhile(real_bridge: str) -> None:
    text, sink = "Your timer of 1 minute is over.", NullSink()
    with Companion(real_bridge, sink, NullSource()) as companion:
        companion.say(text)
        until(lambda: companion.state is CompanionState.SPEAKING, companion, lambda: None)
        assert companion.captions().user == ""
        until(lambda: companion.state is CompanionState.IDLE, companion, lambda: None)
        assert companion.captions().avatar == text
        # It can be cut off, and a question goes before it.
        companion.say(text)
        until(lambda: companion.state is CompanionState.SPEAKING, companion, lambda: None)
        companion.interrupt()
        until(lambda: companion.state is CompanionState.IDLE, companion, lambda: None)
        companion.ask("Who are you?")
        until(lambda: companion.captions().avatar and companion.captions().user, companion, lambda: None)
        assert companion.captions().user == "Who are you?"
