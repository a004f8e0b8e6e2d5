"""The container: what it accepts, and that nothing else gets past it."""

import copy
import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoxr_runtime.nnr import NnrFormatError, Scene, container, load, sample
from taoxr_runtime.nnr.graph import build

pytestmark = pytest.mark.unit

SCENE, TENSORS = sample.make(rings=3, subdivision=1, strands=4, bones=3)
DATA = container.to_bytes(SCENE, TENSORS)


def rezip(entries: dict[str, bytes], **options: Any) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", **options) as archive:
        for name, raw in entries.items():
            archive.writestr(name, raw)
    return target.getvalue()


def unzip(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_entry(name: str, raw: bytes) -> bytes:
    """The sample with one tensor entry's bytes replaced and its sha256 made right."""
    entries = unzip(DATA)
    document = json.loads(entries["scene.json"])
    document["tensors"][name]["sha256"] = hashlib.sha256(raw).hexdigest()
    return rezip(entries | {name: raw, "scene.json": json.dumps(document).encode()})


def error_of(data: bytes) -> NnrFormatError:
    with pytest.raises(NnrFormatError) as caught:
        build(container.from_bytes(data))
    return caught.value


def changed(path: list[Any], value: Any, *, delete: bool = False) -> bytes:
    scene = copy.deepcopy(SCENE)
    place: Any = scene
    for key in path[:-1]:
        place = place[key]
    if delete:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return container.to_bytes(scene, TENSORS)


def retensor(**arrays: np.ndarray) -> bytes:
    named = {f"tensors/{key}.npy": array for key, array in arrays.items()}
    return container.to_bytes(SCENE, TENSORS | named)


def test_round_trip_is_exact_and_deterministic(tmp_path: Path) -> None:
    path = tmp_path / "a.nnr"
    container.write_scene(path, SCENE, TENSORS)
    assert path.read_bytes() == DATA
    read = container.read(path)
    assert read.sha256 == hashlib.sha256(DATA).hexdigest()
    assert set(read.tensors) == set(TENSORS)
    for name, array in TENSORS.items():
        assert read.tensors[name].dtype == array.dtype
        np.testing.assert_array_equal(read.tensors[name], array)
        assert not read.tensors[name].flags.writeable
    assert read.scene.rig.head_bone == "bone0"
    assert len(load(path).update()) == len(TENSORS["tensors/opacity.npy"])


def test_writing_a_broken_scene_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.nnr"
    container.write_scene(path, SCENE, TENSORS)
    with pytest.raises(NnrFormatError, match="licence"):
        container.write_scene(path, {**SCENE, "licence": 3}, TENSORS)
    assert path.read_bytes() == DATA
    assert list(tmp_path.iterdir()) == [path]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(DATA) - 1), st.integers(1, 255)), min_size=1, max_size=6))
def test_flipped_bytes_give_a_format_error_or_a_valid_scene(flips: list[tuple[int, int]]) -> None:
    data = bytearray(DATA)
    for place, mask in flips:
        data[place] ^= mask
    _error_or_scene(bytes(data))


DIRECTORY = DATA.index(b"PK\x01\x02")


@settings(max_examples=250, deadline=None)
@given(
    st.lists(st.tuples(st.integers(DIRECTORY, len(DATA) - 1), st.integers(1, 255)), min_size=1, max_size=3)
)
def test_flipped_bytes_of_the_zip_directory(flips: list[tuple[int, int]]) -> None:
    data = bytearray(DATA)
    for place, mask in flips:
        data[place] ^= mask
    _error_or_scene(bytes(data))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(DATA) - 1))
def test_a_truncated_file_is_refused(size: int) -> None:
    error_of(DATA[:size])


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_refused(data: bytes) -> None:
    error_of(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


def _paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [p for key, child in children for p in [(*prefix, key), *_paths(child, (*prefix, key))]]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([p for p in _paths(SCENE) if p[:2] != ("rig", "blendshapes")]), JSON)
def test_any_json_value_anywhere(path: tuple[Any, ...], value: Any) -> None:
    _error_or_scene(changed(list(path), value), run=True)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(TENSORS)),
    st.sampled_from(["float32", "float16", "int32", "int16", "int8", "uint16", "uint8"]),
    st.data(),
)
def test_any_tensor_of_the_right_or_a_wrong_form(name: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(st.just(TENSORS[name].shape) | st.lists(st.integers(0, 5), max_size=4).map(tuple))
    dtype = data.draw(st.sampled_from([dtype, TENSORS[name].dtype.name]))
    seed = data.draw(st.integers(0, 2**32 - 1))
    raw = np.random.default_rng(seed).bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize)
    array = np.frombuffer(raw, dtype).reshape(shape)
    _error_or_scene(container.to_bytes(SCENE, TENSORS | {name: array}), run=True)


