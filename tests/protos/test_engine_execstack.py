"""Copies of MNN's shared objects that ask for no executable stack."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr.engine._execstack import flags_offset, patched_copy

pytestmark = pytest.mark.unit


def engine() -> Path:
    spec = importlib.util.find_spec("_mnncengine")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def test_copy_differs_in_the_flag_only_and_loads(tmp_path: Path) -> None:
    source = engine()
    copy = patched_copy(source, tmp_path)
    assert copy is not None, "MNN's wheel no longer asks for an executable stack: drop the patch"
    before, after = source.read_bytes(), copy.read_bytes()
    different = np.flatnonzero(np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8))
    assert different.tolist() == [flags_offset(before[:4096])]
    assert flags_offset(after[:4096]) is None
    program = f"import sys; sys.path.insert(0, {str(copy.parent)!r})"
    program += "; import _mnncengine as engine; print(engine.__file__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert str(copy) in done.stdout


def test_copy_is_made_once(tmp_path: Path) -> None:
    first = patched_copy(engine(), tmp_path)
    assert first is not None
    made = first.stat().st_mtime_ns
    assert patched_copy(engine(), tmp_path) == first
    assert first.stat().st_mtime_ns == made


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    plain = tmp_path / "plain.so"
    plain.write_bytes(Path(sys.executable).resolve().read_bytes()[:4096])
    assert patched_copy(plain, tmp_path / "cache") is None


@given(st.binary(max_size=256))
def test_any_bytes_are_judged_without_an_error(head: bytes) -> None:
    assert flags_offset(b"\x7fELF\x02\x01" + head) is None or len(head) >= 58
