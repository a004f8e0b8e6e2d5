"""NNR, the neural rendering runtime: executes the graph of a `.nnr` scene."""

from taoxr_runtime.nnr.errors import NnrFormatError

__all__ = ["NnrFormatError"]
