"""The chunker loses nothing, cuts the same whatever the pieces, and cuts where a voice may pause."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr_bridge.clauses import MAX_CHARS, Chunker

pytestmark = pytest.mark.unit

words = st.sampled_from(
    ["Hello", "e.g.", "3.14", "1.", "world.", "What?", "well,", "Dr.", "https://a.b/c?d=e,f", "and", "so;",
     "J.", '"Yes!"', "\n", "  ", "好。", "...", "x" * 450, "it", "is"]
)  # fmt: skip
texts = st.one_of(st.text(max_size=600), st.lists(words, max_size=60).map(" ".join))


def clauses(*pieces: str) -> list[str]:
    chunker = Chunker()
    found = [clause for piece in pieces for clause in chunker.feed(piece)]
    return found + list(chunker.finish())


@given(texts)
def test_clauses_joined_are_the_text(text):
    found = clauses(text)
    assert "".join(found) == text
    assert all(0 < len(clause) <= MAX_CHARS for clause in found)


@given(texts, st.lists(st.integers(0, 600), max_size=10))
def test_pieces_do_not_matter(text, cuts):
    edges = [0, *sorted(min(c, len(text)) for c in cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(edges)]
    assert clauses(*pieces) == clauses(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello! How are you?", ["Hello! ", "How are you?"]),
        ("It costs 3.14 dollars. Cheap.", ["It costs 3.14 dollars. ", "Cheap."]),
        ("Use tools, e.g. a hammer. Then stop.", ["Use tools, e.g. a hammer. ", "Then stop."]),
        ("Ask Dr. J. Smith now. Go.", ["Ask Dr. J. Smith now. ", "Go."]),
        ("See https://a.io/x.y?q=1,2 today. Ok.", ["See https://a.io/x.y?q=1,2 today. ", "Ok."]),
        ('He said "No." Then left.', ['He said "No." ', "Then left."]),
        ("1. Stir it. 2. Eat.", ["1. Stir it. ", "2. Eat."]),
        ("First line\nsecond line", ["First line\n", "second line"]),
        ("你好。再见。", ["你好。", "再见。"]),
        ("Wait... what? Yes!", ["Wait... ", "what? ", "Yes!"]),
        ("", []),
        ("   ", ["   "]),
    ],
)
def test_sentences(text, expected):
    assert clauses(text) == expected


def test_first_clause_comes_at_a_comma_of_three_words_and_later_ones_are_sentences():
    assert clauses("Well my friend, I am here, and you, too. One, two, three, four, five, six.") == [
        "Well my friend, ", "I am here, and you, too. ", "One, two, three, four, five, six.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("The sky looks really blue ", "to us because light scatters."),
        ("Trees drop their leaves ", "to save water and energy."),
        ("one two three four five six seven eight ", "nine ten"),
        ("The sun is very bright ", "and it gives us light every day."),
        ("Music brings all people plenty of joy ", "every day of relaxation."),
        ("Reading a book brings ", "a lot of joy and relaxation."),
        ("我很高兴认识你，", "我们去哪里？"),
    ],
)
def test_first_clause_without_an_end_is_cut_where_a_voice_may_pause(first, rest):
    assert clauses(first + rest)[0] == first


@pytest.mark.parametrize(
    "text",
    ["It brings joy and relaxation.", "I work at the U.S. embassy.", "Go to the sea.", "He is 3.14 m tall."],
)
def test_a_short_sentence_stays_whole(text):
    assert clauses(text) == [text]


def test_a_clause_is_known_as_soon_as_the_next_word_begins():
    chunker = Chunker()
    assert list(chunker.feed("Hello there. ")) == []
    assert list(chunker.feed("N")) == ["Hello there. "]
