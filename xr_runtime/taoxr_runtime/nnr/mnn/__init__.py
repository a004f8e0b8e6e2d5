"""MNN twins of the standard nodes."""

from taoxr_runtime.nnr.mnn.kernel import MnnKernel, converted, has_twin, has_weights

__all__ = ["MnnKernel", "converted", "has_twin", "has_weights"]
