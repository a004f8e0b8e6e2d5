"""Lips for any audio: a voice that the network never heard in training, silence, noise, levels and rates."""

from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import soxr

from taoxr.arkit import INDEX
from taoxr.errors import ModelError
from taoxr.v1.common_pb2 import PhonemeTiming
from taoxr.worker.v1.a2bs_pb2 import AnimateAudioConfig, AnimateAudioRequest, AnimatePhonemesRequest
from taoxr_models.a2bs.animate import Track, frame_times
from taoxr_models.a2bs.any_voice import DELAY_S, AudioAnimator
from taoxr_models.a2bs.hearing import LEAST_LEVEL, Level
from taoxr_models.a2bs.listener import Listener
from taoxr_models.a2bs.network import HEAD, MODEL, TRUNK, Network
from taoxr_models.a2bs.phonemes import segments
from taoxr_models.a2bs.rig import lip_gap
from taoxr_models.a2bs.service import A2bsRole
from taoxr_models.a2bs.training import evaluate, utterances
from taoxr_models.a2bs.training.metrics import Reference
from taoxr_models.a2bs.training.targets import FRAME
from taoxr_models.a2bs.training.utterances import Utterance
from taoxr_models.catalog import verified
from taoxr_models.worker.model_thread import ModelThread
from taoxr_models.worker.role import RoleSetup

pytestmark = pytest.mark.models

RATE = 16_000
MAX_SPEED = 20.0


@pytest.fixture(scope="module")
def network() -> Network:
    return Network.installed()


@pytest.fixture(scope="module")
def unheard() -> list[Utterance]:
    """Sentences of Festival's male diphone voice with exact times; no voice of Festival was trained on."""
    return utterances.load(Path(__file__).parent / "data", "festival-ked")


@pytest.fixture(scope="module")
def speech(unheard: list[Utterance]) -> np.ndarray:
    quiet = np.zeros(8000, np.float32)
    samples = np.concatenate([quiet, unheard[0].samples, quiet])
    return np.rint(samples * 32767.0).astype(np.int16)


def animate(network: Network, pcm: np.ndarray, chunks: Sequence[int], rate: int = RATE) -> Track:
    animator = AudioAnimator(Listener(network), rate, 30.0)
    tracks: list[Track] = []
    at = i = 0
    while at < len(pcm):
        tracks.append(animator.push(pcm[at : at + chunks[i % len(chunks)]]))
        at += chunks[i % len(chunks)]
        i += 1
    tracks.append(animator.finish())
    return Track(np.concatenate([t.times_us for t in tracks]), np.concatenate([t.weights for t in tracks]))


def test_frames_cover_the_clip(network: Network, speech: np.ndarray) -> None:
    track = animate(network, speech, [320])
    np.testing.assert_array_equal(track.times_us, frame_times(0, round(len(speech) / RATE * 1e6), 30.0))
    assert track.weights.min() >= 0.0
    assert track.weights.max() <= 1.0
    assert np.abs(np.diff(track.weights, axis=0)).max() * 30 <= MAX_SPEED


