"""Tokens become whole characters, however the bytes are cut."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr.errors import ModelError
from taoxr_models.llm.vocabulary import TextDecoder, Vocabulary, read_vocabulary

pytestmark = pytest.mark.unit

BYTES = Vocabulary(tuple(bytes([i]) for i in range(256)), frozenset(), frozenset())


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_byte_tokens_give_the_text_back(text: str) -> None:
    decoder = TextDecoder(BYTES)
    pieces = [decoder.push(b) for b in text.encode()]
    assert "".join(pieces) == text
    assert "\ufffd" not in "".join(pieces).replace("\ufffd", "", text.count("\ufffd"))


@given(st.lists(st.binary(max_size=6), max_size=20))
def test_any_bytes_give_text(pieces: list[bytes]) -> None:
    decoder = TextDecoder(Vocabulary(tuple(pieces), frozenset(), frozenset()))
    whole = "".join(decoder.push(i) for i in range(len(pieces)))
    assert b"".join(pieces).decode(errors="replace").startswith(whole)


def _write(folder: Path, vocabulary: bytes, head: bytes) -> Path:
    (folder / "vocab.bin").write_bytes(vocabulary)
    (folder / "tokenizer.mtok").write_bytes(head)
    (folder / "config.json").write_text('{"tokenizer_file": "tokenizer.mtok"}')
    return folder


def _read(folder: Path) -> Vocabulary:
    return read_vocabulary(folder, 4, [b"<end>", b"a", b"<0x0A>", b"\xc3"].__getitem__)


def test_reading(tmp_path: Path) -> None:
    data = b"".join(len(p).to_bytes(2, "little") + p for p in (b"<end>", b"a", b"\xc3", b""))
    found = _read(_write(tmp_path, data, b"430 4\n1 1 0\n0 0\n\x00binary"))
    assert found.pieces == (b"<end>", b"a", b"\xc3", b"")
    assert found.specials == found.stops == frozenset({0})


@pytest.mark.parametrize(
    ("vocabulary", "head"),
    [
        (b"\x05\x00abc", b"430 4\n0 0 0\n\n"),
        (b"\x01", b"430 4\n0 0 0\n\n"),
        (b"\x01\x00a", b"430 4\n1 0 0\n7\n"),
        (b"\x01\x00a", b"430 4\n1 1 0\n0\n"),
        (b"\x01\x00a", b"not a tokenizer"),
    ],
)
def test_other_forms_are_refused(tmp_path: Path, vocabulary: bytes, head: bytes) -> None:
    with pytest.raises(ModelError):
        _read(_write(tmp_path, vocabulary, head))


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        _read(tmp_path)


def test_without_our_file_the_engine_is_asked(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "tokenizer.txt").write_text("430 3\n1 1 0\n0 0\n")
    found = _read(tmp_path)
    assert found.pieces == (b"<end>", b"a", b"\n", b"\xc3")
    assert found.specials == found.stops == frozenset({0})
