"""Mutated files: each is refused with an `NnrFormatError`, or is a scene that runs and makes finite splats.

Half of the mutations get right hashes again, so that what lies behind the hashes is reached. Run the 20,000
with ``pytest -m slow tests/runtime/test_nnr_fuzz.py -s``, which also prints how many ended how.
"""

import hashlib
import io
import json
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from taoxr.errors import ModelError
from taoxr_runtime.nnr import NnrFormatError, Scene, container, sample, sample_learned
from taoxr_runtime.nnr.compiler import compile_scene
from taoxr_runtime.nnr.mnn.builder import GraphBuilder

pytestmark = pytest.mark.unit

Entries = dict[str, bytes]
Random = np.random.Generator
NUMBERS = (b"0", b"-1", b"1", b"2147483648", b"1e30", b"-1e400", b"65536", b"null", b"[]", b'"x"', b"true")
EXTREMES = (np.nan, np.inf, -np.inf, 6e4, -6e4, 0.0)


def unzip(data: bytes) -> Entries:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rezip(entries: Entries) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, raw in entries.items():
            archive.writestr(name, raw)
    return target.getvalue()


def flipped(raw: bytes, rng: Random) -> bytes:
    data = bytearray(raw)
    for place in rng.integers(0, len(data), rng.integers(1, 9)):
        data[place] ^= rng.integers(1, 256)
    return bytes(data)


def cut(raw: bytes, rng: Random) -> bytes:
    return raw[: rng.integers(0, len(raw))]


def spliced(raw: bytes, rng: Random) -> bytes:
    """A piece of it stands in another place."""
    start, size, place = rng.integers(0, len(raw)), rng.integers(1, 200), rng.integers(0, len(raw))
    return raw[:place] + raw[start : start + size] + raw[place + rng.integers(0, size + 1) :]


def rehashed(entries: Entries) -> Entries:
    """The entries with the hashes in scene.json made right, where scene.json still has them."""

    def hash_of(match: re.Match[bytes]) -> bytes:
        raw = entries.get(match[1].decode(errors="replace"))
        return match[0] if raw is None else match[0][:-64] + hashlib.sha256(raw).hexdigest().encode()

    pattern = rb'"([^"]*\.(?:npy|mnn))": \{[^}]*?"sha256": "[0-9a-f]{64}'
    return {**entries, "scene.json": re.sub(pattern, hash_of, entries["scene.json"])}


def tensor_bytes(entries: Entries, rng: Random) -> Entries:
    name = rng.choice([n for n in entries if n.endswith(".npy")])
    mutate = (flipped, cut, spliced)[rng.choice(3, p=[0.7, 0.15, 0.15])]
    return {**entries, name: mutate(entries[name], rng)}


def tensor_values(entries: Entries, rng: Random) -> Entries:
    """One number of an array becomes an extreme one of its type, or all of them are shuffled."""
    name = rng.choice([n for n in entries if n.endswith(".npy")])
    array = np.load(io.BytesIO(entries[name]))
    if array.size and rng.random() < 0.8:
        flat = array.reshape(-1)
        if array.dtype.kind == "f":
            limits: tuple[float, ...] = EXTREMES
        else:
            limits = np.iinfo(array.dtype).max, np.iinfo(array.dtype).min
        flat[rng.integers(flat.size)] = rng.choice(limits)
    else:
        rng.shuffle(array)
    target = io.BytesIO()
    np.save(target, array)
    return {**entries, name: target.getvalue()}


def scene_text(entries: Entries, rng: Random) -> Entries:
    text = entries["scene.json"]
    numbers = list(re.finditer(rb"-?\d+(?:\.\d+)?", text))
    chosen = numbers[rng.integers(len(numbers))]
    if rng.random() < 0.6:
        text = text[: chosen.start()] + NUMBERS[rng.integers(len(NUMBERS))] + text[chosen.end() :]
    else:
        text = (flipped, cut, spliced)[rng.integers(3)](text, rng)
    return {**entries, "scene.json": text}


def swapped_entries(entries: Entries, rng: Random) -> Entries:
    a, b = rng.choice([n for n in entries if n.endswith(".npy")], 2, replace=False)
    return {**entries, a: entries[b], b: entries[a]}


BEHIND: tuple[Callable[[Entries, Random], Entries], ...] = (
    tensor_bytes, tensor_values, tensor_values, scene_text, scene_text, swapped_entries,
)  # fmt: skip


def model_bytes(entries: Entries, rng: Random) -> Entries:
    (name,) = (n for n in entries if n.endswith(".mnn"))
    return {**entries, name: (flipped, cut, spliced)[rng.integers(3)](entries[name], rng)}


def outcome(data: bytes) -> str:
    try:
        scene = Scene(container.from_bytes(data))
    except NnrFormatError as error:
        return "refused" if error.field and error.problem else "refused without a reason"
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        try:
            splats = scene.update()
        except ModelError:
            return "refused when run"
    splats.check_values()
    return "ran"


def bases() -> list[bytes]:
    made = [
        sample.make(rings=3, subdivision=1, strands=4, bones=3),
        sample_learned.make(rings=3, per_triangle=1, bones=3, degree=1),
        sample_learned.make(rings=3, per_triangle=1, bones=3, degree=0, relit=True),
    ]
    return [container.to_bytes(*one) for one in made]


def with_model() -> bytes:
    scene, tensors = sample_learned.make(rings=3, per_triangle=1, bones=3, degree=0)
    scene["nodes"][2] = {
        "kind": "model", "inputs": ["root"], "outputs": ["coefficients"], "tensors": {},
        "attributes": {"output_shapes": [[28]], "rate": "animation"},
    }  # fmt: skip
    g = GraphBuilder([(3,)])
    network = g.build([(g.inputs[0].reshape(1, 3) @ np.ones((3, 28))).reshape(28)], [(28,)])
    kept = {name: array for name, array in tensors.items() if "/coefficients_" not in name}
    return compile_scene(scene, kept, {2: network}, measure=False).data


MANY = pytest.param(20_000, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])


@pytest.mark.parametrize("count", [400, MANY])
def test_mutated_files_are_refused_or_run(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path))
    rng = np.random.default_rng(count)
    files = bases()
    opened = [unzip(data) for data in files]
    counts: Counter[tuple[str, str]] = Counter()
    for i in range(count):
        k = rng.integers(len(files))
        if i % 2:
            mutate = (flipped, cut, spliced)[rng.integers(3)]
            name, data = f"file {mutate.__name__}", mutate(files[k], rng)
        else:
            change = BEHIND[rng.integers(len(BEHIND))]
            name, data = f"rehashed {change.__name__}", rezip(rehashed(change(opened[k], rng)))
        counts[name, outcome(data)] += 1
    # A model is first loaded in another process, which takes its time: one in 200.
    model = unzip(with_model())
    for _ in range(count // 200):
        data = rezip(rehashed(model_bytes(model, rng)))
        counts["rehashed model_bytes", outcome(data)] += 1
    report = {f"{name}: {how}": n for (name, how), n in sorted(counts.items())}
    sys.stdout.write(json.dumps(report, indent=1))
    assert {how for _, how in counts} - {"refused when run"} == {"refused", "ran"}
    assert sum(counts.values()) == count + count // 200
    # The mutations reach what lies behind the hashes: many of them are valid files.
    assert counts["rehashed tensor_values", "ran"] > count // 50
