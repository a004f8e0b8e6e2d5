"""The avatar's voice out of a loudspeaker is nobody's speech; the user's voice over it still is."""

from collections.abc import Callable

import numpy as np
import pytest
import soxr

from taoxr.errors import InvalidInputError
from taoxr.worker.v1.ear_pb2 import ListenConfig, ListenResponse, Playback
from taoxr_models.catalog import default_model, verified
from taoxr_models.ear.avatar_voice import AvatarVoice
from taoxr_models.ear.echo import EchoGate
from taoxr_models.ear.stream import EarStream
from taoxr_models.ear.vad import load_vad
from taoxr_models.ear.whisper import Whisper
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.voice import Voice

pytestmark = pytest.mark.models

RATE = 16_000
VOICE_RATE = 22_050
PIECE_S = 0.16
AVATAR = "The sea is very wide and very deep. Many fish live there, and some of them are as large as a house."
USER = "Wait a moment, I have another question for you."
USER_AT = 3.0


class Voices:
    """The avatar at 22,050 Hz, and a user with a voice a third higher at 16 kHz; float in [-1, 1]."""

    def __init__(self) -> None:
        voice, phonemizer = Voice(verified(default_model("tts"))), Phonemizer()

        def say(text: str, speed: float) -> np.ndarray:
            return np.concatenate([voice.speak(s, speed).pcm for s in phonemizer(text)]) / 32768.0

        self.avatar = say(AVATAR, 1.0)
        self.user = soxr.resample(say(USER, 0.75), VOICE_RATE * 1.35, RATE)


class Room:
    """A microphone that hears a loudspeaker with a delay, a gain and an echoing room, noise, and a user."""

    def __init__(
        self, voices: Voices, *, delay_s: float, gain: float, noise: float, user: float = 0.0
    ) -> None:
        chance = np.random.default_rng(1)
        decay = round(0.4 * RATE)
        tail = chance.standard_normal(decay) * 10 ** (-3 * np.arange(decay) / decay) * 0.05
        tail[0] = 1.0
        played = soxr.resample(voices.avatar, VOICE_RATE, RATE)
        length = len(played) + 2 * RATE
        size = 1 << (2 * length).bit_length()
        echo = np.fft.irfft(np.fft.rfft(played, size) * np.fft.rfft(tail, size), size)[:length] * gain
        self.mic = chance.standard_normal(length) * noise
        delay = round(delay_s * RATE)
        self.mic[delay:] += echo[: length - delay]
        if user:
            at = round(USER_AT * RATE)
            self.mic[at : at + len(voices.user)] += voices.user[: length - at] * user


@pytest.fixture(scope="module")
def voices() -> Voices:
    return Voices()


@pytest.fixture(scope="module")
def open_stream() -> Callable[..., EarStream]:
    vad, whisper = load_vad(verified(default_model("vad"))), Whisper(verified(default_model("asr")))
    return lambda **config: EarStream(ListenConfig(sample_rate_hz=RATE, **config), vad, whisper)


def live(
    stream: EarStream, voices: Voices, mic: np.ndarray, *, recognise: bool = False
) -> list[ListenResponse]:
    """Plays and records at once; pieces of playback are told up to 1.2 s early, as the bridge does."""
    out: list[ListenResponse] = []
    told, piece = 0, round(PIECE_S * VOICE_RATE)
    pcm = np.clip(np.rint(mic * 32767), -32768, 32767).astype(np.int16)
    speech = np.rint(voices.avatar * 32767).astype("<i2")
    for start in range(0, len(pcm), 320):
        while told < len(speech) and told / VOICE_RATE <= start / RATE + 1.2:
            stream.play(
                Playback(
                    pcm=speech[told : told + piece].tobytes(),
                    sample_rate_hz=VOICE_RATE,
                    offset_us=round(told / VOICE_RATE * 1e6),
                    text=AVATAR if told == 0 else "",
                )
            )
            told += piece
        out += stream.listen(pcm[start : start + 320])
        while recognise and stream.can_work:
            out += stream.work()
    return out


def starts(responses: list[ListenResponse]) -> list[float]:
    return [r.speech_started.offset_us / 1e6 for r in responses if r.HasField("speech_started")]


