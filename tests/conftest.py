"""What tests of more than one part need."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Tests press Ctrl-C, which whatever a shell starts in the background is deaf to, and its children.
signal.signal(signal.SIGINT, signal.default_int_handler)

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
