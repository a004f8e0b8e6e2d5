"""The one thread in which a worker's models run."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_END: Final = object()


class ModelThread:
    """Runs model work one step after another, and lets the event loop live between the steps.

    MNN holds the GIL during a call, so a step (one call of a function given to `run`, one ``next`` of
    a generator given to `steps`) should last 100 ms at most: meanwhile the worker answers nobody.
    Steps of several calls take turns in the order in which they were asked for.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="model")

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs one function in the model thread.

        When the caller is cancelled, a function that has not begun is dropped, and one that runs goes
        on to its end unheard.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(function, *args, **kwargs))

    async def steps(self, generator: Generator[T]) -> AsyncGenerator[T]:
        """Runs a generator step by step in the model thread and yields what it yields.

        When the caller stops early or is cancelled, the generator is closed after its current step and
        before this returns: its ``finally`` blocks see a model at rest. Use it with
        ``contextlib.aclosing``.
        """
        try:
            while True:
                item = await self.run(next, generator, _END)
                if item is _END:
                    return
                yield item  # pyright: ignore[reportReturnType]  not the end marker, so a T
        finally:
            await asyncio.shield(self.run(generator.close))