ROOMS = [
    (0.05, 0.3, 0.0003),
    (0.15, 1.0, 0.003),
    (0.3, 0.1, 0.003),
    (0.5, 0.03, 0.0003),
    (0.9, 0.3, 0.003),
]


@pytest.mark.parametrize(("delay_s", "gain", "noise"), ROOMS)
def test_its_own_voice_is_not_heard(voices, open_stream, delay_s, gain, noise) -> None:
    room = Room(voices, delay_s=delay_s, gain=gain, noise=noise)
    assert starts(live(open_stream(), voices, room.mic)) == []


def test_without_the_gate_it_would_be(voices, open_stream) -> None:
    room = Room(voices, delay_s=0.15, gain=0.1, noise=0.003)
    assert starts(live(open_stream(echo_cancelled=True), voices, room.mic))[0] < 0.5


@pytest.mark.parametrize(
    ("delay_s", "gain", "user"), [(0.05, 0.1, 0.5), (0.15, 0.3, 1.0), (0.3, 0.3, 0.7), (0.4, 0.1, 0.5)]
)
def test_the_user_over_it_is_heard_at_once(voices, open_stream, delay_s, gain, user) -> None:
    room = Room(voices, delay_s=delay_s, gain=gain, noise=0.001, user=user)
    heard = starts(live(open_stream(), voices, room.mic))
    assert USER_AT - 0.1 <= heard[0] <= USER_AT + 0.25


def test_with_headphones_the_user_is_heard(voices, open_stream) -> None:
    room = Room(voices, delay_s=0.1, gain=0.0, noise=0.001, user=1.0)
    stream = open_stream()
    responses = live(stream, voices, room.mic, recognise=True)
    assert USER_AT - 0.1 <= starts(responses)[0] <= USER_AT + 0.1
    finals = [r.utterance.text for r in responses if r.HasField("utterance")]
    assert "another question" in finals[-1].lower()


def test_after_playback_the_user_is_heard_again(voices, open_stream) -> None:
    room = Room(voices, delay_s=0.15, gain=0.3, noise=0.001)
    stream = open_stream()
    live(stream, voices, room.mic)
    user = np.rint(np.pad(voices.user, RATE) * 32767).astype(np.int16)
    [began, *_] = starts(stream.listen(user))
    assert began == pytest.approx(len(room.mic) / RATE + 1.0, abs=0.1)


def test_playback_that_was_cut_off_is_not_waited_for(voices, open_stream) -> None:
    """After an interruption the loudspeaker is silent, whatever had been told of it before."""
    avatar = soxr.resample(voices.avatar, VOICE_RATE, RATE).astype(np.float32)
    gate = EchoGate()
    gate.play(avatar, 0)
    assert gate.unexplained(avatar[:512]) == 0.0
    gate.stop(512)
    assert len(avatar) > 3 * RATE
    shares = [gate.unexplained(np.zeros(512, np.float32)) for _ in range(3 * RATE // 512)]
    assert shares[-1] == 1.0


SAID = [
    ("Many fish live there, and some of them are as", True),
    ("many fish lived there and some of them", True),
    ("Wait, many people live there?", False),
    ("Wait a moment, I have another question for you.", False),
    ("house", False),  # one word, and no echo was found
    ("", False),
]


@pytest.mark.parametrize(("text", "echo"), SAID)
def test_its_own_words_are_recognised_as_such(text: str, echo: bool) -> None:
    voice = AvatarVoice()
    voice.play(Playback(pcm=bytes(32000), sample_rate_hz=RATE, offset_us=0, text=AVATAR))
    assert voice.said(text, 0, RATE) is echo
    assert voice.said(text, 4 * RATE, 5 * RATE) is False  # long after


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("playback.pcm", {"pcm": bytes(3)}),
        ("playback.pcm", {"pcm": bytes(300_000)}),
        ("playback.sample_rate_hz", {"sample_rate_hz": 0}),
    ],
)
def test_wrong_playback_is_named(field: str, values: dict) -> None:
    with pytest.raises(InvalidInputError) as caught:
        AvatarVoice().play(Playback(**{"pcm": bytes(320), "sample_rate_hz": RATE, **values}))
    assert caught.value.field == field
