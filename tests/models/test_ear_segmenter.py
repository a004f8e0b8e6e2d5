"""Probabilities to pieces and utterances."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr_models.ear.segmenter import (
    Event,
    PieceEnded,
    Segmenter,
    SpeechBegan,
    SpeechPaused,
    SpeechResumed,
    SpeechSustained,
    UtteranceEnded,
)

pytestmark = pytest.mark.unit

MAX_PIECE = 60


def segmenter(endpoint: int | None = 16) -> Segmenter:
    return Segmenter(endpoint, piece_silence=16, pause=6, confirm=3, max_piece=MAX_PIECE)


def events(of: Segmenter, *runs: tuple[float, int]) -> list[Event]:
    """Events of runs of equal probabilities."""
    return [e for probability, count in runs for _ in range(count) for e in of.push(probability)]


def test_one_utterance() -> None:
    assert events(segmenter(), (0.0, 10), (0.9, 20), (0.0, 30)) == [
        SpeechBegan(10),
        SpeechPaused(10, 30),
        PieceEnded(10, 30),
        UtteranceEnded(),
    ]


def test_speech_that_lasts_is_told_once() -> None:
    of = Segmenter(16, piece_silence=16, pause=6, confirm=3, max_piece=MAX_PIECE, sustain=7)
    assert SpeechSustained(0) not in events(of, (0.9, 6), (0.0, 1))
    assert events(of, (0.9, 20)) == [SpeechSustained(0)]
    assert SpeechSustained(43) in events(of, (0.0, 16), (0.9, 7))


def test_the_endpoint_may_change_in_the_silence() -> None:
    of = segmenter()
    assert events(of, (0.9, 10), (0.0, 12)) == [SpeechBegan(0), SpeechPaused(0, 10)]
    of.endpoint = 11
    assert events(of, (0.0, 1)) == [PieceEnded(0, 10), UtteranceEnded()]
    of.endpoint = 30
    assert events(of, (0.9, 10), (0.0, 29))[-1] == PieceEnded(23, 33)
    assert events(of, (0.0, 1)) == [UtteranceEnded()]


def test_a_click_is_no_speech() -> None:
    assert events(segmenter(), (0.0, 5), (0.9, 2), (0.0, 40)) == []


def test_hysteresis() -> None:
    # 0.4 does not begin speech, but goes on with it.
    assert events(segmenter(), (0.4, 50)) == []
    assert events(segmenter(), (0.9, 3), (0.4, 40)) == [SpeechBegan(0)]


def test_a_pause_within_an_utterance() -> None:
    found = events(segmenter(), (0.9, 10), (0.0, 10), (0.9, 10), (0.0, 16))
    assert found == [
        SpeechBegan(0),
        SpeechPaused(0, 10),
        SpeechResumed(),
        SpeechPaused(0, 30),
        PieceEnded(0, 30),
        UtteranceEnded(),
    ]


def test_a_longer_endpoint_joins_pieces() -> None:
    found = events(segmenter(endpoint=40), (0.9, 10), (0.0, 30), (0.9, 10), (0.0, 40))
    assert [e for e in found if not isinstance(e, SpeechPaused)] == [
        SpeechBegan(0),
        PieceEnded(0, 10),
        SpeechBegan(40),
        PieceEnded(40, 50),
        UtteranceEnded(),
    ]


def test_a_shorter_endpoint_ends_sooner() -> None:
    of = segmenter(endpoint=8)
    assert events(of, (0.9, 10), (0.0, 7))[-1] == SpeechPaused(0, 10)
    assert events(of, (0.0, 1)) == [PieceEnded(0, 10), UtteranceEnded()]


def test_push_to_talk_ends_only_when_told() -> None:
    of = segmenter(endpoint=None)
    found = events(of, (0.9, 10), (0.0, 500), (0.9, 10))
    assert UtteranceEnded() not in found
    assert of.finish() == [PieceEnded(510, 520), UtteranceEnded()]
    assert of.finish() == []


def test_running_speech_is_cut_where_it_is_quietest() -> None:
    found = events(segmenter(), (0.9, 45), (0.6, 1), (0.9, 20))
    assert found == [SpeechBegan(0), PieceEnded(0, 45, cut=True)]


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.34, 0.36, 0.5, 0.6, 0.9, 1.0]), max_size=400),
    st.sampled_from([None, 7, 16, 40]),
)
def test_whatever_comes_the_marks_make_sense(probabilities: list[float], endpoint: int | None) -> None:
    of = segmenter(endpoint)
    speaking = False
    pieces = 0
    last_end = 0
    found = [(of.frame, e) for p in probabilities for e in of.push(p)]
    found += [(of.frame, e) for e in of.finish()]
    for frame, e in found:
        match e:
            case SpeechBegan(start):
                assert not speaking
                assert last_end <= start < frame
                speaking = True
            case SpeechPaused(start, end):
                assert speaking
                assert start < end <= frame
            case PieceEnded(start, end, cut):
                assert speaking
                assert last_end <= start <= end <= frame
                assert end - start <= MAX_PIECE
                speaking, last_end = cut, end
                pieces += 1
            case UtteranceEnded():
                assert not speaking
                assert pieces
                pieces = 0
    assert not speaking
    assert not pieces
    assert of.finish() == []
