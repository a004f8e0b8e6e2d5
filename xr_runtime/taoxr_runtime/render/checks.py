"""Checks of OpenGL and of the renderer on it, for ``taoxr doctor``."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from taoxr.doctor import Entry, fail, ok, parts, warn
from taoxr.errors import UnavailableError
from taoxr_runtime.render import OffscreenRenderer, View, gl, look_at, perspective, reference
from taoxr_runtime.render.egl import Context
from taoxr_runtime.splats import Splats

# As in the parity tests.
_MIN_PSNR_DB: Final = 40.0
_SIZE: Final = 64
# None is needed; they tell what a headset's runtime can do with this driver.
_NOTABLE: Final = ("GL_EXT_memory_object_fd", "GL_EXT_semaphore_fd", "GL_OVR_multiview2")


def checks() -> Iterator[Entry]:
    """A context with OpenGL 4.5, what its driver is, and whether it draws splats right."""
    try:
        context = Context()
    except UnavailableError as error:
        yield fail("OpenGL", *parts(error))
        return
    yield _driver()
    context.release()
    try:
        psnr, rasterizer = _compare()
    except gl.GlError as error:
        yield fail("renderer", str(error), "update the graphics driver; report this if it stays")
        return
    found = f"{rasterizer}, {min(psnr, 99):.0f} dB against the reference"
    if psnr < _MIN_PSNR_DB:
        yield fail(
            "renderer", f"draws wrongly: {found}", "update the graphics driver; report this if it stays"
        )
    else:
        yield ok("renderer", found)


def _driver() -> Entry:
    """Of the current context, which is 4.5 or later, so that compute shaders and SSBOs are there."""
    g = gl.gl()
    vendor, renderer, version = (
        g.glGetString(name).decode() for name in (g.GL_VENDOR, g.GL_RENDERER, g.GL_VERSION)
    )
    notable = ", ".join(filter(gl.has_extensions, _NOTABLE)) or f"without {', '.join(_NOTABLE)}"
    found = (
        f"{vendor}: {renderer}, OpenGL {version}; "
        f"compute groups of {gl.integer(g.GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS)}, "
        f"storage buffers of {gl.storage_block_bytes() >> 20} MiB; "
        f"{gl.integer(g.GL_NUM_EXTENSIONS)} extensions, {notable}"
    )
    if gl.is_software():
        hint = "software: right for films, slow in a window or headset; install this graphics card's driver"
        return warn("OpenGL", found, hint)
    return ok("OpenGL", found)


def _compare() -> tuple[float, str]:
    """PSNR in dB of a small picture against the reference, and the rasterizer used."""
    means = np.array([[-0.2, 0, 0], [0.2, 0.1, -0.3], [0, -0.2, 0.2]], np.float32)
    splats = Splats.isotropic(means, 0.12, 0.8, np.eye(3, dtype=np.float32))
    position, target = np.array([0.0, 0.0, 1.5]), np.zeros(3)
    view = View(look_at(position, target), perspective(np.radians(40), 1.0), _SIZE, _SIZE)
    with OffscreenRenderer() as renderer:
        (picture,) = renderer.render(splats, [view])
        rasterizer = renderer.rasterizer
    error = float(np.mean((picture / 255.0 - reference.render(splats, view)) ** 2))
    return -10 * float(np.log10(max(error, 1e-12))), rasterizer
