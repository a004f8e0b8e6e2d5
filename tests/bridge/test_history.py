"""The language model is told what was heard, and no more than fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr.v1 import common_pb2, tools_pb2
from taoxr.worker.v1 import llm_pb2
from taoxr_bridge.history import History, SpokenClause, heard_text

pytestmark = pytest.mark.unit


def clause(text: str, start_us: int) -> SpokenClause:
    """100 ms per letter, then 100 ms of silence."""
    letters = [c for c in text if c.isalnum()]
    phonemes = [
        common_pb2.PhonemeTiming(
            symbol=c, start_us=start_us + i * 100_000, end_us=start_us + (i + 1) * 100_000
        )
        for i, c in enumerate(letters)
    ]
    end_us = start_us + len(letters) * 100_000
    phonemes.append(common_pb2.PhonemeTiming(symbol="_", start_us=end_us, end_us=end_us + 100_000))
    return SpokenClause(text, start_us, end_us + 100_000, phonemes)


ONE = clause("Good day. ", 0)  # 7 letters: [0, 800) ms
TWO = clause("How are you?", 800_000)  # 9 letters: [800, 1800) ms


@pytest.mark.parametrize(
    ("played_ms", "heard"),
    [
        (0, ""),
        (399, ""),
        (400, "Good"),
        (699, "Good"),
        (700, "Good day."),
        (1099, "Good day."),
        (1100, "Good day. How"),
        (1700, "Good day. How are you?"),
        (99_999, "Good day. How are you?"),
    ],
)
def test_cut_at_the_last_word_that_was_heard(played_ms, heard):
    assert heard_text([ONE, TWO], played_ms * 1000) == heard


@given(st.integers(0, 2_000_000), st.integers(0, 2_000_000))
def test_more_played_is_more_heard(a, b):
    less, more = (heard_text([ONE, TWO], us) for us in sorted((a, b)))
    assert more.startswith(less)
    assert "Good day. How are you?".startswith(more)


def test_without_phonemes_time_decides():
    assert heard_text([SpokenClause("one two", 0, 1_000_000, ())], 600_000) == "one"


def test_prompt_and_examples_stay_and_the_oldest_turns_go():
    history = History("be kind", [("hi", "hello")], (), max_chars=100)
    for i in range(20):
        history.add_user(f"question {i:02} padded")
        history.add_assistant("ok")
    contents = [m.content for m in history.messages()]
    assert contents[:3] == ["be kind", "hi", "hello"]
    assert contents[-2:] == ["question 19 padded", "ok"]
    assert sum(map(len, contents[3:])) <= 102
    assert "question 00 padded" not in contents


def test_what_is_forgotten_is_told_once():
    history = History("be kind", [("hi", "hello")], (), max_chars=100)
    history.add_user("short")
    assert history.forgotten(0) is None
    assert history.forgotten(2) is None  # the examples only
    lost = history.forgotten(5)
    assert lost is not None
    assert "3 oldest messages" in lost.message
    assert history.forgotten(5) is None
    for i in range(20):
        history.add_user(f"question {i:02} padded")
    assert history.dropped == 21 - len(history.said())
    lost = history.forgotten(0)
    assert lost is not None
    assert f"{history.dropped} oldest messages" in lost.message
    assert history.forgotten(1) is None


def test_what_was_not_heard_leaves_no_message():
    history = History("be kind", (), (), max_chars=100)
    history.add_user("hi")
    history.add_assistant("")
    assert [m.role for m in history.messages()] == [common_pb2.ROLE_SYSTEM, common_pb2.ROLE_USER]


def test_a_forgotten_turn_leaves_nothing_and_the_others_alone():
    history = History("Be kind.", [("Hi", "Hello")], [], 1000)
    for number, tool in ((1, "clock"), (2, "lamp"), (3, "radio")):
        history.add_user(f"question {number}", f"turn-{number}")
        use = llm_pb2.ToolUse(call=tools_pb2.ToolCall(name=tool))
        history.add_assistant(f"answer {number}", [use], f"turn-{number}")
    history.forget("turn-2")
    history.forget("turn-9")
    assert [m.content for m in history.said()] == ["question 1", "answer 1", "question 3", "answer 3"]
    told = history.messages()
    uses = [(use.call.name, told[use.position - 1].content) for use in history.tool_uses()]
    assert uses == [("clock", "question 1"), ("radio", "question 3")]
    assert history.dropped == 0
