"""The splat renderer: views, an OpenGL renderer that needs no display, and its NumPy reference."""

from taoxr_runtime.render.camera import View, look_at, perspective, perspective_from_angles
from taoxr_runtime.render.offscreen import OffscreenRenderer

__all__ = ["OffscreenRenderer", "View", "look_at", "perspective", "perspective_from_angles"]
