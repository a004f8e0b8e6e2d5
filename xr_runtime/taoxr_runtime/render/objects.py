"""What lives on the GPU: programs, buffers, vertex arrays, clocks."""

from __future__ import annotations

import ctypes
import re
from array import array
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render.gl import GlError, direct, gl, writes_overtake
from taoxr_runtime.render.staging import Fence, Mapped, Staging

_STORAGE_BUFFER = 0x90D2  # GL_SHADER_STORAGE_BUFFER
_BIND = ctypes.c_uint32, ctypes.c_uint32, ctypes.c_int32, ctypes.c_void_p
_TRANSFER = ctypes.c_uint32, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_void_p
_ELEMENTS = ctypes.c_uint32, ctypes.c_int32, ctypes.c_uint32, ctypes.c_void_p
_INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)


class VertexArray:
    """A vertex array without attributes: the shader finds its data by the number of instance or corner."""

    def __init__(self) -> None:
        name = ctypes.c_uint32()
        gl().glCreateVertexArrays(1, ctypes.byref(name))
        self._name = int(name.value)

    def draw_triangles(self, instances: int = 1) -> None:
        """Draw one triangle for each instance with the current program."""
        g = gl()
        if instances:
            g.glBindVertexArray(self._name)
            g.glDrawArraysInstanced(g.GL_TRIANGLES, 0, 3, instances)

    def draw_indexed(self, corners: Buffer, count: int) -> None:
        """Draw triangles with the current program, which gets for each of ``count`` corners its uint32."""
        g = gl()
        g.glVertexArrayElementBuffer(self._name, corners.name)
        g.glBindVertexArray(self._name)
        draw = direct("glDrawElements", None, *_ELEMENTS)
        draw(int(g.GL_TRIANGLES), count, int(g.GL_UNSIGNED_INT), None)

    def release(self) -> None:
        """Delete it."""
        if self._name:
            gl().glDeleteVertexArrays(1, [self._name])
            self._name = 0


class Buffer:
    """A buffer object that grows as needed; its contents are undefined until written.

    NVIDIA's driver (580, an H200) lets glNamedBufferSubData overtake commands that use the same buffer, even
    if they were flushed, which OpenGL does not allow. There `write` lets the GPU copy, which keeps the order.
    """

    def __init__(self) -> None:
        self._name = 0
        self.size = 0
        self._staging = Staging()

    def reserve(self, size: int) -> None:
        """Make room for ``size`` bytes; growing loses the contents."""
        if size > self.size:
            self.release()
            g = gl()
            name = ctypes.c_uint32()
            g.glCreateBuffers(1, ctypes.byref(name))
            self._name, self.size = int(name.value), size
            g.glNamedBufferStorage(self._name, size, None, g.GL_DYNAMIC_STORAGE_BIT)

    def write(self, data: NDArray[Any], offset: int = 0) -> None:
        """Replace ``data.nbytes`` bytes from byte ``offset`` on; growing loses the others."""
        self.reserve(max(offset + data.nbytes, 16))
        contiguous = np.ascontiguousarray(data)
        if writes_overtake():
            if contiguous.nbytes:
                self._staging.write(contiguous, self._name, offset)
            return
        send = direct("glNamedBufferSubData", None, *_TRANSFER)
        send(self._name, offset, contiguous.nbytes, contiguous.ctypes.data)

    def read(self, data: NDArray[Any], offset: int = 0) -> None:
        """Wait for what was asked for and fill a contiguous array with what lies from byte ``offset`` on."""
        fetch = direct("glGetNamedBufferSubData", None, *_TRANSFER)
        fetch(self._name, offset, data.nbytes, data.ctypes.data)

    def bind_storage(self, binding: int, offset: int = 0, size: int | None = None) -> None:
        """Bind as the shader storage buffer of this number: ``size`` bytes from a multiple of 256 on."""
        g = gl()
        size = self.size - offset if size is None else size
        g.glBindBufferRange(g.GL_SHADER_STORAGE_BUFFER, binding, self._name, offset, size)

    def copy_to(self, name: int, offset: int, size: int) -> None:
        """Copy ``size`` bytes from ``offset`` on to the start of another buffer object."""
        gl().glCopyNamedBufferSubData(self._name, name, offset, 0, size)

    def clear(self) -> None:
        """Fill it with zeros."""
        g = gl()
        fill = direct("glClearNamedBufferData", None, *[ctypes.c_uint32] * 4, ctypes.c_void_p)
        fill(self._name, int(g.GL_R32UI), int(g.GL_RED_INTEGER), int(g.GL_UNSIGNED_INT), None)

    def bind_indirect(self) -> None:
        """Take the sizes of indirect dispatches from it."""
        g = gl()
        g.glBindBuffer(g.GL_DISPATCH_INDIRECT_BUFFER, self._name)

    @property
    def name(self) -> int:
        """OpenGL's, 0 before the first use."""
        return self._name

    def release(self) -> None:
        """Delete the buffer object."""
        if self._name:
            gl().glDeleteBuffers(1, [self._name])
            self._name = self.size = 0
            self._staging.release()


