"""The door to OpenGL: functions without PyOpenGL's conversions."""

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime.render import OffscreenRenderer, View, autotune, gl, look_at, objects, perspective
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.staging import Mapped
from taoxr_runtime.splats import Splats

pytestmark = pytest.mark.gl

TYPES = None, ctypes.c_uint32, ctypes.c_void_p


@pytest.fixture
def as_on_windows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A context whose driver, as WGL's, gives no addresses of what OpenGL 1.1 had."""
    context = Context()
    platform = gl.load("OpenGL.platform").PLATFORM
    given = platform.getExtensionProcedure
    old = (b"glGetIntegerv", b"glNoSuchThing")
    monkeypatch.setattr(platform, "getExtensionProcedure", lambda name: None if name in old else given(name))
    gl.direct.cache_clear()
    yield
    gl.direct.cache_clear()
    context.release()


@pytest.mark.usefixtures("as_on_windows")
def test_functions_of_opengl_1_1_come_from_the_library() -> None:
    values = (ctypes.c_int32 * 1)()
    gl.direct("glGetIntegerv", *TYPES)(int(gl.gl().GL_MAJOR_VERSION), ctypes.addressof(values))
    assert list(values) == [4]
    assert gl.storage_block_bytes() > 1 << 24
    with pytest.raises(UnavailableError, match="glNoSuchThing"):
        gl.direct("glNoSuchThing", *TYPES)


def test_lists_that_no_buffer_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    splats = Splats.isotropic(np.zeros((2000, 3), np.float32), 0.1, 0.5, np.ones(3, np.float32))
    view = View(look_at((0, 0, 1), (0, 0, 0)), perspective(0.8, 1.0), 256, 256)
    context = Context()
    autotune.chosen()  # which needs more
    context.release()
    monkeypatch.setattr(gl, "storage_block_bytes", lambda: 1 << 18)
    with (
        OffscreenRenderer(rasterizer="tiles", lists="gpu") as renderer,
        pytest.raises(InvalidInputError, match="264000 overlaps with tiles', expected at most 65536"),
    ):
        renderer.render(splats, [view])


@pytest.fixture(params=["as this driver needs it", "staged"])
def writes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Ways to write to buffers; they are staged where writes overtake commands."""
    context = Context()
    if request.param == "staged":
        monkeypatch.setattr(objects, "writes_overtake", lambda: True)
    yield request.param
    context.release()


def held(buffer: objects.Buffer, count: int) -> np.ndarray:
    found = np.zeros(count, np.uint32)
    buffer.read(found)
    return found


@pytest.mark.usefixtures("writes")
@pytest.mark.parametrize("count", [64, 5_000, 300_000])
def test_what_is_written_comes_after_what_was_asked_for_before(count: int) -> None:
    """NVIDIA's driver does not see to it; see `Buffer.write`."""
    for first in range(3):
        buffer, written = objects.Buffer(), np.arange(first, first + count, dtype=np.uint32) + 1
        buffer.reserve(written.nbytes)
        buffer.clear()
        buffer.write(written)
        np.testing.assert_array_equal(held(buffer, count), written)
        buffer.release()


@pytest.mark.usefixtures("writes")
@pytest.mark.parametrize("count", [64, 5_000, 30_000])
def test_each_write_is_seen_by_what_comes_between_it_and_the_next(count: int) -> None:
    """More writes in a row than the processor may be ahead by, each copied before the next comes."""
    buffer, copies = objects.Buffer(), [objects.Buffer() for _ in range(40)]
    for number, copy in enumerate(copies):
        copy.reserve(4 * count)
        buffer.write(np.full(count, number, np.uint32))
        buffer.copy_to(copy.name, 0, 4 * count)
    for number, copy in enumerate(copies):
        np.testing.assert_array_equal(held(copy, count), np.full(count, number, np.uint32))
    for made in (buffer, *copies):
        made.release()


@pytest.mark.usefixtures("writes")
def test_parts_of_all_sizes_are_written_where_they_belong() -> None:
    rng = np.random.default_rng(8)
    buffer, expected = objects.Buffer(), np.zeros(40_000, np.uint32)
    buffer.write(expected)
    for _ in range(60):
        size = int(rng.integers(0, rng.choice([8, 500, 30_000])))
        first = int(rng.integers(0, len(expected) - size))
        expected[first : first + size] = part = rng.integers(0, 1 << 32, size, np.uint32)
        buffer.write(part, 4 * first)
    np.testing.assert_array_equal(held(buffer, len(expected)), expected)
    buffer.release()


def test_memory_that_the_driver_does_not_show_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    context = Context()
    monkeypatch.setattr(gl.gl(), "glMapNamedBufferRange", lambda *_: None)
    with pytest.raises(gl.GlError, match="shows no 64 bytes"):
        Mapped(64, reads=False)
    context.release()
