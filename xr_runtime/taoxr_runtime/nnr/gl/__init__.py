"""Scenes whose nodes are OpenGL compute programs: splats are made where they are drawn."""

from taoxr_runtime.nnr.gl.scene import GlScene

__all__ = ["GlScene"]
