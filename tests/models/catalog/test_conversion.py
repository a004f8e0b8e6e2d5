"""Converting and quantising a user's models: what comes out, what it costs, and what is refused before."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from taoxr.engine.probe import probe
from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.catalog.conversion.files import Request, convert_file
from taoxr_models.catalog.conversion.formats import detect
from taoxr_models.catalog.conversion.precision import Storage
from taoxr_models.catalog.conversion.refusals import check_onnx
from taoxr_models.catalog.conversion.report import compare
from taoxr_models.catalog.conversion.running import random_inputs, run_mnn
from taoxr_models.catalog.recipes.onnx_graph import OnnxGraph

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two linear layers over 64 numbers, of any batch."""
    path = tmp_path_factory.mktemp("net") / "net.onnx"
    random = np.random.default_rng(0)
    g = OnnxGraph("net")
    x = g.input("x", ["N", 64])
    for _ in range(2):
        weight = random.standard_normal((64, 64)).astype(np.float32) / 8
        x = g.op("Tanh", g.linear(x, weight, random.standard_normal(64).astype(np.float32)))
    g.output("y", x, ["N", 64])
    g.save(path)
    return path


def request(source: Path, target: Path, **options: object) -> Request:
    return Request(source, detect(source), target, **{"shapes": {"x": (3, 64)}, **options})


def test_onnx_converts_and_agrees_with_onnxruntime(network: Path, tmp_path: Path) -> None:
    report = convert_file(request(network, tmp_path / "net.mnn"))
    assert report.reference == "onnxruntime"
    (difference,) = report.differences
    assert difference.output == "y"
    assert difference.largest < 1e-5
    assert difference.reference_rms > 0.3
    assert difference.cosine > 0.999999
    assert [p.name for p in tmp_path.iterdir()] == ["net.mnn"]


@pytest.mark.parametrize(
    ("storage", "size", "cosine"),
    [
        pytest.param(Storage("fp16"), 0.6, (0.999999, 1.0), marks=pytest.mark.slow),
        (Storage("int8"), 0.4, (0.9999, 0.9999999)),
        pytest.param(Storage("int8", 32), 0.45, (0.99995, 0.9999999), marks=pytest.mark.slow),
        pytest.param(Storage("int4"), 0.3, (0.97, 0.9995), marks=pytest.mark.slow),
        (Storage("int4", 32), 0.35, (0.985, 0.9995)),
    ],
    ids=lambda v: f"{v.precision}-{v.block}" if isinstance(v, Storage) else "",
)
def test_smaller_weights_cost_what_the_report_says(
    network: Path, tmp_path: Path, storage: Storage, size: float, cosine: tuple[float, float]
) -> None:
    plain, small = tmp_path / "net.mnn", tmp_path / "small.mnn"
    full = convert_file(request(network, plain))
    report = convert_file(request(plain, small, storage=storage))
    assert report.reference == "the source on MNN"
    assert report.target_bytes == small.stat().st_size < size * full.target_bytes
    (difference,) = report.differences
    assert cosine[0] <= difference.cosine <= cosine[1]
    # The same numbers by hand.
    inputs = random_inputs(plain, {"x": (3, 64)})
    a, b = run_mnn(plain, inputs)["y"], run_mnn(small, inputs)["y"]
    assert difference.largest == pytest.approx(np.abs(a - b).max(), rel=1e-6)
    assert difference.rms == pytest.approx(np.sqrt(np.mean((a - b) ** 2)), rel=1e-5)


def test_given_inputs_are_used(network: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=np.zeros((2, 64), np.float32))
    report = convert_file(request(network, tmp_path / "net.mnn", inputs=tmp_path / "in.npz"))
    assert report.inputs == "in.npz"
    np.savez(tmp_path / "other.npz", z=np.zeros(3))
    with pytest.raises(InvalidInputError, match=r"--inputs: .* expected an \.npz with x"):
        convert_file(request(network, tmp_path / "n2.mnn", inputs=tmp_path / "other.npz"))


