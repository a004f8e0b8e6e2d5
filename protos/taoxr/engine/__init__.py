"""The MNN engine behind types: the one place that touches the untyped ``MNN`` wheel.

`Module` (expression API; shapes may depend on data; holds the GIL during a call) is what model
workers use. `Session` (fixed shapes; releases the GIL) is what the render process uses.
"""

from taoxr.engine.convert import convert_onnx
from taoxr.engine.module import Module, Variable
from taoxr.engine.session import Session

__all__ = ["Module", "Session", "Variable", "convert_onnx"]
