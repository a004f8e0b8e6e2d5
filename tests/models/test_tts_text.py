"""What is read aloud."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr_models.tts.text import readable

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Hello there, how are you?", "Hello there, how are you?"),
        ("**Bold**, *soft* and `code`.", "Bold, soft and code."),
        ("See [the page](https://x.org/a_b) or https://y.org/q?z=1", "See the page or a link"),
        ("Nice 😀👍🏽 day!", "Nice day!"),
        ("“Quoted” and it’s fine", '"Quoted" and it\'s fine'),
        ("Wait — no…", "Wait, no..."),
        ("1990–2000", "1990 to 2000"),
        ("well-known", "well-known"),
        ("# Title\n- one\n- two", "Title, one, two"),
        ("20°C", "20 degrees Celsius"),
        ("10km at 50 km/h", "10 kilometers at 50 kilometers per hour"),
        ("2 + 2 = 4", "2 plus 2 equals 4"),
        ("Café crème, naïve Æon", "Cafe creme, naive AEon"),
        ("OK?!", "okay?"),
        ("It costs £5.", "It costs £5."),
        ("snake_case a|b", "snake case a, b"),
    ],
)
def test_readable(written: str, read: str) -> None:
    assert readable(written) == read


@pytest.mark.parametrize("text", ["", "  \n", "😀", "...", "你好", "***", "—", "()", "\ud800", "\x00"])
def test_nothing_to_pronounce(text: str) -> None:
    assert readable(text) == ""


@given(st.text(max_size=200))
def test_any_text_becomes_one_plain_line(text: str) -> None:
    result = readable(text)
    assert all(" " <= c <= "~" or c in "£€¥" for c in result)
    assert result == result.strip()
    assert "  " not in result
    assert readable(result) == readable(readable(result))
