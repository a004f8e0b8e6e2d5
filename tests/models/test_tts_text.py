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
        ("¥500 or $1.5 million", "500 yen or 1.5 million dollars"),
        ("$5-10", "$5 to $10"),
        ("10-15 people", "10 to 15 people"),
        ("1 km, 5.5 km, 10 ft", "1 kilometer, 5.5 kilometers, 10 feet"),
        ("3 GHz, 60Hz, 100 W, 2 TB", "3 gigahertz, 60 hertz, 100 watts, 2 terabytes"),
        ("250 ml in 5 min at 5 m/s", "250 milliliters in 5 minutes at 5 meters per second"),
        ("12.5 %", "12.5%"),
        ("the 1990s", "the 19 nineties"),
        ("1/2 cup, 3/4, 2 1/2", "one half cup, 3 quarters, 2 and a half"),
        ("24/7", "24 7"),
        ("5/6/2024", "2024-05-06"),
        ("31/31/2031", "31 31 2031"),
        ("555-1234", "five five five, one two three four"),
        ("(212) 555-0123", "two one two, five five five, zero one two three"),
        ("+1 555 123 4567", "plus one, five five five, one two three, four five six seven"),
        ("call 911", "call nine one one"),
        ("Mail jo.b@example.com!", "Mail jo dot b at example dot com!"),
        ("on example.org", "on example dot org"),
        ("192.168.1.1", "192 dot 168 dot 1 dot 1"),
        ("e.g. apples, i.e. fruit, etc.", "for example apples, that is fruit, et cetera"),
        ("No. 5, Fig. 2, #1", "number 5, figure 2, number 1"),
        ("Jan. 3rd", "January 3rd"),
        ("St. Louis, Main St. Louis", "Saint Louis, Main Street Louis"),
        ("3 p.m. today", "3 pm today"),
        ("R&D, A4, 4K", "R and D, A 4, 4 K"),
        ("~5, 2x, v2.0", "about 5, 2 times, version 2.0"),
        ("Title\n=====\nText\n---\n***", "Title, Text"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a, b, 1, 2"),
        ("- [ ] buy milk\n- [x] sleep", "buy milk, sleep"),
        ("Run ```ls -l``` now, 3 * 4", "Run now, 3 times 4"),
        ("a <b>bold</b> word<br/>&amp; more", "a bold word and more"),
        ("See [a](https://x.y/z_(w)) and [b][1].", "See a and b."),
        ("Go to https://x.y/z, please.", "Go to a link, please."),
        ("Hi :smile: :-) <3 ❤️ ✅ Ⓜ️ 👩‍👩‍👧 there!", "Hi there!"),
        ("At 10:30:45, 1️⃣ or 20℃", "At 10:30:45, 1 or 20 degrees Celsius"),
        ("**你好**，world。Yes！", "world. Yes!"),
    ],
)
def test_readable(written: str, read: str) -> None:
    assert readable(written) == read


@pytest.mark.parametrize("text", ["", "  \n", "😀", "...", "你好", "***", "—", "()", "\ud800", "\x00"])
def test_nothing_to_pronounce(text: str) -> None:
    assert readable(text) == ""


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("**Grüße** 😀 – 50 % é", "Grüße, 50 % é"),
        ("[Link](https://x.de/y) https://z.de", "Link"),
        ("«Привет», мир…", '"Привет", мир'),
        ("😀 ***", ""),
    ],
)
def test_other_languages_keep_their_letters(written: str, read: str) -> None:
    assert readable(written, english=False) == read


@given(st.text(max_size=200))
def test_any_text_becomes_one_plain_line(text: str) -> None:
    result = readable(text)
    assert all(" " <= c <= "~" or c in "£€¥" for c in result)
    assert result == result.strip()
    assert "  " not in result
    assert readable(result) == readable(readable(result))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("## 标题\n你好 **世界** 😀。这是[链接](https://a.b/c)。", "标题, 你好 世界. 这是链接."),
        ("看 https://a.b/c。再见！", "看. 再见!"),
        ("_Très_ __bien__ ❤️, `x`", "Très bien, x"),
        ("- 一\n- 二，三；四", "一, 二, 三; 四"),
    ],
)
def test_readable_in_other_languages(written: str, read: str) -> None:
    assert readable(written, english=False) == read
