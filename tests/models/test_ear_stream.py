"""The real ear on the real voice: what it says comes back as text, and nothing else does."""

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import soxr

from taoxr.errors import InvalidInputError
from taoxr.worker.v1.ear_pb2 import ListenConfig, ListenResponse, Utterance
from taoxr_models.catalog import default_model, verified
from taoxr_models.ear.stream import EarStream
from taoxr_models.ear.vad import load_vad
from taoxr_models.ear.whisper import Whisper
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.voice import Voice

pytestmark = pytest.mark.models

Speak = Callable[[str], np.ndarray]
Open = Callable[..., EarStream]


@pytest.fixture(scope="module")
def speak() -> Speak:
    """Speaks at 22,050 Hz with half a second of silence in front and 0.8 s behind."""
    voice, phonemizer = Voice(verified(default_model("tts"))), Phonemizer()

    def say(text: str) -> np.ndarray:
        audio = [voice.speak(symbols).pcm for symbols in phonemizer(text)]
        return np.concatenate([np.zeros(11025, np.int16), *audio, np.zeros(17640, np.int16)])

    return say


@pytest.fixture(scope="module")
def open_stream() -> Open:
    vad = load_vad(verified(default_model("vad")))
    whisper = Whisper(verified(default_model("asr")))
    return lambda **config: EarStream(ListenConfig(**{"sample_rate_hz": 22050, **config}), vad, whisper)


def hear(stream: EarStream, pcm: np.ndarray, chunk_s: float = 0.1) -> list[ListenResponse]:
    """Feeds audio as a live microphone does: all work between chunks gets done."""
    out: list[ListenResponse] = []
    n = max(1, round(chunk_s * stream.sample_rate_hz))
    for i in range(0, len(pcm), n):
        out += stream.listen(pcm[i : i + n])
        out += work(stream)
    return out


def work(stream: EarStream) -> list[ListenResponse]:
    out: list[ListenResponse] = []
    while stream.can_work:
        out += stream.work()
    return out


def transcripts(responses: list[ListenResponse], *, final: bool = True) -> list[Utterance]:
    said = [r.utterance for r in responses if r.HasField("utterance")]
    return [u for u in said if u.is_final == final]


def words(text: str) -> list[str]:
    return re.sub(r"[^a-z' ]", " ", text.lower()).split()


def resampled(pcm: np.ndarray, rate: int) -> np.ndarray:
    return np.clip(soxr.resample(pcm.astype(np.float32), 22050, rate), -32768, 32767).astype(np.int16)


