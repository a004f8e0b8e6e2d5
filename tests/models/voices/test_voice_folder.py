"""Voices from a user's folder: several speakers, other rates, and what is refused."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from tests.models.voices.small_voice import SYMBOLS, make

from taoxr import paths
from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.catalog.add import add
from taoxr_models.tts import language
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.voice import Voice

pytestmark = pytest.mark.models

WORDS = ["h", "ə", "l", "ˈo", "ʊ", " ", "w", "ˈɜː", "l", "d", ".", " ", "b", "a", "ɪ", "!"] * 3


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The user's folder and the model's, of a voice with two speakers at 16 kHz."""
    source = make(tmp_path_factory.mktemp("voice"), speakers=2, rate=16000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAOXR_HOME", str(tmp_path_factory.mktemp("home")))
        entry = add(source, "two-speakers")
        assert (entry.role, entry.recipe, entry.languages) == ("tts", "piper", ("en-US",))
        yield source, paths.models_dir() / entry.id


@pytest.fixture(scope="module")
def voice(folders: tuple[Path, Path]) -> Voice:
    return Voice(folders[1])


@pytest.mark.parametrize("speaker", [0, 1])
def test_each_speaker_is_that_of_onnxruntime(folders: tuple[Path, Path], voice: Voice, speaker: int) -> None:
    utterance = voice.plan(WORDS, speaker=str(speaker))
    ours = utterance._audio.span(0, utterance.samples).reshape(-1)
    ids, _, _ = voice._sequence(WORDS)
    session = onnxruntime.InferenceSession(str(folders[0] / "voice.onnx"))
    inputs = {
        "input": np.array([ids], np.int64),
        "input_lengths": np.array([len(ids)], np.int64),
        "scales": np.array([0, 1, 0], np.float32),
        "sid": np.array([speaker], np.int64),
    }
    whole = np.asarray(session.run(None, inputs)[0]).reshape(-1)
    assert whole.size == ours.size == utterance.samples
    np.testing.assert_allclose(ours, whole, atol=1e-4 * np.abs(whole).max())


def test_speakers_have_names_and_numbers(voice: Voice) -> None:
    assert set(voice.speakers) == {"0", "1", "voice0", "voice1"}
    spoken = {name: voice.speak(WORDS, speaker=name).pcm for name in ("", *voice.speakers)}
    assert np.array_equal(spoken[""], spoken["0"])
    assert np.array_equal(spoken["1"], spoken["voice1"])
    assert spoken["0"].size != spoken["1"].size or not np.array_equal(spoken["0"], spoken["1"])
    for unknown in ("2", "-1", "Voice0"):
        with pytest.raises(InvalidInputError, match="voice0"):
            voice.plan(WORDS, speaker=unknown)


def test_the_voice_has_its_own_rate(voice: Voice) -> None:
    speech = voice.speak(WORDS)
    assert voice.sample_rate_hz == 16000
    assert speech.timing[-1].end == speech.pcm.size
    assert speech.pcm.size % 256 == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"language": {"code": "zh_CN"}}, "zh-CN.*gruut has ar, cs, de, en"),
        ({"language": {}, "espeak": {"voice": "cmn"}}, "cmn"),
        ({"phoneme_type": "text"}, "'text'"),
        ({"phoneme_id_map": {s: [i] for i, s in enumerate(SYMBOLS) if s not in "θɹ"}}, "ɹ θ of en-US"),
        ({"speaker_id_map": {"Eve": 2}}, "speaker"),
        ({"num_symbols": 20}, "num_symbols"),
        ({"audio": {}}, "sample_rate"),
    ],
)
def test_what_cannot_be_spoken_is_refused(
    folders: tuple[Path, Path], tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    config = json.loads((folders[1] / "voice.json").read_text(encoding="utf-8")) | changes
    for path in folders[1].iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "voice.json").unlink()
    (tmp_path / "voice.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        Voice(tmp_path).check()


def test_a_missing_language_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> None:
        return None

    monkeypatch.setattr(language.gruut.utils, "find_lang_dir", missing)
    with pytest.raises(ModelError, match=r"gruut\[de\]"):
        Phonemizer("de-DE")


def test_composed_letters_are_taken_apart_where_the_voice_knows_only_the_parts() -> None:
    assert list(language.known_parts("ˈõ☃", {"o", "\u0303", "ˈ"})) == ["ˈ", "o", "\u0303"]
