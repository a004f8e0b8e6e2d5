"""The node kinds of the format."""

from typing import Final

from taoxr_runtime.nnr.nodes.base import Node, Reader
from taoxr_runtime.nnr.nodes.binding import Binding
from taoxr_runtime.nnr.nodes.blendshapes import Blendshapes
from taoxr_runtime.nnr.nodes.cloud import Cloud
from taoxr_runtime.nnr.nodes.coefficients import Coefficients
from taoxr_runtime.nnr.nodes.color import Color
from taoxr_runtime.nnr.nodes.deformer import Deformer
from taoxr_runtime.nnr.nodes.field import Field
from taoxr_runtime.nnr.nodes.model import Model
from taoxr_runtime.nnr.nodes.sh_color import ShColor
from taoxr_runtime.nnr.nodes.skinning import Skinning
from taoxr_runtime.nnr.nodes.sort import Sort
from taoxr_runtime.nnr.nodes.splats import Constants

_CLASSES: Final[tuple[type[Node], ...]] = (
    Field, Coefficients, Blendshapes, Skinning, Binding, Deformer, Color, ShColor, Constants, Cloud, Sort,
    Model,
)  # fmt: skip
KINDS: Final[dict[str, type[Node]]] = {cls.kind: cls for cls in _CLASSES}

__all__ = ["KINDS", "Node", "Reader"]
