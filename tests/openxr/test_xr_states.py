"""What becomes of the user's wishes as real sessions come and go."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from monado import Controller, Monado
from output import Output
from viewing import looking

pytestmark = pytest.mark.process

WATCHER = Path(__file__).with_name("watcher.py")


@pytest.fixture(scope="module")
def monado() -> Iterator[Monado]:
    with Monado() as running:
        yield running


def test_wishes_as_sessions_come_and_go(monado: Monado, tmp_path: Path) -> None:
    right = monado.remote.state.right
    process = monado.start([sys.executable, WATCHER])
    app = Output(process)
    try:
        app.wait_for("refresh rate .* Hz, the only one offered")
        app.wait_for("first frame")
        pull(monado, right, 1.0)
        app.wait_for("talk True")
        app.wait_for("pulse 1")  # it listens
        with looking(monado, tmp_path, size=(64, 64)):  # another app takes the picture, and with it the hands
            app.wait_for("talk False")
            app.wait_for("away True")
        app.wait_for("away False")
        pull(monado, right, 0.0)
        monado.stop_service(signal.SIGKILL)
        app.wait_for("went away")
        app.wait_for("away True")
        monado.start_service()
        app.wait_for("connected to Monado")
        app.wait_for("away False")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, app.text
    finally:
        process.kill()
        process.wait()
        pull(monado, right, 0.0)


def pull(monado: Monado, controller: Controller, trigger: float) -> None:
    controller.trigger = trigger
    monado.remote.send()


def test_a_rate_that_the_headset_lacks(monado: Monado) -> None:
    done = monado.run([sys.executable, WATCHER, "500"], timeout=120)
    assert done.returncode == 1
    assert "does not offer 500 Hz: use --refresh-rate of 20, or auto" in done.stdout
