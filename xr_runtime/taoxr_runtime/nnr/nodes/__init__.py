"""The node kinds of the format."""

from typing import Final

from taoxr_runtime.nnr.nodes.base import Node, Reader
from taoxr_runtime.nnr.nodes.binding import Binding
from taoxr_runtime.nnr.nodes.blendshapes import Blendshapes
from taoxr_runtime.nnr.nodes.color import Color
from taoxr_runtime.nnr.nodes.skinning import Skinning
from taoxr_runtime.nnr.nodes.sort import Sort
from taoxr_runtime.nnr.nodes.splats import Constants

KINDS: Final[dict[str, type[Node]]] = {
    cls.kind: cls for cls in (Blendshapes, Skinning, Binding, Color, Constants, Sort)
}

__all__ = ["KINDS", "Node", "Reader"]
