"""What tests of more than one part need."""

import asyncio
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator

import pytest
from hypothesis import settings

from taoxr.client import private_bridge

# Tests press Ctrl-C, which whatever a shell starts in the background is deaf to, and its children.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What a command prints is not broken at a width that hides the words that a test looks for.
os.environ["COLUMNS"] = "300"

# The same examples in every run, however slow the machine.
settings.register_profile("taoxr", deadline=None, derandomize=True)
settings.load_profile("taoxr")


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """An X server without a screen, 800x600, as the value of ``DISPLAY``."""
    if shutil.which("Xvfb") is None:
        pytest.fail("these tests need an X server without a screen: apt-get install xvfb")
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-nolisten", "tcp", "-screen", "0", "800x600x24", "-noreset"],
        pass_fds=[writing],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as number:
            yield f":{number.readline().strip()}"
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="session")
def real_bridge() -> Iterator[str]:
    """Target of a bridge with the real workers and models: one for all tests that leave it as it was."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    context = private_bridge()
    try:
        yield asyncio.run_coroutine_threadsafe(context.__aenter__(), loop).result(120)
    finally:
        asyncio.run_coroutine_threadsafe(context.__aexit__(None, None, None), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
