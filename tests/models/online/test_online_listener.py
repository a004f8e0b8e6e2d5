"""The ear with a streaming recogniser: utterances, partials and endpoints on real speech."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soxr
from tests.models.online.signals import babble
from tests.models.online.zipformers import make

from taoxr.engine import Module
from taoxr.errors import InvalidInputError, UnavailableError
from taoxr.worker.v1.ear_pb2 import ListenConfig, ListenResponse, Utterance
from taoxr_models.catalog import default_model, verified
from taoxr_models.ear.online import OnlineRecognizer, Options
from taoxr_models.ear.online.endpoint import EndpointRules
from taoxr_models.ear.online.engines import load_recognizer
from taoxr_models.ear.online.listener import OnlineListener
from taoxr_models.ear.online.words import words_of
from taoxr_models.ear.vad import load_vad
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.voice import Voice

pytestmark = pytest.mark.models

RATE = 16_000


@pytest.fixture(scope="module")
def speech() -> np.ndarray:
    """Two sentences with 1.5 s of silence between and behind; int16 at 16 kHz."""
    voice, phonemizer = Voice(verified(default_model("tts"))), Phonemizer()
    parts = [np.zeros(8000)]
    for text in ("The quick brown fox jumps over the lazy dog.", "How are you today?"):
        spoken = [voice.speak(symbols).pcm / 32768.0 for symbols in phonemizer(text)]
        parts += [soxr.resample(np.concatenate(spoken), 22050, RATE), np.zeros(24000)]
    return (np.concatenate(parts) * 32767).astype(np.int16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("zipformer2"), "zipformer2")


@pytest.fixture(scope="module")
def vad() -> Module:
    return load_vad(verified(default_model("vad")))


@pytest.fixture
def listener(folder: Path, vad: Module) -> Callable[..., OnlineListener]:
    def build(rules: EndpointRules | None = None, **config: object) -> OnlineListener:
        recognizer = OnlineRecognizer.from_folder(folder, Options(endpoint=rules or EndpointRules()))
        return OnlineListener(ListenConfig(**{"sample_rate_hz": RATE, **config}), vad, recognizer)

    return build


def hear(listener: OnlineListener, pcm: np.ndarray) -> list[ListenResponse]:
    out: list[ListenResponse] = []
    for i in range(0, len(pcm), RATE // 10):
        out += listener.listen(pcm[i : i + RATE // 10])
        while listener.can_work:
            out += listener.work()
    return out


def finish(listener: OnlineListener) -> list[ListenResponse]:
    out = listener.end()
    while listener.must_work:
        out += listener.work()
    return out


def kinds(responses: list[ListenResponse]) -> list[str]:
    """Names of the responses in order, partials left out."""
    named = [(r.WhichOneof("payload"), r.utterance.is_final) for r in responses]
    return [name if name != "utterance" else "final" for name, final in named if name != "utterance" or final]


def utterances(responses: list[ListenResponse], *, final: bool) -> list[Utterance]:
    heard = [r.utterance for r in responses if r.WhichOneof("payload") == "utterance"]
    return [u for u in heard if u.is_final == final]


def test_two_sentences_are_two_utterances(
    listener: Callable[..., OnlineListener], speech: np.ndarray, folder: Path
) -> None:
    responses = hear(listener(partials=True), speech)
    assert kinds(responses) == ["speech_started", "speech_sustained", "speech_stopped", "final"] * 2
    first, second = utterances(responses, final=True)
    assert first.end_us < second.start_us
    assert first.text
    # The text is what the recogniser foresees after just this audio.
    recognizer = OnlineRecognizer.from_folder(folder)
    stream = recognizer.create_stream()
    starts, stops = (
        [getattr(r, name).offset_us for r in responses if r.WhichOneof("payload") == name]
        for name in ("speech_started", "speech_stopped")
    )
    begin = starts[0] * RATE // 1_000_000 - round(0.3 * RATE)
    paused = stops[0] * RATE // 1_000_000 + 3 * 512
    # As far as the audio had come when the pause was noticed: microphones deliver 0.1 s at a time.
    end = -(-paused // 1600) * 1600 // 512 * 512
    stream.accept_waveform(RATE, speech[begin:end].astype(np.float32) / 32768)
    while recognizer.is_ready(stream):
        recognizer.decode_stream(stream)
    assert first.text == recognizer.foresee(stream).text.strip()


def test_partials_grow_and_the_stable_one_comes_in_the_pause(
    listener: Callable[..., OnlineListener], speech: np.ndarray
) -> None:
    partials = utterances(hear(listener(partials=True), speech[: 4 * RATE]), final=False)
    texts = [p.text for p in partials]
    assert len(texts) >= 3
    assert all(p.text.startswith(p.certain_text) for p in partials)
    assert all(b.text.startswith(a.certain_text) for a, b in pairwise(partials))
    responses = hear(listener(stable_partials=True), speech)
    stable, finals = utterances(responses, final=False), utterances(responses, final=True)
    # What was stable when nobody went on is the final text.
    assert stable[-1].is_stable
    assert stable[-1].text == finals[-1].text
    assert any(p.is_stable and p.text == finals[0].text for p in stable)


def test_without_partials_only_finals_come(
    listener: Callable[..., OnlineListener], speech: np.ndarray
) -> None:
    responses = hear(listener(), speech)
    assert utterances(responses, final=False) == []
    assert len(utterances(responses, final=True)) == 2


def test_push_to_talk_ends_when_told(listener: Callable[..., OnlineListener], speech: np.ndarray) -> None:
    talking = listener(push_to_talk=True)
    assert utterances(hear(talking, speech), final=True) == []
    responses = talking.end_utterance()
    while talking.must_work:
        responses += talking.work()
    (only,) = utterances(responses, final=True)
    assert only.text
    # Again at once: nothing was said, and one final says so.
    responses = talking.end_utterance()
    while talking.must_work:
        responses += talking.work()
    (empty,) = utterances(responses, final=True)
    assert empty.text == ""


def test_rule_3_ends_what_goes_on(listener: Callable[..., OnlineListener], speech: np.ndarray) -> None:
    responses = hear(listener(EndpointRules(rule3_min_utterance_length=1.2)), speech[: 3 * RATE])
    first = utterances(responses, final=True)[0]
    assert 1_000_000 < first.end_us - first.start_us < 1_700_000


def test_the_end_of_the_stream_finishes_the_utterance(
    listener: Callable[..., OnlineListener], speech: np.ndarray
) -> None:
    ear = listener()
    assert utterances(hear(ear, speech[: 2 * RATE]), final=True) == []
    (last,) = utterances(finish(ear), final=True)
    assert last.text


def test_wrong_config_is_refused(listener: Callable[..., OnlineListener]) -> None:
    with pytest.raises(InvalidInputError, match=r"config\.endpoint_silence_ms"):
        listener(endpoint_silence_ms=10)
    with pytest.raises(InvalidInputError, match=r"config\.sample_rate_hz"):
        listener(sample_rate_hz=4000)


def test_foreseeing_changes_nothing_and_is_what_silence_brings(folder: Path) -> None:
    recognizer = OnlineRecognizer.from_folder(folder)
    audio = babble(3, seed=8)
    stream = recognizer.create_stream()
    stream.accept_waveform(RATE, audio)
    while recognizer.is_ready(stream):
        recognizer.decode_stream(stream)
    before = recognizer.get_result_all(stream)
    foreseen = recognizer.foresee(stream)
    assert recognizer.get_result_all(stream) == before
    assert recognizer.foresee(stream) == foreseen
    assert foreseen.tokens[: len(before.tokens)] == before.tokens
    stream.accept_waveform(RATE, np.zeros(2 * RATE, np.float32))
    while recognizer.is_ready(stream):
        recognizer.decode_stream(stream)
    # The last window hears the step into silence; all before are the same.
    spoken = [t for t, at in zip(foreseen.tokens, foreseen.timestamps, strict=True) if at < 2.5]
    assert recognizer.get_result_all(stream).tokens[: len(spoken)] == spoken


def test_sherpa_mnn_is_used_when_asked_for(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnavailableError, match="sherpa_mnn is not installed"):
        load_recognizer(folder, "sherpa-mnn")
    # None is published; a module of that name shows what it is called with.
    (tmp_path / "sherpa_mnn.py").write_text(
        "class OnlineRecognizer:\n"
        "    @classmethod\n"
        "    def from_transducer(cls, **given):\n"
        "        self = cls()\n"
        "        self.given = given\n"
        "        return self\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    recognizer = load_recognizer(folder, "sherpa-mnn")
    assert recognizer.given["encoder"] == str(folder / "encoder.mnn")
    assert recognizer.given["tokens"] == str(folder / "tokens.txt")
    assert recognizer.given["enable_endpoint_detection"] is True


def test_words_have_times() -> None:
    tokens, times = [" HE", "LLO", " THERE", "你", "好", "S"], [0.04, 0.2, 1.0, 1.2, 1.28, 1.4]
    words = words_of(tokens, times, 1_000_000)
    assert [w.text for w in words] == ["HELLO", "THERE", "你", "好", "S"]
    assert [(w.start_us, w.end_us) for w in words[:2]] == [(1_040_000, 1_600_000), (2_000_000, 2_200_000)]
    assert words_of([], [], 0) == []


def test_word_times_come_when_asked_for(listener: Callable[..., OnlineListener], speech: np.ndarray) -> None:
    (first, _) = utterances(hear(listener(word_times=True), speech), final=True)
    assert "".join(w.text for w in first.words) == first.text.replace(" ", "")
    assert first.start_us - 300_000 <= first.words[0].start_us < first.end_us
    assert not utterances(hear(listener(), speech), final=True)[0].words