def _error_or_scene(data: bytes, *, run: bool = False) -> None:
    try:
        scene = Scene(container.from_bytes(data))
    except NnrFormatError:
        return
    if run:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            scene.update().check_values()


@pytest.mark.parametrize(
    "name",
    [
        "../x.npy",
        "/etc/x.npy",
        "tensors/../../x.npy",
        "tensors\\x.npy",
        "tensors/a/b.npy",
        "x.txt",
        "tensors/.npy",
    ],
)
def test_path_tricks_are_refused(name: str) -> None:
    assert "is not scene.json, tensors/" in str(error_of(rezip(unzip(DATA) | {name: b"x"})))


def test_compressed_entries_are_refused() -> None:
    assert "must be stored" in str(error_of(rezip(unzip(DATA), compression=zipfile.ZIP_DEFLATED)))


def test_sizes_beyond_the_file_are_refused_before_anything_is_read() -> None:
    data = bytearray(DATA)
    record = DATA.index(b"PK\x01\x02")
    size = (1 << 30).to_bytes(4, "little")
    data[record + 20 : record + 28] = size + size  # compressed and plain size, so that it counts as stored
    assert "bytes of entries" in str(error_of(bytes(data)))


def test_too_many_entries_are_refused() -> None:
    entries = {f"tensors/e{i}.npy": b"" for i in range(container.MAX_ENTRIES + 1)}
    assert "entries" in str(error_of(rezip(unzip(DATA) | entries)))


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.nnr"
    with path.open("wb") as file:
        file.truncate(container.MAX_FILE_BYTES + 1)
    with pytest.raises(NnrFormatError, match="at most"):
        container.read(path)


def test_entries_and_the_list_must_agree() -> None:
    entries = unzip(DATA)
    assert "not listed: tensors/extra.npy" in str(error_of(rezip(entries | {"tensors/extra.npy": b"x"})))
    del entries["tensors/rest.npy"]
    assert "lists tensors/rest.npy" in str(error_of(rezip(entries)))
    del entries["scene.json"]
    assert error_of(rezip(entries)).field == "scene.json"


def test_a_wrong_hash_is_refused() -> None:
    entries = unzip(DATA)
    raw = bytearray(entries["tensors/rest.npy"])
    raw[-1] ^= 1
    error = error_of(rezip(entries | {"tensors/rest.npy": bytes(raw)}))
    assert error.field == "tensors/rest.npy"
    assert "sha256" in error.problem


def test_pickles_and_foreign_headers_are_refused() -> None:
    def npy(array: np.ndarray, **options: Any) -> bytes:
        target = io.BytesIO()
        np.save(target, array, **options)
        return target.getvalue()

    rest = TENSORS["tensors/rest.npy"]
    for raw in (
        npy(np.array([{"a": 1}], dtype=object)),
        npy(rest.astype(">f4")),
        npy(np.asfortranarray(rest)),
        npy(rest.astype("f8")),
        npy(rest)[:-4],
        npy(rest) + b"\0\0\0\0",
        npy(rest).replace(b"\x93NUMPY\x01", b"\x93NUMPY\x02"),
        b"\x93NUMPY\x01\x00\xff\xff" + b" " * 40,
        b"",
    ):
        assert error_of(with_entry("tensors/rest.npy", raw)).field == "tensors/rest.npy"
    build(container.from_bytes(with_entry("tensors/rest.npy", npy(rest))))


def test_data_must_be_aligned() -> None:
    raw = unzip(DATA)["tensors/rest.npy"]
    length = int.from_bytes(raw[8:10], "little")
    shifted = (
        raw[:8] + (length + 1).to_bytes(2, "little") + raw[10 : 9 + length] + b" \n" + raw[10 + length :]
    )
    np.testing.assert_array_equal(np.load(io.BytesIO(shifted)), TENSORS["tensors/rest.npy"])
    assert "multiple of 64" in str(error_of(with_entry("tensors/rest.npy", shifted)))


