"""The door to OpenGL: functions without PyOpenGL's conversions."""

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime.render import OffscreenRenderer, View, gl, look_at, objects, perspective
from taoxr_runtime.render.egl import Context
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
    monkeypatch.setattr(gl, "storage_block_bytes", lambda: 1 << 18)
    with (
        OffscreenRenderer(rasterizer="tiles", lists="gpu") as renderer,
        pytest.raises(InvalidInputError, match="264000 overlaps with tiles', expected at most 65536"),
    ):
        renderer.render(splats, [view])


@pytest.mark.parametrize("count", [64, 5_000, 300_000])
def test_what_is_written_comes_after_what_was_asked_for_before(count: int) -> None:
    """NVIDIA's driver needs to be told; see `Buffer.write`."""
    context = Context()
    for first in range(3):
        buffer, written = objects.Buffer(), np.arange(first, first + count, dtype=np.uint32) + 1
        buffer.reserve(written.nbytes)
        buffer.clear()
        buffer.write(written)
        found = np.zeros_like(written)
        buffer.read(found)
        np.testing.assert_array_equal(found, written)
        buffer.release()
    context.release()
