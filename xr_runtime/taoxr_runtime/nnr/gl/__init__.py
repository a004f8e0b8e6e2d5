"""Scenes whose nodes are OpenGL compute programs: splats are made where they are drawn."""

from taoxr_runtime.nnr.gl.scene import GlScene
from taoxr_runtime.nnr.gl.stage import GlStage

__all__ = ["GlScene", "GlStage"]
