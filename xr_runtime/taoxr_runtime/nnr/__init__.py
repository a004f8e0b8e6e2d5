"""NNR, the neural rendering runtime: executes the graph of a `.nnr` scene.

>>> scene = nnr.load("avatar.nnr")
>>> scene.set("expression", expression)
>>> splats = scene.update()
"""

from taoxr_runtime.nnr.errors import NnrFormatError
from taoxr_runtime.nnr.scene import NodeRun, Scene, load

__all__ = ["NnrFormatError", "NodeRun", "Scene", "load"]
