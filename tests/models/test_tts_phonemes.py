"""Text to symbols of the voice."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taoxr.errors import InvalidInputError
from taoxr_models.catalog import default_model, verified
from taoxr_models.tts.phonemes import MAX_SYMBOLS, PUNCTUATION, WORD_GAP, Phonemizer
from taoxr_models.tts.text import readable

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def phonemes() -> Phonemizer:
    return Phonemizer()


def test_words_stress_and_pauses(phonemes: Phonemizer) -> None:
    (symbols,) = phonemes("Bob, my van!")
    assert symbols == ["b", "ˈɑː", "b", ",", " ", "m", "a", "ɪ", " ", "v", "ˈæ", "n", "!"]


def test_sentences_are_pieces(phonemes: Phonemizer) -> None:
    assert len(phonemes("It is late. Good night!")) == 2


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("3", "three"),
        ("$5", "five dollars"),
        ("Dr. Smith", "doctor smith"),
        ("2024", "twenty twenty four"),
        ("50%", "fifty percent"),
        ("10:30", "ten thirty"),
        ("1st", "first"),
        ("the 21st", "the twenty first"),
        ("3.14", "three point one four"),
        ("-5", "minus five"),
        ("1,234", "one thousand, two hundred and thirty four"),
        ("in 1900", "in nineteen hundred"),
        ("in 2005", "in two thousand and five"),
        ("2024-05-06", "May sixth, twenty twenty four"),
        ("5/6/2024", "May sixth, twenty twenty four"),
        ("10:30 am", "ten thirty A M"),
        ("$3.50", "three dollars fifty cents"),
        ("$1.5 million", "one point five million dollars"),
        ("¥500", "five hundred yen"),
        ("$5-10", "five dollars to ten dollars"),
        ("0.5%", "zero point five percent"),
        ("12.5 %", "twelve point five percent"),
        ("20 °C", "twenty degrees celsius"),
        ("5 kg", "five kilograms"),
        ("1 km", "one kilometer"),
        ("5.5 km", "five point five kilometers"),
        ("10 ft", "ten feet"),
        ("60 Hz", "sixty hertz"),
        ("50 km/h", "fifty kilometers per hour"),
        ("90 bpm", "ninety beats per minute"),
        ("10-15", "ten to fifteen"),
        ("1990–2000", "nineteen ninety to two thousand"),
        ("the 1990s", "the nineteen nineties"),
        ("1/2 cup", "one half cup"),
        ("2 1/2", "two and a half"),
        ("3/4", "three quarters"),
        ("24/7", "twenty four seven"),
        ("555-1234", "five five five, one two three four"),
        ("call 911", "call nine one one"),
        ("jo@example.com", "jo at example dot com"),
        ("see https://a.b/c?d=1", "see a link"),
        ("e.g. this", "for example this"),
        ("Mr. and Mrs. Jones", "mister and missus jones"),
        ("St. Louis", "saint louis"),
        ("No. 5", "number five"),
        ("Jan. 3rd", "january third"),
        ("Chapter IV", "chapter four"),
        ("2x", "two times"),
        ("C++", "C plus plus"),
        ("**very** `nice` 😀", "very nice"),
        ("R&D", "R and D"),
    ],
)
def test_numbers_and_abbreviations(phonemes: Phonemizer, text: str, spoken: str) -> None:
    assert phonemes(readable(text)) == phonemes(spoken)


def test_letters_of_an_abbreviation(phonemes: Phonemizer) -> None:
    assert phonemes("USA")[0][-2:] == ["ˈe", "ɪ"]
    assert phonemes("A dog")[0][0] == "ɐ"


def test_capitals_are_words_where_the_lexicon_has_them(phonemes: Phonemizer) -> None:
    assert phonemes("WOW, I DON'T KNOW NASA.") == phonemes("wow, I don't know nasa.")
    assert phonemes("NO! GO ON") == phonemes("no! go on")
    assert phonemes("the TV") == phonemes("the T V")
    assert phonemes("an FBI agent") == phonemes("an F B I agent")


@pytest.mark.parametrize("text", ["1E100", "9" * 60, "1.5e-300", "$" + "1" * 50, "12:99", "31/31/2031"])
def test_numbers_without_a_name(phonemes: Phonemizer, text: str) -> None:
    assert phonemes(readable(text)) != []


@pytest.mark.parametrize("text", ["", "...", "?!", "(,)"])
def test_nothing_to_say(phonemes: Phonemizer, text: str) -> None:
    assert phonemes(text) == []


def test_long_sentences_are_cut_at_pauses(phonemes: Phonemizer) -> None:
    text = "it was the best of times, it was the worst of times, " * 7
    pieces = phonemes(text.strip(" ,") + ".")
    assert len(pieces) > 2
    assert all(len(p) <= MAX_SYMBOLS for p in pieces)
    assert all(p[-1] in PUNCTUATION for p in pieces)
    assert all(p[0] not in PUNCTUATION + WORD_GAP for p in pieces)


def test_without_pauses_they_are_cut_between_words(phonemes: Phonemizer) -> None:
    whole = phonemes("many more words go on and on " * 10)
    assert len(whole) > 1
    assert all(WORD_GAP not in (p[0], p[-1]) for p in whole)


def test_an_endless_word(phonemes: Phonemizer) -> None:
    with pytest.raises(InvalidInputError, match="word"):
        phonemes("ba" * 190)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec="utf-8", max_codepoint=0x2FFF), max_size=60))
def test_any_text_gives_symbols_that_the_voice_knows(phonemes: Phonemizer, text: str) -> None:
    known = set(json.loads((verified_folder() / "voice.json").read_text())["phoneme_id_map"])
    for piece in phonemes(readable(text)):
        assert set("".join(piece)) <= known


FOLDERS: dict[str, object] = {}


def verified_folder():  # the check takes a moment; once is enough
    return FOLDERS.setdefault("voice", verified(default_model("tts")))