class Mailbox:
    """Brings words from the GPU without waiting for it: a copy that can be read once a fence has passed."""

    def __init__(self, words: int) -> None:
        self._held, self._fence = Mapped(4 * words, reads=True), Fence()
        self._words = (ctypes.c_uint32 * words).from_address(self._held.address)

    def send(self, buffer: Buffer, offset: int) -> None:
        """Ask for the words from byte ``offset`` of a buffer on, unless others are still under way."""
        if not self._fence.is_set:
            g = gl()
            buffer.copy_to(self._held.name, offset, self._held.size)
            g.glMemoryBarrier(g.GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT)
            self._fence.set()

    def receive(self, wait: bool = False) -> list[int] | None:
        """The words, if they have come; waiting for them, however long it takes, if need be.

        Raises:
            GlError: The driver failed.
        """
        return list(self._words) if self._fence.is_set and self._fence.passed(wait) else None

    def release(self) -> None:
        """Delete it."""
        self._fence.release()
        self._held.release()


class GpuClock:
    """Milliseconds that the GPU takes for each named pass, by its own timestamps; reading waits for it."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._marks: list[tuple[str, int]] = []

    def mark(self, name: str) -> None:
        """A pass of this name ends here; the first mark of a frame only begins."""
        g = gl()
        if not self._free:
            made = (ctypes.c_uint32 * 32)()
            g.glCreateQueries(g.GL_TIMESTAMP, 32, made)
            self._free.extend(made)
        query = self._free.pop()
        g.glQueryCounter(query, g.GL_TIMESTAMP)
        self._marks.append((name, query))

    def read(self) -> dict[str, float]:
        """Milliseconds by pass since the last call, passes of one name summed."""
        g = gl()
        passes: dict[str, float] = {}
        before: int | None = None
        for name, query in self._marks:
            value = ctypes.c_uint64()
            g.glGetQueryObjectui64v(query, g.GL_QUERY_RESULT, ctypes.byref(value))
            if before is not None:
                passes[name] = passes.get(name, 0.0) + (value.value - before) / 1e6
            before = value.value
            self._free.append(query)
        self._marks.clear()
        return passes

    def release(self) -> None:
        """Delete its queries."""
        self.read()
        if self._free:
            gl().glDeleteQueries(len(self._free), self._free)
            self._free.clear()


class Program:
    """A linked program, from files in ``render/shaders``.

    Args:
        files: Names; the suffix tells the kind of shader.
        defines: Numbers that the preprocessor puts in place of names.
        extensions: What the shaders cannot do without, such as ``GL_KHR_shader_subgroup_ballot``.

    Raises:
        GlError: A shader does not compile or link; holds the driver's log.
    """

    def __init__(
        self, *files: str, defines: Mapping[str, int] | None = None, extensions: Sequence[str] = ()
    ) -> None:
        g = gl()
        kinds = {
            "vert": g.GL_VERTEX_SHADER,
            "frag": g.GL_FRAGMENT_SHADER,
            "comp": g.GL_COMPUTE_SHADER,
        }
        self._name = int(g.glCreateProgram())
        self._uniforms: dict[str, int] = {}
        self._values: dict[str, tuple[float, ...]] = {}
        shaders: list[int] = []
        header = "".join(f"#extension {name} : require\n" for name in extensions)
        header += "".join(f"#define {name} {value}\n" for name, value in (defines or {}).items())
        for file in files:
            shader = int(g.glCreateShader(kinds[file.rsplit(".", 1)[1]]))
            version, code = _source(file).split("\n", 1)
            g.glShaderSource(shader, f"{version}\n{header}{code}")
            g.glCompileShader(shader)
            if not g.glGetShaderiv(shader, g.GL_COMPILE_STATUS):
                raise GlError(f"shader {file}: {_text(g.glGetShaderInfoLog(shader))}")
            g.glAttachShader(self._name, shader)
            shaders.append(shader)
        g.glLinkProgram(self._name)
        if not g.glGetProgramiv(self._name, g.GL_LINK_STATUS):
            raise GlError(f"program {' + '.join(files)}: {_text(g.glGetProgramInfoLog(self._name))}")
        for shader in shaders:
            g.glDetachShader(self._name, shader)
            g.glDeleteShader(shader)

    def use(self) -> None:
        """Make it the current program."""
        gl().glUseProgram(self._name)

    def set(self, uniform: str, *values: float) -> None:
        """Set a float, vec2, vec3 or vec4 by 1 to 4 numbers."""
        if self._differs(uniform, values):
            function = getattr(gl(), f"glProgramUniform{len(values)}f")
            function(self._name, self._location(uniform), *values)

    def set_uint(self, uniform: str, value: int) -> None:
        """Set an unsigned integer."""
        if self._differs(uniform, (value,)):
            gl().glProgramUniform1ui(self._name, self._location(uniform), value)

    def set_uints(self, uniform: str, x: int, y: int, z: int) -> None:
        """Set a uvec3."""
        if self._differs(uniform, (x, y, z)):
            gl().glProgramUniform3ui(self._name, self._location(uniform), x, y, z)

    def set_ints(self, uniform: str, *values: int) -> None:
        """Set an int or ivec2."""
        if self._differs(uniform, values):
            function = getattr(gl(), f"glProgramUniform{len(values)}i")
            function(self._name, self._location(uniform), *values)

    def set_matrix(self, uniform: str, matrix: NDArray[np.float64]) -> None:
        """Set a mat4 from a row-major array [4, 4]."""
        rows = np.ascontiguousarray(matrix, np.float32)
        if self._differs(uniform, (*rows.ravel().tolist(),)):
            types = ctypes.c_uint32, ctypes.c_int32, ctypes.c_int32, ctypes.c_ubyte, ctypes.c_void_p
            send = direct("glProgramUniformMatrix4fv", None, *types)
            send(self._name, self._location(uniform), 1, 1, rows.ctypes.data)  # 1: rows come first

    def release(self) -> None:
        """Delete the program."""
        if self._name:
            gl().glDeleteProgram(self._name)
            self._name = 0

    def _differs(self, uniform: str, values: tuple[float, ...]) -> bool:
        """Whether the program holds another value; a call to the driver costs more than the comparison."""
        if self._values.get(uniform) == values:
            return False
        self._values[uniform] = values
        return True

    def _location(self, uniform: str) -> int:
        if uniform not in self._uniforms:
            self._uniforms[uniform] = int(gl().glGetUniformLocation(self._name, uniform))
        return self._uniforms[uniform]


def _source(file: str) -> str:
    folder = resources.files("taoxr_runtime.render") / "shaders"
    text = (folder / file).read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda included: _source(included[1]), text)


def _text(log: bytes | str) -> str:
    return (log.decode(errors="replace") if isinstance(log, bytes) else log).strip()


def bind_storage(first: int, *buffers: Buffer) -> None:
    """Bind whole buffers as the shader storage buffers of this number and those after it, in one call."""
    names = array("I", [buffer.name for buffer in buffers])
    bind = direct("glBindBuffersBase", None, *_BIND)
    bind(_STORAGE_BUFFER, first, len(names), names.buffer_info()[0])


def dispatch_indirect(offset: int) -> None:
    """As ``gl.dispatch``, with the numbers of groups (x, y, z as uint32) from the buffer bound for that."""
    g = gl()
    g.glDispatchComputeIndirect(offset)
    g.glMemoryBarrier(g.GL_ALL_BARRIER_BITS)
