"""From the model to the voice: pictures, marks, addresses and code are never spoken, words always are."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich._emoji_codes import EMOJI

from taoxr_bridge.clauses import Chunker
from taoxr_bridge.code_blocks import CodeBlocks
from taoxr_models.tts.text import readable

pytestmark = pytest.mark.unit

# What may be heard, and what must not: hidden words stand where nobody reads aloud.
WORDS = {True: ("apple", "river", "seven", "quiet"), False: ("苹果", "河流", "安静", "rivière")}
HIDDEN = "zzhidden"
PICTURES = sorted({e for e in EMOJI.values() if not any(c.isascii() for c in e)})


def sentence(english: bool) -> st.SearchStrategy[str]:
    words = st.lists(st.sampled_from(WORDS[english]), min_size=1, max_size=6)
    return words.map(" ".join)


def marked(english: bool) -> st.SearchStrategy[str]:
    """A line of a Markdown answer."""
    text = sentence(english)
    forms = [
        "{0}.", "{0}!", "# {0}", "### {0}", "- {0}", "* {0}", "  + {0}", "> {0}", "- [x] {0}", "> - {0}",
        "**{0}** {1}", "*{0}*, {1}", "__{0}__", "_{0}_ {1}", "***{0}***", "~~{0}~~", "`{0}`",
        "[{0}](https://zzhidden.io/zzhidden?a=zzhidden)", "{0} ![{1}](zzhidden.png).", "[{0}][zzhidden]",
        "[zzhidden]: https://zzhidden.io \"zzhidden\"", "| {0} | {1} |", "|---|:-:|", "---", "===", "* * *",
        "```zzhidden\nzzhidden(1) # zzhidden\n\nzzhidden```", "{0} <b>{1}</b>", "<zz a='zzhidden'>{0}</zz>",
        "{0} {2} {1}", "{2} {0}{2}", "{0} :zzhidden: {1}", "{0} :-) {1} <3", "$${0}$$", "{0}[^zzhidden]",
    ]  # fmt: skip
    return st.builds(
        lambda form, a, b, picture: form.format(a, b, picture),
        st.sampled_from(forms),
        text,
        text,
        st.sampled_from(PICTURES),
    )


def spoken(text: str, english: bool, piece: int) -> list[str]:
    chunker, code = Chunker(), CodeBlocks()
    pieces = [text[i : i + piece] for i in range(0, len(text), piece)]
    clauses = [clause for part in pieces for clause in chunker.feed(part)]
    clauses += chunker.finish()
    return [readable(code.outside(clause).strip(), english=english) for clause in clauses if clause.strip()]


@pytest.mark.parametrize("english", [True, False])
@settings(deadline=None)
@given(data=st.data())
def test_only_words_are_spoken(english: bool, data: st.DataObject) -> None:
    lines = data.draw(st.lists(marked(english), min_size=1, max_size=8))
    text = "\n".join(lines)
    heard = " ".join(spoken(text, english, data.draw(st.integers(1, 40))))
    visible = re.sub(r"\w*zz\w*", "", text)
    words = [w for w in re.findall(r"[^\W\d_]+", visible) if w in WORDS[english]]
    assert re.findall(r"[^\W\d_]+", heard) == words, heard
    assert set(heard) <= set(" ,.!?;:()'\"-").union(*WORDS[english]), heard


@pytest.mark.parametrize("english", [True, False])
def test_every_picture_is_silent(english: bool) -> None:
    assert [p for p in PICTURES if spoken(f"{p}\n{p}{p}", english, 3) not in ([""], ["", ""])] == []


@settings(deadline=None)
@given(st.lists(st.sampled_from(PICTURES), min_size=1, max_size=5), st.sampled_from([True, False]))
def test_no_picture_makes_a_sound(pictures: list[str], english: bool) -> None:
    assert spoken(f"{' '.join(pictures)}\n{''.join(pictures)}", english, 3) in ([""], ["", ""])


def test_code_over_several_clauses_is_skipped_and_the_rest_is_not() -> None:
    text = "Try this. ```python\nprint(1)\nfor i in x: pass\n``` It prints 1. Then `stop` it."
    assert [s for s in spoken(text, True, 5) if s] == ["Try this.", "It prints 1.", "Then stop it."]
    long = "```\n" + "word, " * 200 + "\n```\nDone."
    assert [s for s in spoken(long, True, 50) if s] == ["Done."]


def test_a_link_is_not_cut_in_two() -> None:
    text = "See [the very big manual that we wrote for you](https://x.io/a) and tell me what you think of it."
    chunker = Chunker()
    first, *_ = [*chunker.feed(text), *chunker.finish()]
    assert first.count("[") == first.count("]") == first.count(")")