TEXTS = [
    "What is the capital of France?",
    "Please tell me a story about a brave little robot.",
    "How far away is the moon from the earth?",
    "Yes.",
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_the_voice_says_is_heard(speak: Speak, open_stream: Open, text: str) -> None:
    pcm = speak(text)
    responses = hear(open_stream(), pcm)
    marks = [r.WhichOneof("payload") for r in responses]
    assert marks == ["speech_started", "speech_sustained", "speech_stopped", "utterance"]
    (final,) = transcripts(responses)
    assert words(final.text) == words(text)
    assert responses[0].speech_started.offset_us == final.start_us
    assert responses[1].speech_sustained.offset_us == final.start_us
    assert responses[2].speech_stopped.offset_us == final.end_us
    assert 450_000 <= final.start_us <= 700_000
    end_us = (len(pcm) - 17640) / 22050 * 1e6
    assert end_us - 400_000 <= final.end_us <= end_us + 100_000
    assert final.compute_us > 0


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
def test_any_rate(speak: Speak, open_stream: Open, rate: int) -> None:
    pcm = resampled(speak(TEXTS[0]), rate)
    (final,) = transcripts(hear(open_stream(sample_rate_hz=rate), pcm))
    assert words(final.text) == words(TEXTS[0])


def test_partials_grow_into_the_final(speak: Speak, open_stream: Open) -> None:
    responses = hear(open_stream(partials=True), speak(TEXTS[1]))
    kinds = [r.utterance.is_final for r in responses if r.HasField("utterance")]
    assert kinds == [False] * (len(kinds) - 1) + [True]
    partials = [u.text for u in transcripts(responses, final=False)]
    assert len(partials) >= 3
    unstable = [u.text for u in transcripts(responses, final=False) if not u.is_stable]
    assert len(set(unstable)) == len(unstable)
    assert words(partials[0])[:2] == ["please", "tell"]
    assert len(words(partials[0])) < len(words(TEXTS[1]))


def test_a_stable_partial_comes_before_the_final_and_says_the_same(speak: Speak, open_stream: Open) -> None:
    stream, pcm = open_stream(stable_partials=True), speak(TEXTS[0])
    partial, final = transcripts(hear(stream, pcm), final=False), transcripts(hear(open_stream(), pcm))
    assert [(u.text, u.is_stable) for u in partial] == [(final[0].text, True)]


@pytest.mark.parametrize("text", [TEXTS[0], "Do you know a good story?"])
def test_who_is_in_a_hurry_hears_the_same_before_the_pause_is_long(
    speak: Speak, open_stream: Open, text: str
) -> None:
    stream = open_stream(partials=True, stable_partials=True)
    final, stable = None, [""]
    for r in hear(stream, speak(text), 0.02):
        if r.utterance.is_stable:
            stable.append(r.utterance.text)
        elif r.HasField("speech_stopped"):
            assert words(stable[-1]) == words(text)
        elif r.utterance.is_final:
            final = r.utterance.text
    assert final is not None
    assert words(final) == words(text)


def test_the_final_is_ready_when_its_end_is_certain(speak: Speak, open_stream: Open) -> None:
    stream = open_stream()
    pcm = speak(TEXTS[0])
    for i in range(0, len(pcm), 2205):
        out = stream.listen(pcm[i : i + 2205])
        if stream.must_work:
            # The guess made at the pause is the answer: no more model calls.
            before = stream.work() + stream.work()
            assert words(transcripts(before)[0].text) == words(TEXTS[0])
            return
        assert not transcripts(out)
        work(stream)
    pytest.fail("no final")


@pytest.mark.parametrize("push_to_talk", [False, True])
@pytest.mark.parametrize("kind", ["silence", "noise", "loud noise", "tone"])
def test_no_words_without_speech(open_stream: Open, kind: str, push_to_talk: bool) -> None:
    rng = np.random.default_rng(3)
    n = 3 * 16000
    audio = {
        "silence": np.zeros(n),
        "noise": 0.02 * rng.standard_normal(n),
        "loud noise": 0.3 * rng.standard_normal(n),
        "tone": 0.2 * np.sin(np.arange(n) * 2 * np.pi * 440 / 16000),
    }[kind]
    pcm = (np.clip(audio, -1, 1) * 32767).astype(np.int16)
    stream = open_stream(sample_rate_hz=16000, push_to_talk=push_to_talk, partials=True)
    assert hear(stream, pcm) == []
    if push_to_talk:
        out = stream.end_utterance() + work(stream)
        assert [u.text for u in transcripts(out)] == [""]
        assert (out[0].utterance.start_us, out[0].utterance.end_us) == (0, 2_976_000)
    assert stream.end() + work(stream) == []


def test_what_is_certain_is_never_taken_back(speak: Speak, open_stream: Open) -> None:
    responses = hear(open_stream(partials=True), speak(f"{TEXTS[1]} {TEXTS[2]}"))
    said = [r.utterance for r in responses if r.HasField("utterance")]
    certain = [u.certain_text for u in said]
    assert all(u.text.startswith(u.certain_text) for u in said)
    for before, after in pairwise(certain):
        assert after.startswith(before)
    assert len(set(certain)) >= 4  # it grows
    assert certain[-1] == said[-1].text


def test_a_guess_that_was_wrong_is_taken_back(speak: Speak, open_stream: Open) -> None:
    first, second = speak("What is the capital")[:-17640], speak("of France?")[11025:]
    pcm = np.concatenate([first, np.zeros(3000, np.int16), second])
    said = [
        (u.text, u.is_stable, u.is_final)
        for r in hear(open_stream(stable_partials=True), pcm, 0.02)
        if (u := r.utterance).text
    ]
    (guess, stable, _), (withdrawn, still_stable, _) = said[:2]
    assert stable
    assert not still_stable
    assert guess == withdrawn
    final = said[-1]
    assert final[2]
    assert words(final[0])[:4] == words(guess)


def test_words_come_with_their_times(speak: Speak, open_stream: Open) -> None:
    pcm = speak(TEXTS[2])
    (final,) = transcripts(hear(open_stream(word_times=True), pcm))
    assert [w.text for w in final.words] == final.text.split()
    assert final.language == "en"
    edges = [t for w in final.words for t in (w.start_us, w.end_us)]
    assert edges == sorted(edges)
    # Loud where words are: no word lies in the half second before or the 0.7 s behind the speech.
    assert edges[0] >= 200_000
    assert edges[-1] <= len(pcm) / 22050 * 1e6 - 500_000
    # "moon" is the sixth of nine words.
    moon = next(w for w in final.words if "moon" in w.text)
    assert 0.4 < (moon.start_us - 500_000) / (edges[-1] - 500_000) < 0.75


def silence_until_final(stream: EarStream, pcm: np.ndarray) -> int:
    """Samples at 22,050 Hz from the end of the speech to the final text."""
    for i in range(0, len(pcm), 441):
        responses = stream.listen(pcm[i : i + 441]) + work(stream)
        if final := transcripts(responses):
            return i - round(final[0].end_us * 22050 / 1e6)
    pytest.fail("no final")


def test_a_whole_sentence_ends_the_turn_sooner(speak: Speak, open_stream: Open) -> None:
    silence = np.zeros(22050, np.int16)
    whole = silence_until_final(open_stream(), np.concatenate([speak(TEXTS[0]), silence]))
    broken = silence_until_final(open_stream(), np.concatenate([speak("I would like to go to the"), silence]))
    fixed = silence_until_final(
        open_stream(endpoint_silence_ms=700), np.concatenate([speak(TEXTS[0]), silence])
    )
    assert 0.3 < whole / 22050 < 0.45
    assert 0.85 < broken / 22050 < 1.0
    assert 0.65 < fixed / 22050 < 0.8


def test_push_to_talk_ends_when_told(speak: Speak, open_stream: Open) -> None:
    stream = open_stream(push_to_talk=True)
    pcm = np.concatenate([speak(TEXTS[0]), np.zeros(33075, np.int16), speak(TEXTS[3])])
    responses = hear(stream, pcm)
    assert not transcripts(responses)
    responses += stream.end_utterance() + work(stream)
    marks = [r.WhichOneof("payload") for r in responses]
    assert marks == ["speech_started", "speech_sustained", "speech_stopped"] * 2 + ["utterance"]
    assert words(transcripts(responses)[0].text) == [*words(TEXTS[0]), "yes"]
    # The next utterance is its own.
    again = hear(stream, speak(TEXTS[2]))
    again += stream.end_utterance() + work(stream)
    assert words(transcripts(again)[0].text) == words(TEXTS[2])


def test_half_close_finishes_the_utterance(speak: Speak, open_stream: Open) -> None:
    stream = open_stream()
    pcm = speak(TEXTS[0])[: -17640 + 2205]  # a tenth of a second after the last word
    assert not transcripts(hear(stream, pcm))
    (final,) = transcripts(stream.end() + work(stream))
    assert words(final.text) == words(TEXTS[0])


def test_long_speech_is_recognised_in_pieces(speak: Speak, open_stream: Open) -> None:
    sentences = [
        *TEXTS[:3],
        "The quick brown fox jumps over the lazy dog.",
        "We all like to walk along the sea.",
    ]
    spoken = [speak(s)[11025 + 1500 : -17640 - 2500] for s in sentences]
    pcm = np.concatenate([*spoken, *spoken, np.zeros(22050, np.int16)])
    assert len(pcm) / 22050 > 18
    responses = hear(open_stream(endpoint_silence_ms=700), pcm, chunk_s=0.5)
    (final,) = transcripts(responses)
    expected = words(" ".join(sentences * 2))
    heard = words(final.text)
    assert len(set(expected) - set(heard)) <= 2
    assert abs(len(heard) - len(expected)) <= 4


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"sample_rate_hz": 0}, "config.sample_rate_hz"),
        ({"sample_rate_hz": 96000}, "config.sample_rate_hz"),
        ({"language": "de"}, "config.language"),
        ({"endpoint_silence_ms": 100}, "config.endpoint_silence_ms"),
        ({"endpoint_silence_ms": -5}, "config.endpoint_silence_ms"),
        ({"endpoint_silence_ms": 60000}, "config.endpoint_silence_ms"),
    ],
)
def test_wrong_configs_are_refused(open_stream: Open, config: dict[str, int | str], field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        open_stream(**config)
    assert caught.value.field == field