def test_names_must_not_repeat() -> None:
    entries = unzip(DATA)
    document = entries["scene.json"].replace(b'"licence":', b'"licence": "mine", "licence":', 1)
    assert "'licence' occurs twice" in str(error_of(rezip(entries | {"scene.json": document})))
    deep = b"[" * 100_000
    assert error_of(rezip(entries | {"scene.json": deep})).field == "scene"
    target = io.BytesIO(DATA)
    with zipfile.ZipFile(target, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("tensors/rest.npy", entries["tensors/rest.npy"])
    assert error_of(target.getvalue()).problem == "occurs twice"


def test_values_must_be_finite() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        rest = TENSORS["tensors/rest.npy"].copy()
        rest[2, 1] = bad
        assert "finite" in str(error_of(retensor(rest=rest)))
    offset = TENSORS["tensors/strand_offset.npy"].copy()
    offset[0, 0] = np.inf
    assert "finite" in str(error_of(retensor(strand_offset=offset)))


@pytest.mark.parametrize(
    ("key", "bad"),
    [
        ("delta_vertices", 60_000), ("bone_indices", 3), ("triangles", 18), ("surface_triangle", 24),
        ("strand_triangle", 24), ("material", 3), ("splat_triangle", 24), ("bone_parents", 5),
        ("delta_offsets", -1), ("subdivision", 0), ("bone_weights", 0.9), ("surface_barycentric", 1.5),
        ("rest", 2e3), ("normal", 0), ("tangent", 0),
    ],
)  # fmt: skip
def test_tensor_values_out_of_range_name_the_tensor(key: str, bad: float) -> None:
    array = TENSORS[f"tensors/{key}.npy"].copy()
    array[-1] = bad
    error = error_of(retensor(**{key: array}))
    assert error.field.endswith(f"tensors.{key}"), error


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (["version"], 2, "scene.version"),
        (["format"], "glb", "scene.format"),
        (["extra"], 1, "scene.extra"),
        (["name"], "a\x1b[31m", "scene.name"),
        (["rig", "space"], "flame53", "scene.rig.space"),
        (["rig", "head_bone"], "nose", "scene.rig"),
        (["rig", "blendshapes"], ["a"], "scene.rig"),
        (["landmarks", "height"], float("nan"), "scene.landmarks.height"),
        (["inputs", 0, "shape"], [51], "scene.inputs[0].shape"),
        (["inputs", 0, "name"], "expr", "scene.inputs[0].name"),
        (["nodes", 1, "kind"], "magic", "scene.nodes[1].kind"),
        (["nodes", 1, "inputs"], ["nothing"], "scene.nodes[1].inputs[0]"),
        (["nodes", 1, "outputs"], ["opacities"], "scene.nodes[1].outputs[0]"),
        (["nodes", 1, "inputs"], [], "scene.nodes[1].inputs"),
        (["nodes", 1, "tensors", "rest"], "tensors/none.npy", "scene.nodes[1].tensors.rest"),
        (["nodes", 1, "tensors", "rest"], "tensors/triangles.npy", "scene.nodes[1].tensors.rest"),
        (["nodes", 1, "attributes", "remap"], {"nose": {}}, "scene.nodes[1].attributes.remap"),
        (["nodes", 3, "attributes", "phong"], 2.0, "scene.nodes[3].attributes.phong"),
        (
            ["nodes", 4, "attributes", "lights", 0, "direction"],
            [0, 0, 0.5],
            "scene.nodes[4].attributes.lights[0]",
        ),
    ],
)
def test_errors_name_the_field(path: list[Any], value: Any, field: str) -> None:
    assert error_of(changed(path, value)).field == field


def test_a_surface_splat_may_not_be_anisotropic() -> None:
    material = TENSORS["tensors/material.npy"].copy()
    material[0] = 2
    assert "strands only" in str(error_of(retensor(material=material)))


def test_a_scene_must_make_its_splats() -> None:
    error = error_of(changed(["nodes", 4], None, delete=True))
    assert "colors_srgb" in error.problem
