"""How long silence must last after which words."""

import pytest

from taoxr_models.ear.end_of_turn import UNFINISHED_S, UNKNOWN_S, WHOLE_S, silence_s

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("What is the capital of France?", WHOLE_S),
        ("Why?", WHOLE_S),
        ("How come?", WHOLE_S),
        ("What?", UNKNOWN_S),
        ("Can you?", UNKNOWN_S),
        ("Why", UNKNOWN_S),
        ("Yes.", UNKNOWN_S),
        ("Wait.", UNKNOWN_S),
        ('She said "no."', WHOLE_S),
        ("What is it like?", WHOLE_S),
        ("你好吗？", WHOLE_S),
        ("tell me a story", UNKNOWN_S),
        ("", UNKNOWN_S),
        ("...", UNKNOWN_S),
        ("I would like to go to the", UNFINISHED_S),
        ("I would like to go to the.", UNFINISHED_S),
        ("I like cats, dogs and", UNFINISHED_S),
        ("Well...", UNFINISHED_S),
        ("If it rains,", UNFINISHED_S),
    ],
)
def test_silence(text: str, seconds: float) -> None:
    assert silence_s(text) == seconds
