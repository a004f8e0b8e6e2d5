"""Words, calls and thoughts, taken apart whatever the pieces in which they come."""

import json
import random

import pytest

from taoxr_models.llm.reader import AnswerReader, ModelCall

pytestmark = pytest.mark.unit

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Köln"}}\n</tool_call>'


def read(answer: str, *, thinking: bool = False, seed: int | None = None) -> tuple[str, ModelCall | None]:
    """What is said and called, with the answer cut into random pieces."""
    reader, said, at = AnswerReader(thinking=thinking), "", 0
    sizes = random.Random(seed)
    while at < len(answer) and reader.call is None:
        size = len(answer) if seed is None else sizes.randint(1, 9)
        said += reader.feed(answer[at : at + size])
        at += size
    return said + reader.finish(), reader.call


@pytest.mark.parametrize("seed", [None, *range(20)])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (f"Let me see. {CALL} and more", "Let me see. "),
        ('<function=get_weather>{"city": "Köln"}</function>', ""),
        ('Hm. [TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Köln"}}, {"name": "b"}]', "Hm. "),
        (
            '<tool_call>{"name": "get_weather", "parameters": {"city": "Köln"}}',
            "",
        ),  # cut off after the object
        ('<tool_call>{"name": "get_weather", "arguments": "{\\"city\\": \\"Köln\\"}"}</tool_call>', ""),
        (f"<think>He wants {CALL}? Yes.</think>\n\nOf course.{CALL}", "Of course."),
    ],
)
def test_calls_in_the_forms_of_common_models(answer: str, said: str, seed: int | None) -> None:
    text, call = read(answer, seed=seed)
    assert text == said
    assert call is not None
    assert (call.name, json.loads(call.arguments), call.problem) == ("get_weather", {"city": "Köln"}, "")


@pytest.mark.parametrize("seed", [None, *range(10)])
def test_words_that_only_look_like_marks_are_said(seed: int | None) -> None:
    answer = "1 < 2, <b>bold</b>, [TOOL box], <think about it, <tool_cal"
    assert read(answer, seed=seed) == (answer, None)


@pytest.mark.parametrize("seed", [None, *range(10)])
def test_thoughts_are_never_said(seed: int | None) -> None:
    assert read("<think>secret</think>\n\nHello.", seed=seed) == ("Hello.", None)
    assert read("secret</think>\nHello.", thinking=True, seed=seed) == ("Hello.", None)
    assert read("secret without end", thinking=True, seed=seed) == ("", None)
    assert read("Well, <think>secret</think>yes.", seed=seed) == ("Well, yes.", None)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("{'name': 'x'}", "not JSON"),
        ('{"name": "x", "arguments": {"a": ', "not JSON"),
        ("[]", "no JSON object"),
        ("7", "no JSON object"),
        ('{"arguments": {}}', 'no "name"'),
        ('{"name": "x", "arguments": [1]}', "arguments are no JSON object"),
        ('{"name": "x", "arguments": "{oops"}', "arguments are not JSON"),
        ("", "not JSON"),
    ],
)
def test_what_is_no_call_says_why(written: str, problem: str) -> None:
    for close in ("</tool_call>", ""):
        text, call = read(f"Hm. <tool_call>{written}{close}")
        assert text == "Hm. "
        assert call is not None
        assert problem in call.problem
        assert call.arguments == written.strip()


def test_a_call_without_arguments() -> None:
    assert read('<tool_call>{"name": "get_time"}</tool_call>')[1] == ModelCall("get_time", "{}")
    assert read("<function=get_time></function>")[1] == ModelCall("get_time", "{}")


def test_says_when_a_call_is_being_written() -> None:
    reader = AnswerReader()
    for piece, inside in (
        ("Hm. ", False),
        ("<tool_call>", True),
        ('{"name": "a"}', True),
        ("</tool_call>", False),
    ):
        reader.feed(piece)
        assert reader.in_call is inside


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_a_stop_text_ends_the_answer_and_is_not_said(size: int) -> None:
    answer, said = "One. Us: and User: no", ""
    reader = AnswerReader(stops=("User:", "###"))
    for at in range(0, len(answer), size):
        said += reader.feed(answer[at : at + size])
    assert said + reader.finish() == "One. Us: and "
    assert reader.stopped
