"""The MNN engine behind types: the one place that touches the untyped ``MNN`` wheel.

`Module` (expression API; shapes may depend on data) and `Llm` (MNN-LLM, token by token) are what
model workers use; they hold the GIL during a call. `Session` (fixed shapes; releases the GIL) is what
the render process uses.
"""

from taoxr.engine.convert import convert_onnx
from taoxr.engine.llm import Llm
from taoxr.engine.module import Module, Variable
from taoxr.engine.session import Session

__all__ = ["Llm", "Module", "Session", "Variable", "convert_onnx"]
