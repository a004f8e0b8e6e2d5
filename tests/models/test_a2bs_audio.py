"""Lips for any audio, here the voice that the classes were fitted on."""

from collections.abc import Sequence

import numpy as np
import pytest
import soxr

from taoxr.arkit import INDEX
from taoxr.errors import ModelError
from taoxr_models.a2bs.animate import Track, frame_times
from taoxr_models.a2bs.articulation import TABLE
from taoxr_models.a2bs.audio import LOOK_AHEAD_S, AudioAnimator
from taoxr_models.a2bs.features import DIMENSIONS, Features
from taoxr_models.a2bs.prototypes import Prototypes
from taoxr_models.a2bs.rig import lip_gap
from taoxr_models.catalog import default_model, verified
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.voice import Voice

pytestmark = pytest.mark.models

RATE = 22050
MAX_SPEED = 20.0


@pytest.fixture(scope="module")
def prototypes() -> Prototypes:
    return Prototypes.bundled()


@pytest.fixture(scope="module")
def speech() -> np.ndarray:
    """A sentence that was not fitted on, with half a second of silence on both sides."""
    voice = Voice(verified(default_model("tts")))
    (symbols,) = Phonemizer()("Today the harbour master was happy to meet all of the old sailors.")
    return np.concatenate([np.zeros(11025, np.int16), voice.speak(symbols).pcm, np.zeros(11025, np.int16)])


def animate(prototypes: Prototypes, pcm: np.ndarray, chunks: Sequence[int], rate: int = RATE) -> Track:
    animator = AudioAnimator(prototypes, rate, 30.0)
    tracks: list[Track] = []
    at = i = 0
    while at < len(pcm):
        tracks.append(animator.push(pcm[at : at + chunks[i % len(chunks)]]))
        at += chunks[i % len(chunks)]
        i += 1
    tracks.append(animator.finish())
    return Track(np.concatenate([t.times_us for t in tracks]), np.concatenate([t.weights for t in tracks]))


def test_frames_cover_the_clip(prototypes: Prototypes, speech: np.ndarray) -> None:
    track = animate(prototypes, speech, [441])
    np.testing.assert_array_equal(track.times_us, frame_times(0, round(len(speech) / RATE * 1e6), 30.0))
    assert track.weights.min() >= 0.0
    assert track.weights.max() <= 1.0
    assert np.abs(np.diff(track.weights, axis=0)).max() * 30 <= MAX_SPEED


@pytest.mark.parametrize("chunks", [[1, 7, 4000], [2205], [10**9]])
def test_chunks_do_not_matter(prototypes: Prototypes, speech: np.ndarray, chunks: list[int]) -> None:
    pcm = soxr.resample(speech, RATE, 16000)[:40000]
    whole = animate(prototypes, pcm, [320], 16000)
    cut = animate(prototypes, pcm, chunks, 16000)
    np.testing.assert_array_equal(whole.times_us, cut.times_us)
    np.testing.assert_allclose(whole.weights, cut.weights, atol=1e-6)


def test_the_mouth_follows_the_speech(prototypes: Prototypes, speech: np.ndarray) -> None:
    track = animate(prototypes, speech, [441])
    t = track.times_us * 1e-6
    end = len(speech) / RATE
    assert not track.weights[(t < 0.35) | (t > end - 0.2)].any()
    middle = track.weights[(t > 0.7) & (t < end - 0.8)]
    gap = lip_gap(middle)
    assert gap.max() > 0.3
    assert gap.min() < 0.05
    assert middle[:, INDEX["mouthPucker"]].max() > 0.15
    assert middle[:, INDEX["mouthSmileLeft"]].max() > 0.1


def test_level_hardly_matters(prototypes: Prototypes, speech: np.ndarray) -> None:
    def jaw(gain: float) -> float:
        track = animate(prototypes, np.rint(speech * gain).astype(np.int16), [441])
        return float(track.weights[30:, INDEX["jawOpen"]].mean())

    assert jaw(0.1) == pytest.approx(jaw(1.0), rel=0.25)


@pytest.mark.parametrize("rate", [8000, 48000])
def test_any_rate(prototypes: Prototypes, speech: np.ndarray, rate: int) -> None:
    pcm = np.clip(soxr.resample(speech.astype(np.float32), RATE, rate), -32768, 32767).astype(np.int16)
    usual, other = animate(prototypes, speech, [2205]), animate(prototypes, pcm, [2205], rate)
    n = min(len(usual.times_us), len(other.times_us))
    a, b = lip_gap(usual.weights[:n]), lip_gap(other.weights[:n])
    assert np.corrcoef(a, b)[0, 1] > 0.8


def test_frames_come_soon(prototypes: Prototypes, speech: np.ndarray) -> None:
    animator = AudioAnimator(prototypes, RATE, 30.0)
    told = 0
    for at in range(0, len(speech), 441):
        times = animator.push(speech[at : at + 441]).times_us
        told = int(times[-1]) if len(times) else told
        # A frame period and a chunk on top.
        assert (at + 441) / RATE - told * 1e-6 <= LOOK_AHEAD_S + 1 / 30 + 0.03


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.02, 0.1])
def test_short_and_silent_clips(prototypes: Prototypes, seconds: float) -> None:
    track = animate(prototypes, np.zeros(round(seconds * RATE), np.int16), [441])
    np.testing.assert_array_equal(track.times_us, frame_times(0, round(seconds * 1e6), 30.0))
    assert not track.weights.any()


def test_noise_does_not_talk(prototypes: Prototypes) -> None:
    rng = np.random.default_rng(5)
    hiss = np.rint(20 * rng.standard_normal(2 * RATE)).astype(np.int16)  # -64 dBFS
    assert animate(prototypes, hiss, [441]).weights[:, INDEX["jawOpen"]].max() < 0.05


def test_the_bundled_file_is_for_this_table(prototypes: Prototypes, tmp_path) -> None:
    assert prototypes.means.shape[0] == len(TABLE)
    assert prototypes.projection.shape[1] == DIMENSIONS
    assert prototypes.priors.sum() == pytest.approx(1.0)
    prototypes.save(tmp_path / "p.npz")
    again = Prototypes.load(tmp_path / "p.npz")
    np.testing.assert_allclose(again.factors, prototypes.factors)
    with np.load(tmp_path / "p.npz") as data:
        fields = dict(data)
    fields["names"] = fields["names"][:-1]
    np.savez(tmp_path / "q.npz", **fields)
    with pytest.raises(ModelError, match="other classes"):
        Prototypes.load(tmp_path / "q.npz")


def test_rows_come_for_every_ten_milliseconds() -> None:
    features = Features(np.zeros(12))
    rng = np.random.default_rng(1)
    x = rng.standard_normal(16000).astype(np.float32) * 0.1
    count = sum(len(features.push(x[i : i + 123])) for i in range(0, len(x), 123)) + len(features.finish())
    assert count == (16000 - 400) // 160 + 1
