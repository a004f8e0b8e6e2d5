"""What sounds over the avatar's voice stop it at once, and which are taken back as false alarms."""

from collections.abc import Callable

import numpy as np
import pytest
import soxr

from taoxr.worker.v1.ear_pb2 import ListenConfig, ListenResponse
from taoxr_bridge.barge_in import is_back_channel
from taoxr_models.catalog import default_model, verified
from taoxr_models.ear.stream import EarStream
from taoxr_models.ear.vad import load_vad
from taoxr_models.ear.whisper import Whisper
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.voice import Voice

pytestmark = pytest.mark.models

RATE = 16_000
PIECE = 320
AT_S = 1.0

Hear = Callable[[np.ndarray], list[tuple[float, ListenResponse]]]


@pytest.fixture(scope="module")
def speak() -> Callable[[str], np.ndarray]:
    voice, phonemizer = Voice(verified(default_model("tts"))), Phonemizer()

    def say(text: str) -> np.ndarray:
        pcm = np.concatenate([voice.speak(symbols).pcm for symbols in phonemizer(text)]) / 32768
        return soxr.resample(pcm, 22_050, RATE)

    return say


@pytest.fixture(scope="module")
def hear() -> Hear:
    """Hears a sound in quiet noise; each response with the position in the audio when it came, in seconds."""
    vad, whisper = load_vad(verified(default_model("vad"))), Whisper(verified(default_model("asr")))

    def hear_sound(sound: np.ndarray) -> list[tuple[float, ListenResponse]]:
        stream = EarStream(ListenConfig(sample_rate_hz=RATE, stable_partials=True), vad, whisper)
        audio = np.random.default_rng(1).standard_normal(len(sound) + round(2.5 * RATE)) * 0.0005
        start = round(AT_S * RATE)
        audio[start : start + len(sound)] += sound
        pcm = np.rint(np.clip(audio, -1, 1) * 32767).astype(np.int16)
        out: list[tuple[float, ListenResponse]] = []
        for i in range(0, len(pcm), PIECE):
            responses = stream.listen(pcm[i : i + PIECE])
            while stream.can_work:
                responses += stream.work()
            out += [((i + PIECE) / RATE, r) for r in responses]
        return out

    return hear_sound


def cough(seconds: float, seed: int) -> np.ndarray:
    """A burst of noise in the band of the mouth with a hard onset and an exponential end."""
    n = round(seconds * RATE)
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(n))
    hz = np.fft.rfftfreq(n, 1 / RATE)
    spectrum *= np.exp(-(((hz - 900) / 900) ** 2))
    burst = np.fft.irfft(spectrum, n) * np.exp(-np.arange(n) / (0.35 * n))
    return 0.6 * burst / np.abs(burst).max()


def times(heard: list[tuple[float, ListenResponse]], payload: str) -> list[float]:
    return [at - AT_S for at, r in heard if r.WhichOneof("payload") == payload]


def finals(heard: list[tuple[float, ListenResponse]]) -> list[str]:
    return [r.utterance.text for _, r in heard if r.utterance.is_final]


@pytest.mark.parametrize("text", ["Stop it now, please.", "Wait, I have a question.", "No, that is not it."])
def test_words_stop_it_within_a_third_of_a_second(speak, hear: Hear, text: str) -> None:
    heard = hear(speak(text))
    assert 0.15 < times(heard, "speech_sustained")[0] <= 0.37
    (final,) = finals(heard)
    assert not is_back_channel(final)


@pytest.mark.parametrize("text", ["Mm-hm.", "Uh-huh.", "Okay.", "I see."])
def test_a_back_channel_is_known_soon_after(speak, hear: Hear, text: str) -> None:
    sound = speak(text)
    heard = hear(sound)
    assert all(is_back_channel(final) for final in finals(heard))
    assert all(at <= len(sound) / RATE + 0.7 for at in times(heard, "utterance"))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("seconds", [0.12, 0.3])
def test_a_cough_is_nothing_or_a_false_alarm(hear: Hear, seconds: float, seed: int) -> None:
    heard = hear(np.concatenate([cough(seconds, seed), np.zeros(1600), cough(seconds, seed + 9)]))
    assert all(is_back_channel(final) for final in finals(heard))


def test_noise_stops_nothing(hear: Hear) -> None:
    heard = hear(0.05 * np.random.default_rng(2).standard_normal(2 * RATE))
    assert times(heard, "speech_sustained") == []
    assert all(is_back_channel(final) for final in finals(heard))
