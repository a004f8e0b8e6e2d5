"""Files of every splat format: written by hand, by gaussforge, by gsply; whole and damaged."""

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.runtime import splat_writers as writers
from tests.runtime.splat_writers import Rows, random_rows
from typer.testing import CliRunner

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime import nnr
from taoxr_runtime.nnr.nodes.skinning import rotations
from taoxr_runtime.splat_files import SplatFileError, read
from taoxr_runtime.splat_files.cli import app

pytestmark = pytest.mark.process

RUN = CliRunner()
GSPLY = Path(__file__).with_name("data")
EXACT = {"mean": 1e-6, "sigma": 1e-5, "opacity": 1e-6, "color": 1e-6, "turn": 1e-5, "higher": 1e-6}
PACKED = {"mean": 2e-3, "sigma": 3e-3, "opacity": 3e-3, "color": 4e-3, "turn": 5e-3, "higher": 0.02}
SPZ = {"mean": 2e-4, "sigma": 0.032, "opacity": 3e-3, "color": 5e-3, "turn": 5e-3, "higher": 4e-3}
# Reference writers round harmonics more coarsely than the format does.
COARSE_SPZ = {**SPZ, "higher": 0.07}
# Before version 3, w is what the rounded x, y and z leave of the length 1.
OLD_SPZ = {**SPZ, "turn": 0.15}
SOG = {"mean": 1e-4, "sigma": 0.01, "opacity": 3e-3, "color": 2e-3, "turn": 0.015, "higher": 2e-3}
DOT_SPLAT = {**EXACT, "opacity": 2e-3, "color": 2e-3, "turn": 0.02}


def check(path: Path, rows: Rows, within: dict[str, float], form: str) -> None:
    """That a file gives these rows, in any order, within tolerances by kind (of sigma: relative)."""
    found = read(path)
    assert (found.form, found.dropped.total, len(found.cloud)) == (form, 0, len(rows.means))
    cloud = found.cloud
    apart = np.linalg.norm(cloud.means[None] - rows.means[:, None], axis=2)
    order = apart.argmin(axis=1)
    assert len(set(order)) == len(order)
    turns = rotations(cloud.rotations[order].astype(np.float64)) - rotations(
        rows.quaternions[:, [1, 2, 3, 0]]
    )
    errors = {
        "mean": apart.min(axis=1),
        "sigma": np.log(cloud.sigmas[order]) - np.log(rows.sigmas),
        "opacity": cloud.opacities[order] - rows.opacities,
        "color": (cloud.harmonics[order, 0] - rows.constant) * writers.SH0,
        "turn": turns,
        "higher": cloud.harmonics[order, 1:] - rows.higher,
    }
    worst = {kind: float(np.abs(error).max(initial=0)) for kind, error in errors.items()}
    assert {kind: error for kind, error in worst.items() if error > within[kind]} == {}


def gaussforge(rows: Rows, form: str, **options: int) -> bytes:
    tool = import_module("gaussforge").GaussForge()
    read_back = tool.read(writers.ply(rows), "ply")["data"]
    return tool.write(read_back, form, **options)["data"]


