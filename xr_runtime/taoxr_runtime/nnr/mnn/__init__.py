"""MNN twins of the standard nodes."""

from taoxr_runtime.nnr.mnn.kernel import MnnKernel, has_twin

__all__ = ["MnnKernel", "has_twin"]