def _varint(n: int) -> bytes:
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def caffe(folder: Path) -> Request:
    (folder / "net.prototxt").write_text(
        'name: "net"\n'
        'layer { name: "x" type: "Input" top: "x" input_param { shape: { dim: 1 dim: 3 dim: 4 dim: 4 } } }\n'
        'layer { name: "y" type: "ReLU" bottom: "x" top: "y" }\n'
    )
    first = _field(1, b"x") + _field(2, b"Input") + _field(4, b"x")
    second = _field(1, b"y") + _field(2, b"ReLU") + _field(3, b"x") + _field(4, b"y")
    (folder / "net.caffemodel").write_bytes(_field(1, b"net") + _field(100, first) + _field(100, second))
    return Request(folder / "net.caffemodel", "caffe", folder / "net.mnn", prototxt=folder / "net.prototxt")


def tensorflow(folder: Path) -> Request:
    def node(name: bytes, op: bytes, inputs: bytes, attributes: dict[bytes, bytes]) -> bytes:
        pairs = [_field(5, _field(1, key) + _field(2, value)) for key, value in attributes.items()]
        return _field(1, _field(1, name) + _field(2, op) + inputs + b"".join(pairs))

    floats, shape = b"\x30\x01", _field(7, _field(2, b"\x08\x01") + _field(2, b"\x08\x06"))
    (folder / "net.pb").write_bytes(
        node(b"x", b"Placeholder", b"", {b"dtype": floats, b"shape": shape})
        + node(b"y", b"Relu", _field(3, b"x"), {b"T": floats})
    )
    return Request(folder / "net.pb", "tf", folder / "net.mnn")


@pytest.mark.parametrize("make", [caffe, tensorflow])
def test_other_formats_convert_and_run(make: Callable[[Path], Request], tmp_path: Path) -> None:
    wanted = make(tmp_path)
    report = convert_file(wanted)
    assert report.reference == "none"  # a float32 conversion could only be compared with itself
    inputs = random_inputs(wanted.target, {})
    np.testing.assert_allclose(run_mnn(wanted.target, inputs)["y"], np.maximum(inputs["x"], 0), atol=1e-6)


def broken(tmp_path: Path, nodes: list[onnx.NodeProto], **parts: list[object]) -> Path:
    """An ONNX file with these nodes."""
    inputs = parts.get("inputs") or [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 8])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, parts.get("constants") or [])
    path = tmp_path / "broken.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    return path


def test_what_would_go_wrong_is_refused_with_every_reason(tmp_path: Path) -> None:
    info = helper.make_tensor_value_info
    empty = helper.make_tensor("w", TensorProto.FLOAT, [0, 3], [])
    path = broken(
        tmp_path,
        [
            helper.make_node("ConvInteger", ["x", "w"], ["a"]),
            helper.make_node("FusedMatMul", ["a", "w"], ["b"], domain="com.microsoft"),
            helper.make_node("LSTM", ["x", "w", "w", "", "", "h", "c"], ["y"], name="cell", hidden_size=3),
        ],
        inputs=[
            info("x", TensorProto.DOUBLE, [1, 4, 0]),
            info("h", TensorProto.FLOAT, [1, 1, 3]),
            info("c", TensorProto.FLOAT, [1, 1, 3]),
        ],
        constants=[empty],
    )
    with pytest.raises(ModelError) as caught:
        convert_file(Request(path, "onnx", tmp_path / "net.mnn"))
    for reason in (
        "quantised already (ConvInteger)",
        "one runtime only (com.microsoft.FusedMatMul)",
        "LSTM 'cell' takes its state as an input",
        "constant 'w' is empty ([0, 3])",
        "input 'x' is double",
        "input 'x' has a dimension of 0",
    ):
        assert reason in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["broken.onnx"]


def test_operators_inside_branches_are_seen(tmp_path: Path) -> None:
    inner = helper.make_graph(
        [helper.make_node("MatMulInteger", ["x", "x"], ["z"])],
        "inner",
        [],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
    )
    path = broken(tmp_path, [helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner)])
    with pytest.raises(ModelError, match="MatMulInteger"):
        check_onnx(path)


