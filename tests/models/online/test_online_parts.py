"""The parts of the streaming recogniser on their own: tokens, metadata, hotwords, features, endpoints."""

import json
from pathlib import Path

import numpy as np
import pytest

from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.ear.online.endpoint import EndpointRules
from taoxr_models.ear.online.features import FeatureOptions, Features
from taoxr_models.ear.online.hotwords import ContextGraph, Hotword, HotwordEncoder
from taoxr_models.ear.online.metadata import parse, read_sidecar
from taoxr_models.ear.online.tokens import Tokens

pytestmark = pytest.mark.unit

ENCODER = {"model_type": "zipformer2", "T": "45", "decode_chunk_len": "32"}
DECODER = {"context_size": "2", "vocab_size": "500"}


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    path = tmp_path / "tokens.txt"
    symbols = ["<blk>", "<sos/eos>", "<unk>", *(f"<0x{i:02X}>" for i in range(256))]
    symbols += ["▁HE", "LLO", "你", "▁", "S", "▁HELLO", "▁S"]
    path.write_text("".join(f"{s} {i}\n" for i, s in enumerate(symbols)), encoding="utf-8")
    return Tokens(path)


def test_tokens_become_text(tokens: Tokens) -> None:
    byte = {b: b + 3 for b in "好".encode()}
    assert tokens.text([259, 260, 261, *byte.values(), 263]) == " HELLO你好S"
    assert tokens.text(list(byte.values())[:2]) == "\ufffd"
    assert tokens.names([259, 3 + 0xE5, 3 + 0x41]) == [" HE", "<0xE5>", "A"]
    assert tokens.unknown == 2
    assert tokens.id_of("A") is None  # a byte, not a word
    assert tokens.id_of("▁HE") == 259
    assert len(tokens) == 266


@pytest.mark.parametrize("text", ["one\n", "a 0\nb 0\n", "a x\n", "a 0 1\n"])
def test_wrong_tokens_are_refused_with_the_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokens.txt").write_text(text)
    with pytest.raises(ModelError, match=r"tokens\.txt:\d: got"):
        Tokens(tmp_path / "tokens.txt")
    with pytest.raises(ModelError, match="missing"):
        Tokens(tmp_path / "other.txt")


def test_metadata_are_checked() -> None:
    found = parse(ENCODER, DECODER, "folder")
    assert (found.window, found.shift, found.context_size, found.vocab_size) == (45, 32, 2, 500)
    for encoder, decoder, message in (
        ({}, DECODER, "`model_type` is ''.*the file carries none: give them in model.json"),
        (ENCODER | {"model_type": "conformer"}, DECODER, "expected 'zipformer' or 'zipformer2'"),
        (ENCODER | {"feature": "whisper"}, DECODER, "wants 'whisper' features"),
        (ENCODER | {"T": "-1"}, DECODER, "`T` is '-1', expected a number above 0"),
        (ENCODER | {"decode_chunk_len": "64"}, DECODER, "expected at most `T`, 45"),
        (ENCODER, {"context_size": "2"}, "decoder metadata `vocab_size` is ''"),
    ):
        with pytest.raises(ModelError, match=message):
            parse(encoder, decoder, "folder")


def test_the_sidecar_is_read(tmp_path: Path) -> None:
    assert read_sidecar(tmp_path) == {}
    (tmp_path / "model.json").write_text(json.dumps({"encoder": {"T": 45}}))
    assert read_sidecar(tmp_path) == {"encoder": {"T": "45"}}
    for text in ("no json", '{"encoder": 3}', "[]"):
        (tmp_path / "model.json").write_text(text)
        with pytest.raises(ModelError, match="expected a JSON object with an object per model file"):
            read_sidecar(tmp_path)


