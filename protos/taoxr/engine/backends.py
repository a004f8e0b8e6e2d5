"""Which of MNN's back ends the installed wheel has."""

from typing import Any, Final

from taoxr.engine._mnn import mnn

# The names that MNN's runtime configuration knows.
BACKENDS: Final = ("CPU", "CUDA", "OPENCL", "OPENGL", "VULKAN", "METAL", "TRT")


def has_backend(name: str) -> bool:
    """Whether models can run there; the engine itself falls back to the CPU without an error.

    Args:
        name: As MNN spells it, in any case; one that it does not know is not there.
    """
    if name.upper() not in BACKENDS:
        return False
    M: Any = mnn()
    # One runtime per configuration; the second value tells for each whether it is what was asked for.
    _, exact = M.Interpreter.createRuntime(({"backend": name.upper(), "numThread": 1},))
    return bool(exact[0])
