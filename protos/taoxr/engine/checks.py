"""Check of the engine for ``taoxr doctor``."""

from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import numpy as np

from taoxr.doctor import Entry, fail, ok
from taoxr.engine._mnn import mnn
from taoxr.engine.backends import BACKENDS, has_backend
from taoxr.paths import cache_dir


def checks() -> Iterator[Entry]:
    """MNN loads, calculates right, and has which back ends."""
    try:
        M = mnn()
        import _mnncengine  # what MNN's package wraps; tells which file was loaded
    except (ImportError, OSError) as error:
        hint = f"{_reinstall()}; {cache_dir()} must be writable"
        yield fail("MNN", f"does not load: {error}", hint)
        return
    library: Any = _mnncengine
    patched = Path(library.__file__).is_relative_to(cache_dir())
    copy = ", from the copy without an executable stack" if patched else ""
    values = np.arange(4, dtype=np.float32)
    squares = np.array(M.expr.square(M.expr.const(values, [4], M.expr.NCHW)).read(), copy=True)
    if not np.array_equal(squares, values**2):
        hint = f"{_reinstall()}; if it stays so, report your processor"
        yield fail("MNN", f"{M.version()} loads, but squares {values} to {squares}", hint)
        return
    there = [name for name in BACKENDS if has_backend(name)]
    yield ok("MNN", f"{M.version()}{copy}; back ends: {', '.join(there)}; models run on the CPU")


def _reinstall() -> str:
    (need,) = (text for text in requires("taoxr") or () if text.lower().startswith("mnn"))
    return f"pip install --force-reinstall --no-deps {need}"
