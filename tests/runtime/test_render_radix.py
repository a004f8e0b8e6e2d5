"""The GPU's sort against NumPy's: the same permutation, whatever the keys."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from taoxr_runtime.render import autotune, gl, objects
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.radix import Count, Plan, RadixSort, subgroup_size

pytestmark = pytest.mark.gl


@pytest.fixture(scope="module", autouse=True)
def context() -> Iterator[None]:
    opened = Context()
    yield
    opened.release()


def plans() -> list[Plan]:
    """Those that this driver may choose from, and others that it can run."""
    size = subgroup_size()
    own = [Plan(6, 128, 12, size)] if size else []
    return [*autotune.plans(), Plan(), Plan(5, 64, 4), Plan(2, 128, 16), *own]


def keys_of(kind: str, count: int) -> np.ndarray:
    rng = np.random.default_rng(count)
    match kind:
        case "random":
            return rng.integers(0, 1 << 32, count, np.uint32)
        case "sorted":
            return np.arange(count, dtype=np.uint32) * np.uint32(7)
        case "reversed":
            return np.arange(count, 0, -1).astype(np.uint32)
        case "equal":
            return np.full(count, 0xDEADBEEF, np.uint32)
        case "one digit":  # every key of a block has the same digit but in one pass
            return (rng.integers(0, 3, count) << 13).astype(np.uint32)
        case _:  # the ends of the range, in turns
            return np.where(np.arange(count) % 2, 0, 0xFFFFFFFF).astype(np.uint32)


def sorted_on_gpu(
    keys: np.ndarray, plan: Plan | None = None, bits: int = 32
) -> tuple[np.ndarray, np.ndarray]:
    sorter, count = RadixSort(plan), Count()
    buffers = objects.Buffer(), objects.Buffer()
    try:
        count.set(len(keys), sorter.plan.block)
        for buffer, data in zip(buffers, (keys, np.arange(len(keys), dtype=np.uint32)), strict=True):
            buffer.write(data)
        result = np.empty_like(keys), np.empty_like(keys)
        for buffer, data in zip(sorter.sort(*buffers, count, len(keys), bits), result, strict=True):
            if data.size:
                buffer.read(data)
        gl.check("sort")
        return result
    finally:
        for thing in (sorter, count, *buffers):
            thing.release()


def check(keys: np.ndarray, plan: Plan | None = None, bits: int = 32) -> None:
    got_keys, got_values = sorted_on_gpu(keys, plan, bits)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(got_values, order)
    np.testing.assert_array_equal(got_keys, keys[order])


@pytest.mark.parametrize("kind", ["random", "sorted", "reversed", "equal", "one digit", "extremes"])
def test_sorts_as_numpy_does(kind: str) -> None:
    for count in (0, 1, 2, 31, 2047, 2048, 2049, 30_011):
        check(keys_of(kind, count))


def test_every_plan_gives_the_same() -> None:
    for plan in plans():
        check(keys_of("random", 10_007), plan)


def test_sorts_by_as_many_bits_as_are_asked_for() -> None:
    keys = keys_of("random", 5000)
    for bits in (4, 8, 13, 16):
        check(keys & np.uint32((1 << bits) - 1), bits=bits)


def test_takes_the_count_from_the_gpu() -> None:
    keys = keys_of("random", 9000)
    sorter, count, buffers = RadixSort(), Count(), (objects.Buffer(), objects.Buffer())
    buffers[0].write(keys)
    buffers[1].write(np.arange(9000, dtype=np.uint32))
    count.set(4321, sorter.plan.block)  # of a buffer with room for more
    values = np.empty(4321, np.uint32)
    sorter.sort(*buffers, count, 9000)[1].read(values)
    np.testing.assert_array_equal(values, np.argsort(keys[:4321], kind="stable"))
    for thing in (sorter, count, *buffers):
        thing.release()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["random", "sorted", "reversed", "equal", "one digit", "extremes"])
def test_sorts_two_million(kind: str) -> None:
    for count in (262_144, 2_000_000):
        check(keys_of(kind, count))


def test_refuses_a_plan_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match="plan"):
        dataclasses.replace(Plan(), digit_bits=9)
