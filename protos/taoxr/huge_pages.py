"""Large pages of memory for processes that run models.

Writing a token reads all weights of a language model. In pages of 4 KiB every few microseconds end in a
look-up of the next page's place; in pages of 2 MiB hardly any do, and a token takes a fifth less time
(measured, see docs/benchmarks.md). Linux mostly gives such pages only to who asks for them (``madvise``),
and glibc asks from version 2.35 on if its tunable ``glibc.malloc.hugetlb`` says so, which counts at the start
of a process. Elsewhere the variable means nothing.
"""

import multiprocessing
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Final, ParamSpec, TypeVar

_VARIABLE: Final = "GLIBC_TUNABLES"
_TUNABLE: Final = "glibc.malloc.hugetlb"

P = ParamSpec("P")
R = TypeVar("R")


def environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment for a new process that runs models.

    Args:
        base: What else it holds; by default this process's own. A choice made there stays.
    """
    made = dict(os.environ if base is None else base)
    tunables = made.get(_VARIABLE, "")
    if _TUNABLE not in tunables:
        made[_VARIABLE] = ":".join(filter(None, (tunables, f"{_TUNABLE}=1")))
    return made


def run(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Runs a function in a process of its own that has such memory; all must be picklable."""
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = environment()[_VARIABLE]
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            return pool.submit(function, *args, **kwargs).result()
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before