WRITTEN: dict[str, tuple[str, Callable[[Rows], bytes], int, dict[str, float], str]] = {
    "ply of degree 3": ("a.ply", writers.ply, 3, EXACT, "ply"),
    "ply of degree 0": ("a.ply", lambda rows: writers.ply(rows, normals=False), 0, EXACT, "ply"),
    "splat": ("a.splat", writers.dot_splat, 0, DOT_SPLAT, "splat"),
    "compressed ply": ("a.ply", writers.compressed_ply, 3, PACKED, "compressed.ply"),
    "spz 1": ("a.spz", lambda rows: writers.spz(rows, 1), 1, {**OLD_SPZ, "mean": 1e-3}, "spz"),
    "spz 2": ("a.spz", lambda rows: writers.spz(rows, 2), 2, OLD_SPZ, "spz"),
    "spz 3": ("a.spz", lambda rows: writers.spz(rows, 3), 3, SPZ, "spz"),
    "sog": ("a.sog", writers.sog, 3, SOG, "sog"),
    "gaussforge's spz 4": ("a", lambda rows: gaussforge(rows, "spz", spz_version=4), 3, COARSE_SPZ, "spz"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_files_give_what_was_written(name: str, tmp_path: Path) -> None:
    file, write, degree, within, form = WRITTEN[name]
    rows = random_rows(300, degree)
    (tmp_path / file).write_bytes(write(rows))
    check(tmp_path / file, rows, within, form)


@pytest.mark.parametrize(
    ("file", "within", "form"),
    [
        ("gsply_v3.spz", SPZ, "spz"),
        ("gsply_v4.spz", SPZ, "spz"),
        ("gsply.compressed.ply", PACKED, "compressed.ply"),
    ],
)
def test_files_of_another_library(file: str, within: dict[str, float], form: str) -> None:
    check(GSPLY / file, random_rows(40, degree=2), within, form)


def test_opacities_of_0_and_1_stay(tmp_path: Path) -> None:
    rows = replace(random_rows(4), opacities=np.array([0.0, 1.0, 0.5, 1.0]))
    for file, data in (("a.ply", writers.ply(rows)), ("a.splat", writers.dot_splat(rows))):
        (tmp_path / file).write_bytes(data)
        np.testing.assert_allclose(read(tmp_path / file).cloud.opacities, rows.opacities, atol=0.003)


@pytest.mark.parametrize(("file", "write"), [("a.ply", writers.ply), ("a.splat", writers.dot_splat)])
def test_rows_that_cannot_be_drawn_are_left_out_and_counted(
    file: str, write: Callable[[Rows], bytes], tmp_path: Path
) -> None:
    rows = random_rows(10)
    broken = writers.damaged(rows)
    if file == "a.splat":  # its colours are bytes
        broken = replace(broken, constant=rows.constant)
    (tmp_path / file).write_bytes(write(broken))
    found = read(tmp_path / file)
    infinite = 2 if file == "a.ply" else 1
    dropped = found.dropped
    assert (dropped.not_finite, dropped.no_rotation, dropped.out_of_range) == (infinite, 1, 1)
    np.testing.assert_allclose(found.cloud.means[-6:], rows.means[4:], rtol=1e-6)
    outcome = RUN.invoke(app, ["import", str(tmp_path / file), "-o", str(tmp_path / "a.nnr")])
    assert outcome.exit_code == 0, outcome.output
    said = f"{2 + infinite} splats left out: {infinite} not finite, 1 no rotation, 1 out of range"
    assert said in " ".join(outcome.output.split())


def test_nothing_left_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.ply").write_bytes(writers.ply(replace(random_rows(3), quaternions=np.zeros((3, 4)))))
    with pytest.raises(SplatFileError, match="no splat that can be drawn"):
        read(tmp_path / "a.ply")


def without(data: bytes, name: str) -> bytes:
    """A PLY whose property has another name."""
    return data.replace(f" {name}\n".encode(), b" other\n")


PLY = writers.ply(random_rows(3))
COMPRESSED = writers.compressed_ply(random_rows(3))
PLY_FAULTS = {
    "no opacity": (without(PLY, "opacity"), "vertex.opacity: is missing"),
    "no rotation": (without(PLY, "rot_2"), "vertex.rot_2: is missing"),
    "no colour": (without(PLY, "f_dc_0"), "vertex.f_dc_0: is missing"),
    "no size": (without(PLY, "scale_1"), "vertex.scale_1: is missing"),
    "no place": (without(PLY, "y"), "vertex.y: is missing"),
    "44 harmonics": (without(PLY, "f_rest_3"), "vertex.f_rest: has 44 numbers"),
    "a property twice": (PLY.replace(b" nx\n", b" ny\n"), "vertex: has a property twice"),
    "cut off in the rows": (PLY[:-7], "file: is cut off: 3 of vertex take"),
    "cut off in the header": (PLY[:300], "header: is no PLY header"),
    "absurd count": (PLY.replace(b"vertex 3", b"vertex 99999999999999"), "file: is cut off"),
    "negative count": (PLY.replace(b"vertex 3", b"vertex -3"), "header: has a line"),
    "text": (PLY.replace(b"binary_little_endian", b"ascii"), "format: is 'ascii 1.0'"),
    "lists": (PLY.replace(b"float nx", b"list uchar int nx"), "header: has a line"),
    "unknown type": (PLY.replace(b"float nx", b"quad nx"), "header: has a line"),
    "no splats": (PLY.replace(b"vertex 3", b"vertex 0"), "holds no splats"),
    "no vertices": (PLY.replace(b"element vertex", b"element face"), "vertex: is missing"),
    "wrong mark": (b"PLX" + PLY[3:], "begins with b'PLX"),
    "wrong number of chunks": (COMPRESSED.replace(b"chunk 1", b"chunk 2") + bytes(72), "chunk: has 2 rows"),
    "chunks of 17": (COMPRESSED.replace(b"property float min_r\n", b""), "chunk: has other properties"),
    "too little sh": (COMPRESSED.replace(b"element sh 3", b"element sh 1"), "sh: has 1 rows of 45 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLY_FAULTS)
def test_faults_of_a_ply_are_named(name: str, tmp_path: Path) -> None:
    data, message = PLY_FAULTS[name]
    (tmp_path / "a.ply").write_bytes(data)
    with pytest.raises(SplatFileError) as error:
        read(tmp_path / "a.ply")
    assert message in str(error.value)


def test_other_types_and_tables_of_a_ply_are_read(tmp_path: Path) -> None:
    names = ["x", "y", "z", "f_dc_0", "f_dc_1", "f_dc_2", "opacity"]
    names += ["scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"]
    values = np.arange(28.0).reshape(2, 14) / 10
    head = ["ply", "format binary_big_endian 1.0", "comment made by hand", "element camera 1"]
    head += [
        "property int id",
        "element vertex 2",
        *(f"property double {name}" for name in names),
        "end_header",
        "",
    ]
    data = "\r\n".join(head).encode() + struct.pack(">i", 7) + values.astype(">f8").tobytes()
    (tmp_path / "a.ply").write_bytes(data)
    cloud = read(tmp_path / "a.ply").cloud
    np.testing.assert_allclose(cloud.means, values[:, :3], rtol=1e-6)
    np.testing.assert_allclose(cloud.sigmas, np.exp(values[:, 7:10]), rtol=1e-6)


def absurd(data: bytes, count: int) -> bytes:
    """An SPZ of version 4 that says it has many splats, and as many bytes of each column."""
    words = bytearray(data)
    struct.pack_into("<I", words, 8, count)
    for stream in range(words[15]):
        struct.pack_into("<Q", words, struct.unpack_from("<I", words, 16)[0] + 16 * stream + 8, count * 45)
    return bytes(words)


SPZ4 = (GSPLY / "gsply_v4.spz").read_bytes()
PACKED_FAULTS = {
    "cut off spz 3": ("a.spz", (GSPLY / "gsply_v3.spz").read_bytes()[:-200]),
    "cut off spz 4": ("a.spz", SPZ4[:-200]),
    "spz of version 9": ("a.spz", SPZ4[:4] + b"\x09" + SPZ4[5:]),
    "spz that asks for all memory": ("a.spz", absurd(SPZ4, 1 << 30)),
    "sog that is no zip": ("a.sog", b"PK\x03\x04" + bytes(100)),
}


@pytest.mark.parametrize("name", PACKED_FAULTS)
def test_faults_of_compressed_files_are_errors(name: str, tmp_path: Path) -> None:
    file, data = PACKED_FAULTS[name]
    (tmp_path / file).write_bytes(data)
    with pytest.raises(SplatFileError, match=rf"^{file}: is (no sound|damaged)"):
        read(tmp_path / file)


def test_without_the_library_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taoxr_runtime.splat_files.packed.find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match=r"pip install 'taoxr\[splats\]'"):
        read(GSPLY / "gsply_v3.spz")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    name, whole = data.draw(st.sampled_from([("a.ply", PLY), ("a.splat", writers.dot_splat(random_rows(3)))]))
    changed = bytearray(whole[: data.draw(st.integers(1, len(whole)))])
    for at in data.draw(st.lists(st.integers(0, len(changed) - 1), max_size=6)):
        changed[at] = data.draw(st.integers(0, 255))
    (tmp_path / name).write_bytes(changed)
    try:
        found = read(tmp_path / name)
    except SplatFileError:
        return
    found.cloud.splats((0, 0, 9)).check_values()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("form", ["compressed.ply", "spz", "sog"])
def test_many_damaged_compressed_files(form: str, tmp_path: Path) -> None:
    rng, refused = np.random.default_rng(0), 0
    whole = {
        "compressed.ply": (GSPLY / "gsply.compressed.ply").read_bytes(),
        "spz": SPZ4,
        "sog": writers.sog(random_rows(40)),
    }[form]
    for _ in range(100):
        changed = bytearray(whole)
        reach = len(changed) if rng.integers(2) else 64
        for at in rng.integers(0, reach, rng.integers(1, 6)):
            changed[at] = rng.integers(256)
        (tmp_path / f"a.{form}").write_bytes(changed)
        try:
            read(tmp_path / f"a.{form}").cloud.splats((0, 0, 9)).check_values()
        except SplatFileError:
            refused += 1
    assert 0 < refused < 100


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="a file that exists"):
        read(tmp_path / "none.ply")
    (tmp_path / "a.splat").write_bytes(bytes(31))
    with pytest.raises(SplatFileError, match="multiple of 32"):
        read(tmp_path / "a.splat")
    (tmp_path / "empty.ply").touch()
    with pytest.raises(SplatFileError, match="is 0 bytes"):
        read(tmp_path / "empty.ply")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.ply"
    path.write_bytes(writers.ply(random_rows(200)))
    return path


def test_info(file: Path) -> None:
    report = json.loads(RUN.invoke(app, ["info", str(file), "--json"]).output)
    assert (report["format"], report["splats"], report["degree"], report["up"]) == ("ply", 200, 3, "-y")
    assert report["dropped"] == {"not_finite": 0, "no_rotation": 0, "out_of_range": 0}
    assert np.all(np.array(report["low"]) < report["most_low"])
    assert "200" in RUN.invoke(app, ["info", str(file)]).output


def test_import_makes_a_sound_scene(file: Path) -> None:
    out = file.with_suffix(".nnr")
    done = RUN.invoke(app, ["import", str(file), "-o", str(out), "--name", "Knot", "--licence", "CC0-1.0"])
    assert done.exit_code == 0, done.output
    scene = nnr.load(out)
    assert (scene.name, scene.container.scene.licence, dict(scene.inputs)) == (
        "Knot",
        "CC0-1.0",
        {"camera": (3,)},
    )
    expected = read(file).cloud.moved(np.diag([1.0, -1.0, -1.0]))
    shift = scene.splats.means - expected.means
    np.testing.assert_allclose(shift, np.broadcast_to(shift[0], shift.shape), atol=1e-5)
    scene.set("camera", np.array([0.3, 0.2, 2.0]))
    drawn = scene.update()
    wanted = expected.splats(np.array([0.3, 0.2, 2.0]) - shift[0])
    scale = np.abs(wanted.covariances).max(axis=1)
    assert float((np.abs(drawn.covariances - wanted.covariances).max(axis=1) / scale).max()) < 2e-3
    np.testing.assert_allclose(drawn.opacities, wanted.opacities, atol=0.5 / 255 + 1e-6)
    np.testing.assert_allclose(drawn.colors_srgb, wanted.colors_srgb, atol=1e-3)


def test_import_stands_on_the_ground_or_keeps_its_place(file: Path) -> None:
    out = file.with_suffix(".nnr")
    RUN.invoke(app, ["import", str(file), "-o", str(out), "--scale", "0.5", "--degree", "1"])
    low, high = np.quantile(nnr.load(out).splats.means, [0.01, 0.99], axis=0)
    np.testing.assert_allclose([low[1], low[0] + high[0], low[2] + high[2]], 0, atol=1e-5)
    assert nnr.load(out).container.tensors["tensors/sh.npy"].shape == (200, 4, 3)
    options = ["--keep-place", "--up", "y", "--max-splats", "50"]
    RUN.invoke(app, ["import", str(file), "-o", str(out), *options])
    kept = nnr.load(out).splats.means
    assert len(kept) == 50
    assert np.abs(kept[:, None] - read(file).cloud.means[None]).max(axis=2).min(axis=1).max() == 0


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (["--up", "w"], "--up"),
        (["--rotate", "1,2"], "--rotate"),
        (["--rotate", "1,2,nan"], "--rotate"),
        (["--scale", "0"], "--scale"),
        (["--out", "a.ply"], "--out"),
    ],
)
def test_wrong_options_are_refused_by_name(file: Path, options: list[str], field: str) -> None:
    done = RUN.invoke(app, ["import", str(file), "-o", str(file.with_suffix(".nnr")), *options])
    assert isinstance(done.exception, InvalidInputError)
    assert done.exception.field == field
