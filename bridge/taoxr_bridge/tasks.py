"""Tasks that end together."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast


@asynccontextmanager
async def nursery() -> AsyncGenerator[asyncio.TaskGroup]:
    """A `TaskGroup` whose first error comes out as itself, not inside an `ExceptionGroup`."""
    try:
        async with asyncio.TaskGroup() as tasks:
            yield tasks
    except BaseExceptionGroup as group:
        raise _first(cast("BaseExceptionGroup[BaseException]", group)) from None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
