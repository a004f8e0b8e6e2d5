"""The splat renderer: views, drawing in any OpenGL context or without a window, and its NumPy reference."""

from taoxr_runtime.render.camera import View, look_at, perspective, perspective_from_angles
from taoxr_runtime.render.offscreen import OffscreenRenderer
from taoxr_runtime.render.renderer import SplatRenderer
from taoxr_runtime.render.targets import TextureTarget, WindowTarget

__all__ = [
    "OffscreenRenderer",
    "SplatRenderer",
    "TextureTarget",
    "View",
    "WindowTarget",
    "look_at",
    "perspective",
    "perspective_from_angles",
]
