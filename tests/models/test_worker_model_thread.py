"""Model steps run one by one in their thread, and a cancelled caller leaves the model at rest."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import aclosing

import pytest

from taoxr_models.worker.model_thread import ModelThread

pytestmark = pytest.mark.unit


async def test_everything_runs_in_one_thread_and_in_order() -> None:
    thread = ModelThread()
    seen: list[tuple[str, int]] = []

    def work(name: str) -> Generator[int]:
        for i in range(3):
            seen.append((name, i))
            yield threading.get_ident()

    async def consume(name: str) -> set[int]:
        async with aclosing(thread.steps(work(name))) as steps:
            return {ident async for ident in steps}

    threads = set[int]().union(*await asyncio.gather(consume("a"), consume("b")))
    assert len(threads) == 1
    assert threads != {threading.get_ident()}
    # The two calls take turns.
    assert seen == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2), ("b", 2)]


async def test_cancelling_waits_for_the_step_and_closes_the_generator() -> None:
    thread = ModelThread()
    in_step, go_on = threading.Event(), threading.Event()
    log: list[str] = []

    def work() -> Generator[int]:
        try:
            yield 1
            in_step.set()
            go_on.wait(10)
            log.append("step ended")
            yield 2
            log.append("never")
        finally:
            log.append("closed")

    received: list[int] = []

    async def consume() -> None:
        async with aclosing(thread.steps(work())) as steps:
            async for i in steps:
                received.append(i)  # noqa: PERF401  a comprehension would lose what came before the cancel

    task = asyncio.create_task(consume())
    await asyncio.to_thread(in_step.wait, 10)
    task.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert received == [1]
    assert log == ["step ended", "closed"]
    assert await thread.run(lambda: "still works") == "still works"


async def test_work_that_has_not_begun_is_dropped() -> None:
    thread = ModelThread()
    go_on = threading.Event()
    ran: list[str] = []
    first = asyncio.create_task(thread.run(go_on.wait, 60))
    second = asyncio.create_task(thread.run(ran.append, "second"))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    go_on.set()
    assert await first
    await thread.run(ran.append, "third")
    assert ran == ["third"]


async def test_errors_come_through_and_end_the_steps() -> None:
    thread = ModelThread()

    def work() -> Generator[int]:
        yield 1
        raise ValueError("broken")

    async def consume() -> None:
        async with aclosing(thread.steps(work())) as steps:
            async for _ in steps:
                pass

    with pytest.raises(ValueError, match="broken"):
        await consume()