def test_a_failure_leaves_nothing_behind(network: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.onnx"
    cut.write_bytes(network.read_bytes()[:2000])
    with pytest.raises(ModelError, match=r"cut\.onnx is no ONNX file"):
        convert_file(Request(cut, "onnx", tmp_path / "net.mnn"))
    # The converter's own failure, and one after it: a shape that the network does not take.
    with pytest.raises(ModelError, match=r"MNN could not convert cut\.onnx"):
        convert_file(Request(cut, "onnx", tmp_path / "net.mnn", force=True))
    with pytest.raises(ModelError, match="MNN could not run"):
        convert_file(request(network, tmp_path / "net.mnn", shapes={"x": (3, 63)}))
    assert [p.name for p in tmp_path.iterdir()] == ["cut.onnx"]


def test_old_output_stays_when_a_conversion_fails(network: Path, tmp_path: Path) -> None:
    target = tmp_path / "net.mnn"
    target.write_bytes(b"old")
    with pytest.raises(ModelError):
        convert_file(request(network, target, shapes={"x": (3, 63)}))
    assert target.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("net.bin", b"x", "--format: .* the name does not tell"),
        ("net.onnx", b"", "it is empty"),
        ("net.tflite", b"no such thing", "a TensorFlow Lite file"),
        ("net.gguf", b"no such thing", "a GGUF file"),
        ("net.pt", b"no such thing", "a TorchScript file"),
    ],
)
def test_a_source_that_is_not_what_it_says_is_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=message):
        detect(tmp_path / name)


def test_wrong_options_are_refused(network: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="--shape: got 'z', expected an input of the model: x"):
        convert_file(request(network, tmp_path / "net.mnn", shapes={"z": (1,)}))
    with pytest.raises(InvalidInputError, match="TARGET"):
        convert_file(request(network, tmp_path / "net.bin"))
    with pytest.raises(InvalidInputError, match="--block"):
        Storage("fp16", 32)
    with pytest.raises(InvalidInputError, match="--block"):
        Storage("int8", 33)
    with pytest.raises(InvalidInputError, match="--prototxt"):
        convert_file(Request(network, "caffe", tmp_path / "net.mnn"))


def test_a_damaged_file_is_known_the_second_time(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path / "home"))
    bad = tmp_path / "bad.mnn"
    bad.write_bytes(b"no model")
    with pytest.raises(ModelError, match="MNN cannot read it as a model"):
        probe(bad)
    (remembered,) = (tmp_path / "home/cache/probed").iterdir()
    remembered.write_text(json.dumps({"error": "as remembered"}))
    with pytest.raises(ModelError, match="as remembered"):
        probe(bad)
    remembered.write_text("cut off in the mid")  # a writer was killed: found out again
    with pytest.raises(ModelError, match="MNN cannot read it as a model"):
        probe(bad)


def test_a_crash_of_the_engine_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The child is made to die as MNN does, for no file is known to crash every version of it."""
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "sitecustomize.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)\n")
    (tmp_path / "net.mnn").write_bytes(b"anything")
    with pytest.raises(ModelError, match=r"net\.mnn: MNN crashed on it \(SIGSEGV\)"):
        probe(tmp_path / "net.mnn")


def test_outputs_that_cannot_be_compared_are_errors() -> None:
    one = np.ones(3, np.float32)
    with pytest.raises(ModelError, match="no output 'y'"):
        compare({"y": one}, {"z": one})
    with pytest.raises(ModelError, match="has shape"):
        compare({"y": one}, {"y": np.ones(4, np.float32)})
    with pytest.raises(ModelError, match="no finite numbers"):
        compare({"y": one}, {"y": np.full(3, np.nan, np.float32)})
    (zero,) = compare({"y": one * 0}, {"y": one * 0})
    assert (zero.cosine, zero.largest) == (1.0, 0.0)


def test_the_command_prints_the_report_and_says_what_is_wrong(network: Path, tmp_path: Path) -> None:
    def taoxr(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("taoxr")), "models", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    target = str(tmp_path / "small.mnn")
    done = taoxr("quantize", str(network), target, "--precision", "int8", "--shape", "x=2x64", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["reference"] == "onnxruntime"
    assert 0.999 < report["differences"][0]["cosine"] < 1
    done = taoxr("convert", str(network), str(tmp_path / "net.mnn"), "--shape", "x=2x64")
    assert "cosine" in done.stdout
    done = taoxr("convert", str(network), str(tmp_path / "other.mnn"), "--shape", "x=two")
    assert done.returncode != 0
    assert "expected NAME=1x3x224x224" in done.stderr
    for command in ("convert", "quantize"):
        assert f"taoxr models {command}" in taoxr(command, "--help").stdout
