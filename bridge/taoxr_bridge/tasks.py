"""Tasks that end together."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


@asynccontextmanager
async def nursery() -> AsyncGenerator[asyncio.TaskGroup]:
    """A `TaskGroup` whose first error comes out as itself, not inside an `ExceptionGroup`."""
    try:
        async with asyncio.TaskGroup() as tasks:
            yield tasks
    except BaseExceptionGroup as group:
        raise _first(group) from None


def _first(error: BaseException) -> BaseException:
    nested: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return _first(nested[0]) if nested else error