def test_a_hotword_is_boosted_and_paid_back() -> None:
    graph = ContextGraph([Hotword((1, 2, 3), 2.0), Hotword((2, 4), 1.0)])
    gained, state = graph.step(graph.root, 1)
    assert gained == 2.0
    gained, state = graph.step(state, 2)
    assert gained == 2.0
    # 4 leaves the first phrase: what it was given is taken back, and the second is through with its 2.
    gained, state = graph.step(state, 4)
    assert gained == pytest.approx(2.0 - 4.0)
    assert state is graph.root
    # Through to the end: all of it stays.
    total, state = 0.0, graph.root
    for token in (1, 2, 3):
        gained, state = graph.step(state, token)
        total += gained
    assert total == 6.0
    assert state is graph.root


def test_hotwords_are_split_into_tokens(tokens: Tokens) -> None:
    characters = HotwordEncoder(tokens, "cjkchar", None)
    assert characters.encode(["你 S :3.5", "", "你"], 1.5) == [Hotword((261, 263), 3.5), Hotword((261,), 1.5)]
    pieces = {"▁HE": -2.0, "LLO": -2.0, "▁HELLO": -5.0, "▁S": -1.0, "S": -1.0, "▁": -9.0}
    words = HotwordEncoder(tokens, "bpe", pieces)
    assert words.encode(["HELLO S"], 1.0) == [Hotword((259, 260, 265), 1.0)]  # -4 beats -5
    mixed = HotwordEncoder(tokens, "cjkchar+bpe", pieces)
    assert mixed.encode(["你HELLO"], 1.0) == [Hotword((261, 259, 260), 1.0)]


def test_wrong_hotwords_are_refused(tokens: Tokens) -> None:
    characters = HotwordEncoder(tokens, "cjkchar", None)
    for line, message in (
        ("X", "'X' is none"),
        ("S :loud", "a number after `:`"),
        (":2 S", "words, then at most one `:BOOST`"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            characters.encode([line], 1.0)
    with pytest.raises(InvalidInputError, match="bpe_vocab"):
        HotwordEncoder(tokens, "bpe", None).encode(["S"], 1.0)
    with pytest.raises(InvalidInputError, match="a word that the pieces of bpe_vocab can spell"):
        HotwordEncoder(tokens, "bpe", {"▁": -1.0}).encode(["S"], 1.0)
    with pytest.raises(InvalidInputError, match="modeling_unit"):
        HotwordEncoder(tokens, "words", None)


def test_audio_of_another_rate_is_resampled() -> None:
    t = np.arange(48_000) / 48_000
    tone = (0.3 * np.sin(2 * np.pi * 440 * t)).astype(np.float32)
    rates: dict[int, np.ndarray] = {}
    for rate in (16_000, 48_000):
        features = Features(FeatureOptions())
        features.accept(rate, tone[:: 48_000 // rate])
        features.finish()
        rates[rate] = features.frames(0, features.ready)
    assert rates[16_000].shape == rates[48_000].shape == (100, 80)
    loud = rates[16_000][10:90] > -6  # where the tone is; filters differ in what they leave elsewhere
    np.testing.assert_allclose(rates[48_000][10:90][loud], rates[16_000][10:90][loud], atol=0.1)
    assert loud.sum() > 100


def test_features_refuse_what_cannot_be() -> None:
    features = Features(FeatureOptions())
    features.accept(16_000, np.zeros(1600, np.float32))
    with pytest.raises(InvalidInputError, match="16000, as before in this stream"):
        features.accept(8_000, np.zeros(800, np.float32))
    features.finish()
    features.finish()
    with pytest.raises(InvalidInputError, match="none after `input_finished`"):
        features.accept(16_000, np.zeros(1, np.float32))


@pytest.mark.parametrize(
    ("length", "silence", "over"),
    [
        (100, 0, False),
        (239, 239, False),
        (244, 244, True),  # rule 1: nothing said; frames come by fours
        (239, 124, True),  # rule 2: something said
        (239, 116, False),
        (124, 124, False),  # rule 2 does not hold for silence alone
        (2000, 0, True),  # rule 3
        (1999, 0, False),
    ],
)
def test_endpoint_rules(length: int, silence: int, over: bool) -> None:
    assert EndpointRules().reached(length, silence) is over
