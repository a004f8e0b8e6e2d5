"""The mood of words, and what a face makes of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr.arkit import INDEX, NAMES
from taoxr.errors import InvalidInputError
from taoxr_models.a2bs.animate import animate_phonemes
from taoxr_models.a2bs.mood import in_mood
from taoxr_models.a2bs.phonemes import Phoneme
from taoxr_models.a2bs.rig import lip_gap
from taoxr_models.mood import Mood, mood_of
from taoxr_models.mood.expression import with_mood

pytestmark = pytest.mark.unit

SMILE = INDEX["mouthSmileLeft"]
GLAD = "What wonderful, amazing news!"
PLUMS = "m eɪ b iː m aɪ b ɹ ʌ ð ɚ w ɪ l b ɹ ɪ ŋ s ʌ m p ɜː p ə l p l ʌ m z"
SPOKEN = [Phoneme(symbol, 0.08 * i, 0.08 * (i + 1)) for i, symbol in enumerate(PLUMS.split())]
END_US = round(SPOKEN[-1].end * 1e6)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hello! It is nice to meet you.", "joy"),
        ("I am sorry to hear that.", "sadness"),
        ("Wow, that is unbelievable!", "surprise"),
        ("Be careful, it is poisonous.", "worry"),
        ("The blue whale is the largest animal on Earth.", "neutral"),
        ("I am not happy at all.", "sadness"),
        ("Don't worry.", "joy"),
        ("I’m not sad.", "joy"),
        ("It was not without fun.", "joy"),
        ("It was sad, but now it is wonderful.", "joy"),
        ("It was wonderful, but now it is sad.", "sadness"),
        ("", "neutral"),
        ("12 ... ???", "neutral"),
    ],
)
def test_words_tell_a_mood(text: str, name: str) -> None:
    assert mood_of(text).name == name


def test_strong_words_and_intensifiers_tell_more() -> None:
    weak, plain, strong = (mood_of(f"It is {much} good.").joy for much in ("slightly", "", "really"))
    assert weak < plain < strong < mood_of("It is really wonderful!").joy


@given(st.text(max_size=300))
def test_any_text_has_a_mood_in_range(text: str) -> None:
    mood = mood_of(text)
    assert all(0.0 <= value <= 1.0 for value in (mood.joy, mood.sadness, mood.surprise, mood.worry))


def glad_track():
    plain = animate_phonemes(SPOKEN, np.zeros(0, np.int16), 22050)
    _, glad = in_mood(plain, GLAD, (), 0, END_US)
    return plain, in_mood(plain, GLAD, glad, 0, END_US)[0]


def test_lips_still_close_and_round_in_a_mood() -> None:
    plain, glad = glad_track()
    for phoneme in SPOKEN:
        inside = (plain.times_us >= phoneme.start * 1e6) & (plain.times_us < phoneme.end * 1e6)
        if phoneme.symbol in ("m", "b", "p"):
            assert lip_gap(glad.weights[inside]).min() == 0.0
        if phoneme.symbol == "w":
            pucker = plain.weights[inside, INDEX["mouthPucker"]].argmax()
            assert glad.weights[inside, SMILE][pucker] < 0.05
    # Never further open than without, and the jaw is the speech's alone.
    assert (lip_gap(glad.weights) <= lip_gap(plain.weights) + 1e-6).all()
    assert np.array_equal(glad.weights[:, INDEX["jawOpen"]], plain.weights[:, INDEX["jawOpen"]])


def test_it_shows_and_stays_mild_and_smooth() -> None:
    plain, glad = glad_track()
    more = glad.weights - plain.weights
    assert 0.05 < more[:, SMILE].mean() < 0.2
    assert more.max() < 0.3
    assert np.abs(np.diff(glad.weights, axis=0)).max() * 30.0 < 20.0


def test_a_mood_comes_and_goes_across_clauses_without_a_step() -> None:
    still = animate_phonemes([Phoneme("_", 0.0, 0.3)], np.zeros(0, np.int16), 22050, frame_rate=100.0)
    tracks, before = [], []
    for text in (GLAD, GLAD, "It is made of wood.", "It is made of stone.", "It is."):
        track, before = in_mood(still, text, before, 0, 300_000)
        tracks.append(track.weights[:, SMILE])
    smile = np.concatenate(tracks)
    assert smile[0] == 0.0
    assert smile.max() > 0.15
    assert smile[-1] < 0.03
    assert np.abs(np.diff(smile)).max() < 0.02


def test_no_words_no_mood() -> None:
    plain = animate_phonemes(SPOKEN, np.zeros(0, np.int16), 22050)
    same, after = in_mood(plain, "", (), 0, END_US)
    assert np.array_equal(same.weights, plain.weights)
    assert after == [0.0] * 4


@pytest.mark.parametrize("before", [(0.5,), (0.1, 0.1, 0.1, 1.5), (float("nan"), 0.0, 0.0, 0.0)])
def test_a_wrong_mood_before_is_named(before: tuple[float, ...]) -> None:
    plain = animate_phonemes(SPOKEN, np.zeros(0, np.int16), 22050)
    with pytest.raises(InvalidInputError, match="mood_before"):
        in_mood(plain, "", before, 0, END_US)


def test_weights_stay_in_range() -> None:
    full = with_mood(np.ones((1, len(NAMES))), np.ones((1, 4)))
    assert full.max() == 1.0
    assert Mood().name == "neutral"
