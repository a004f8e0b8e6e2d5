"""A question in a stereo WAV at 44.1 kHz; a spoken, animated answer; all through real processes."""

from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio
import soundfile
import soxr
from numpy.typing import NDArray

from taoxr import client as taoxr
from taoxr.client import Client, InputMode, MediaChunk, State, wav
from taoxr_models.a2bs.rig import lip_gap

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module")]

QUESTION = "What is the capital of France?"
SEALED = 0.02  # lip gap below which the lips touch
BILABIALS = "pbm"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def client(real_bridge: str) -> AsyncIterator[Client]:
    async with taoxr.connect(real_bridge) as connected:
        yield connected


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def recording(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The question, spoken by the avatar's own voice, as a stereo WAV at 44.1 kHz."""
    said = await client.say(QUESTION)
    samples = soxr.resample(said.pcm.astype(np.float32) / 32768, said.sample_rate_hz, 44_100)
    path = tmp_path_factory.mktemp("e2e") / "question.wav"
    soundfile.write(path, np.stack([samples, 0.8 * samples], axis=1), 44_100)
    return path


async def turn_of(client: Client, pcm: NDArray[np.int16], rate: int) -> dict[type, list[taoxr.Event]]:
    """Asks by voice (push to talk); every event of the turn, by kind."""
    options = taoxr.ConversationOptions(audio_in_hz=rate, input_mode=InputMode.PUSH_TO_TALK)
    seen: dict[type, list[taoxr.Event]] = {}
    async with client.converse(options) as conversation:
        for start in range(0, len(pcm), rate // 25):
            await conversation.send_audio(pcm[start : start + rate // 25])
        await conversation.end_of_user_turn()
        async for event in conversation:
            seen.setdefault(type(event), []).append(event)
            if isinstance(event, taoxr.TurnState) and event.state.ended:
                break
    return seen


async def test_spoken_question_gets_a_spoken_animated_answer(client: Client, recording: Path) -> None:
    rate = 44_100
    pcm = wav.read(recording, rate)
    seen = await turn_of(client, pcm, rate)

    finals = [t for t in seen[taoxr.Transcript] if isinstance(t, taoxr.Transcript) and t.is_final]
    assert [t.text.lower().strip(" .?!") for t in finals] == ["what is the capital of france"]
    answer = "".join(t.text for t in seen[taoxr.TextDelta] if isinstance(t, taoxr.TextDelta))
    assert len(answer.split()) >= 2
    states = [t.state for t in seen[taoxr.TurnState] if isinstance(t, taoxr.TurnState)]
    assert states[-3:] == [State.THINKING, State.SPEAKING, State.DONE]

    chunks = [c for c in seen[MediaChunk] if isinstance(c, MediaChunk)]
    assert_one_clock(chunks)
    assert_lips_fit(chunks)
    speech = np.concatenate([c.pcm for c in chunks]).astype(np.float64) / 32768
    assert 0.01 < float(np.sqrt(np.mean(speech**2))) < 0.5
    assert np.abs(speech).max() < 1.0

    metrics = seen[taoxr.TurnMetrics][0]
    assert isinstance(metrics, taoxr.TurnMetrics)
    stages = metrics.stages_ms
    assert 0 < stages["asr"] <= stages["llm_first_token"] <= stages["first_clause"] <= stages["first_media"]


def assert_one_clock(chunks: list[MediaChunk]) -> None:
    """Audio without gaps; each chunk has exactly the frames of its span; one even grid of frames."""
    assert chunks[0].start_us == 0
    assert chunks[-1].last
    for before, after in pairwise(chunks):
        assert abs(after.start_us - before.end_us) <= 1
    for chunk in chunks:
        assert np.all((chunk.frame_times_us >= chunk.start_us) & (chunk.frame_times_us < chunk.end_us))
    times = np.concatenate([c.frame_times_us for c in chunks])
    steps = np.diff(times)
    assert np.all(np.abs(steps - 1e6 / 30) <= 1), steps
    assert len({c.clause for c in chunks}) == sum(bool(c.clause_text) for c in chunks)


def assert_lips_fit(chunks: list[MediaChunk]) -> None:
    """Lips touch on p, b, m and in silence, and open on vowels."""
    times = np.concatenate([c.frame_times_us for c in chunks])
    gaps = lip_gap(np.concatenate([c.frame_weights for c in chunks]))
    bilabials = silences = 0
    for phoneme in (p for c in chunks for p in c.phonemes):
        inside = gaps[(times >= phoneme.start_us) & (times < phoneme.end_us)]
        middle = gaps[(times >= phoneme.start_us + 100_000) & (times < phoneme.end_us - 100_000)]
        if phoneme.symbol.strip("ˈˌː") in tuple(BILABIALS) and len(inside):
            bilabials += 1
            assert inside.min() <= SEALED, phoneme
        elif phoneme.symbol in ("", "_") and len(middle):
            silences += 1
            assert middle.max() <= SEALED, phoneme
    assert bilabials > 0
    assert gaps.max() > 0.1


async def test_lips_follow_foreign_audio(client: Client, recording: Path) -> None:
    rate = 44_100
    pcm = wav.read(recording, rate)
    silence = np.zeros(rate, np.int16)
    track = await client.animate_audio(np.concatenate([silence, pcm, silence]), rate)
    assert not track.rig.provisional
    gaps = lip_gap(track.weights)
    seconds = track.times_us / 1e6
    assert abs(seconds[-1] - (2 + len(pcm) / rate)) < 0.1
    assert gaps[seconds < 0.8].max() <= SEALED
    assert gaps[seconds > seconds[-1] - 0.5].max() <= SEALED
    assert gaps[(seconds > 1) & (seconds < seconds[-1] - 1)].max() > 0.1


def get_time() -> str:
    """Tells the current time of day."""
    return "It is five past two."


async def test_the_model_calls_a_tool_and_says_what_comes_of_it(client: Client) -> None:
    async with client.converse(taoxr.ConversationOptions(tools=(get_time,))) as conversation:
        for question, calls in (("What time is it?", 1), ("Who wrote Romeo and Juliet?", 0)):
            await conversation.send_text(question)
            seen: list[taoxr.Event] = []
            async for event in conversation:
                seen.append(event)
                if isinstance(event, taoxr.TurnState) and event.state.ended:
                    break
            assert len([e for e in seen if isinstance(e, taoxr.ToolCall)]) == calls
            assert isinstance(seen[-1], taoxr.TurnState)
            assert seen[-1].state is State.DONE
            assert (seen[-1].heard_text == get_time()) == bool(calls)