def test_an_unheard_voice_is_understood(network: Network, unheard: list[Utterance]) -> None:
    references = [Reference.of(segments(u.phonemes), len(u.samples) // FRAME) for u in unheard]
    figures = evaluate.scores([evaluate.ours(network, u.samples) for u in unheard], references)
    assert figures["error"] < 0.3
    assert figures["error_shuffled"] > 0.8
    assert figures["jaw_r"] > 0.8
    assert figures["bilabials"] >= 10
    assert figures["closed"] >= 0.9
    assert figures["false"] <= 0.15
    assert abs(figures["lag_ms"]) <= 30.0  # Festival says 10 ms earlier than an aligner


@pytest.mark.parametrize("chunks", [[1600], [10**9]])
def test_chunks_hardly_matter(network: Network, speech: np.ndarray, chunks: list[int]) -> None:
    live = animate(network, speech, [320])
    other = animate(network, speech, chunks)
    np.testing.assert_array_equal(live.times_us, other.times_us)
    assert np.abs(lip_gap(live.weights) - lip_gap(other.weights)).mean() < 0.02


def test_the_face_rests_around_the_speech(network: Network, speech: np.ndarray) -> None:
    track = animate(network, speech, [320])
    t = track.times_us * 1e-6
    assert not track.weights[(t < 0.4) | (t > len(speech) / RATE - 0.3)].any()


def test_level_hardly_matters(network: Network, speech: np.ndarray) -> None:
    loud = animate(network, speech, [320])
    soft = animate(network, np.rint(speech * 0.1).astype(np.int16), [320])
    assert np.corrcoef(lip_gap(loud.weights), lip_gap(soft.weights))[0, 1] > 0.95


@pytest.mark.parametrize("rate", [8000, 48000])
def test_any_rate(network: Network, speech: np.ndarray, rate: int) -> None:
    pcm = np.clip(soxr.resample(speech.astype(np.float32), RATE, rate), -32768, 32767).astype(np.int16)
    usual, other = animate(network, speech, [1600]), animate(network, pcm, [1600], rate)
    n = min(len(usual.times_us), len(other.times_us))
    assert np.corrcoef(lip_gap(usual.weights[:n]), lip_gap(other.weights[:n]))[0, 1] > 0.85


def test_frames_come_soon(network: Network, speech: np.ndarray) -> None:
    animator = AudioAnimator(Listener(network), RATE, 30.0)
    told = 0
    for at in range(0, len(speech), 320):
        times = animator.push(speech[at : at + 320]).times_us
        told = int(times[-1]) if len(times) else told
        # A frame period and a chunk on top.
        assert (at + 320) / RATE - told * 1e-6 <= DELAY_S + 1 / 30 + 0.02


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.02, 0.1, 1.0])
def test_short_and_silent_clips(network: Network, seconds: float) -> None:
    track = animate(network, np.zeros(round(seconds * RATE), np.int16), [320])
    np.testing.assert_array_equal(track.times_us, frame_times(0, round(seconds * 1e6), 30.0))
    assert not track.weights.any()


@pytest.mark.parametrize("level", [20.0, 300.0, 3000.0])
def test_noise_does_not_talk(network: Network, level: float) -> None:
    rng = np.random.default_rng(5)
    hiss = np.rint(level * rng.standard_normal(3 * RATE)).astype(np.int16)
    assert animate(network, hiss, [320]).weights[:, INDEX["jawOpen"]].max() < 0.05


def test_trunk_and_head_are_small() -> None:
    head = Path(evaluate.__file__).parents[1] / HEAD
    assert head.stat().st_size + (verified(MODEL) / TRUNK).stat().st_size < 10_000_000


async def test_without_the_trunk_phonemes_still_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path))
    role = A2bsRole(RoleSetup(ModelThread()))
    role.load()
    request = AnimatePhonemesRequest(phonemes=[PhonemeTiming(symbol="ɑ", start_us=0, end_us=300_000)])
    assert len((await role.AnimatePhonemes(request, Mock())).frames) == 9

    async def requests():
        yield AnimateAudioRequest(config=AnimateAudioConfig(sample_rate_hz=16_000))

    with pytest.raises(ModelError, match="taoxr models pull whisper"):
        await anext(role.AnimateAudio(requests(), Mock()))


def test_the_level_jumps_up_and_falls_slowly() -> None:
    level = Level()
    loud = np.full((80, 10), -0.5, np.float32)
    assert level.take(loud) == pytest.approx(-0.5)
    assert level.take(np.full((80, 100), -9.0, np.float32)) == pytest.approx(-0.65)
    assert level.take(np.full((80, 5000), -9.0, np.float32)) == pytest.approx(LEAST_LEVEL)
    whole, parts = Level(), Level()
    rng = np.random.default_rng(3)
    power = rng.uniform(-6.0, 1.0, (80, 300)).astype(np.float32)
    whole.take(power)
    for at in range(0, 300, 7):
        parts.take(power[:, at : at + 7])
    assert parts.value == pytest.approx(whole.value)
