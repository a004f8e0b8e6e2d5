"""Between the processor's memory and the GPU's, in the order of commands: fences and staged writes."""

from __future__ import annotations

import ctypes
from typing import Any, Final

from numpy.typing import NDArray

from taoxr_runtime.render.gl import GlError, check, direct, gl

_SMALL: Final = 1 << 16
"""Bytes up to which room for a write is kept."""
_HALF: Final = 8
"""Writes to one buffer between fences."""
_COPY: Final = (ctypes.c_uint32, ctypes.c_uint32, *[ctypes.c_ssize_t] * 3)
_PATIENCE_NS: Final = 1_000_000_000


class Fence:
    """Tells whether the GPU has done what it was asked for until then."""

    def __init__(self) -> None:
        self._sync: int | None = None

    @property
    def is_set(self) -> bool:
        """Whether it was set, and not yet found to be passed."""
        return self._sync is not None

    def set(self) -> None:
        """Put it behind all commands so far."""
        self.release()
        # PyOpenGL's fences are cyclic garbage, of which a frame loop shall make none.
        fence = direct("glFenceSync", ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
        self._sync = fence(int(gl().GL_SYNC_GPU_COMMANDS_COMPLETE), 0)

    def passed(self, wait: bool = False) -> bool:
        """Whether the GPU is past it, as it is where none is set; with ``wait``, however long that takes.

        Raises:
            GlError: The driver failed.
        """
        if self._sync is None:
            return True
        g = gl()
        flags, patience = (int(g.GL_SYNC_FLUSH_COMMANDS_BIT), _PATIENCE_NS) if wait else (0, 0)
        ask = direct("glClientWaitSync", ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64)
        while (state := ask(self._sync, flags, patience)) not in (
            g.GL_ALREADY_SIGNALED,
            g.GL_CONDITION_SATISFIED,
        ):
            if state == g.GL_WAIT_FAILED:
                raise GlError("OpenGL cannot say when the GPU is done")
            if not wait:
                return False
        self.release()
        return True

    def release(self) -> None:
        """Delete it."""
        if self._sync is not None:
            direct("glDeleteSync", None, ctypes.c_void_p)(self._sync)
            self._sync = None


class Mapped:
    """A buffer object whose memory the processor sees.

    Args:
        size: Bytes.
        reads: Whether the processor reads what the GPU has written; else it writes.

    Raises:
        GlError: The driver has no such memory, or the context is lost.
    """

    def __init__(self, size: int, *, reads: bool) -> None:
        g = gl()
        made = ctypes.c_uint32()
        g.glCreateBuffers(1, ctypes.byref(made))
        access = g.GL_MAP_READ_BIT if reads else g.GL_MAP_WRITE_BIT
        access |= g.GL_MAP_PERSISTENT_BIT | g.GL_MAP_COHERENT_BIT
        g.glNamedBufferStorage(made.value, size, None, access)
        self.name, self.size = int(made.value), size
        address: int | None = g.glMapNamedBufferRange(self.name, 0, size, access)
        if not address:
            check("map")
            raise GlError(f"the driver shows no {size} bytes of its memory")
        self.address = address

    def release(self) -> None:
        """Delete it."""
        if self.name:
            gl().glDeleteBuffers(1, [self.name])
            self.name = 0


class Staging:
    """Writes to one buffer as commands of the GPU: it copies from memory that the processor has filled.

    That memory has room for 16 writes and two fences, one for each half: a fence for each write made NVIDIA's
    driver begin each frame early, and the GPU wait for the rest of it.
    """

    def __init__(self) -> None:
        self._room: Mapped | None = None
        self._fences = Fence(), Fence()
        self._next = self._size = 0

    def write(self, data: NDArray[Any], name: int, offset: int) -> None:
        """Put a contiguous array into a buffer object, from byte ``offset`` on."""
        if data.nbytes > _SMALL:
            _write_once(data, name, offset)
            return
        if self._room is None or data.nbytes > self._size:
            self.release()
            self._size = max(data.nbytes, 16)
            self._room = Mapped(2 * _HALF * self._size, reads=False)
        half, place = divmod(self._next, _HALF)
        if place == 0:
            self._fences[half].passed(wait=True)
        begin = self._next * self._size
        ctypes.memmove(self._room.address + begin, data.ctypes.data, data.nbytes)
        direct("glCopyNamedBufferSubData", None, *_COPY)(self._room.name, name, begin, offset, data.nbytes)
        if place == _HALF - 1:
            self._fences[half].set()
        self._next = (self._next + 1) % (2 * _HALF)

    def release(self) -> None:
        """Delete what it holds; copies under way are finished nevertheless."""
        if self._room is not None:
            self._room.release()
        for fence in self._fences:
            fence.release()
        self._room = None
        self._next = self._size = 0


def _write_once(data: NDArray[Any], name: int, offset: int) -> None:
    """Through a buffer that the driver deletes when the copy is done."""
    g = gl()
    made = ctypes.c_uint32()
    g.glCreateBuffers(1, ctypes.byref(made))
    g.glNamedBufferStorage(made.value, data.nbytes, ctypes.c_void_p(data.ctypes.data), 0)
    direct("glCopyNamedBufferSubData", None, *_COPY)(made.value, name, 0, offset, data.nbytes)
    g.glDeleteBuffers(1, [made.value])
