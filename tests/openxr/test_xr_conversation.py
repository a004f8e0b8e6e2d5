"""A conversation in the headset, and what is left of it when the runtime dies."""

import re
import signal
import sys
from pathlib import Path

import pytest
from monado import Monado
from output import Output

pytestmark = pytest.mark.e2e

TALKER = Path(__file__).with_name("talker.py")
QUESTIONS = ("What is the capital of France?", "And of Italy?")
"""The second makes no sense without the first."""


def test_the_conversation_outlives_the_runtime(real_bridge: str) -> None:
    with Monado() as monado:
        process = monado.start([sys.executable, TALKER, "still", real_bridge, *QUESTIONS])
        try:
            app = Output(process)
            app.wait_for(r"user='What.*' avatar='\w")
            monado.stop_service(signal.SIGKILL)  # while the avatar speaks
            app.wait_for("went away")
            monado.start_service()
            app.wait_for("connected to Monado")
            app.wait_for(r"user='And of Italy.*' avatar='.*(Rome|Italy)")
            app.wait_for("frames, ")
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()
    assert re.search(r"user='What.*' avatar='.*Paris", app.text)
    assert "trying again" not in app.text, "the bridge was lost too"
