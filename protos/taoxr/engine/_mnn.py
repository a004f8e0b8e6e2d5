"""Imports MNN without its banner: the wheel prints to file descriptor 1 on import."""

import ctypes
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

from taoxr.engine._execstack import make_importable


@contextmanager
def stdout_to_stderr() -> Generator[None]:
    """Sends what C code writes to file descriptor 1 to stderr meanwhile.

    Process-wide: keep the body short and do not use it where another thread writes to stdout.
    """
    sys.stdout.flush()
    saved = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        ctypes.CDLL(None).fflush(None)  # C buffers stdout; what it holds must not come out later
        os.dup2(saved, 1)
        os.close(saved)


@cache
def mnn() -> Any:
    """The ``MNN`` package with ``MNN.nn`` and ``MNN.expr`` loaded.

    Never import ``MNN.tools``: it installs packages and reports home; see `convert_onnx`.
    """
    make_importable("_mnncengine")
    with stdout_to_stderr():
        engine = import_module("MNN")
        for part in ("MNN.expr", "MNN.nn"):
            import_module(part)
    return engine
