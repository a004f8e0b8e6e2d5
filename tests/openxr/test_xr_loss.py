"""`taoxr xr` when the runtime dies, hangs or is not there, and when the user ends it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from monado import Monado
from output import Output

pytestmark = pytest.mark.process

PATIENCE_S = 120.0
TAOXR = ("-c", "from taoxr.cli import main; main()", "xr", "--no-conversation", "--scale", "0.25")


@contextmanager
def running(monado: Monado, *options: str) -> Iterator[Output]:
    process = monado.start([sys.executable, *TAOXR, *options])
    try:
        yield Output(process)
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def monado() -> Iterator[Monado]:
    with Monado() as service:
        yield service


def test_a_killed_runtime_is_waited_for(monado: Monado, tmp_path: Path) -> None:
    picture = tmp_path / "last.png"
    with running(monado, "--frames", "15", "--screenshot", str(picture)) as app:
        assert " in one swapchain, " in app.wait_for("connected to Monado")
        app.wait_for("first frame")
        monado.stop_service(signal.SIGKILL)
        line = app.wait_for("went away")
        assert "(in xr" in line
        assert "waiting" in line
        monado.start_service()
        app.wait_for("connected to Monado")
        app.wait_for("15 frames")
        assert app.process.wait(PATIENCE_S) == 0
    assert picture.stat().st_size > 1000


def test_ctrl_c_ends_while_waiting_for_a_killed_runtime(monado: Monado) -> None:
    with running(monado) as app:
        app.wait_for("first frame")
        monado.stop_service(signal.SIGKILL)
        app.wait_for("waiting")
        app.process.send_signal(signal.SIGINT)
        assert app.process.wait(PATIENCE_S) == 0


@pytest.mark.parametrize(("how", "raster"), [(signal.SIGINT, "quads"), (signal.SIGTERM, "tiles")])
def test_the_user_ends_it(monado: Monado, how: signal.Signals, raster: str) -> None:
    with running(monado, "--raster", raster) as app:
        app.wait_for(f"drawing {raster} with")
        app.wait_for("first frame")
        app.process.send_signal(how)
        app.wait_for("frames, ")
        assert app.process.wait(PATIENCE_S) == 0
    assert "Traceback" not in app.text


def test_a_stopped_runtime_is_reported_and_ctrl_c_works(monado: Monado) -> None:
    with running(monado) as app:
        app.wait_for("first frame")
        monado.service.send_signal(signal.SIGSTOP)
        assert "xr" in app.wait_for("does not answer")
        monado.service.send_signal(signal.SIGCONT)
        app.wait_for("answers again")
        monado.service.send_signal(signal.SIGSTOP)
        app.wait_for("does not answer")
        app.process.send_signal(signal.SIGINT)
        assert app.process.wait(PATIENCE_S) == 130
    assert "does not return from xr" in app.text


def test_no_service_running(monado: Monado) -> None:
    monado.stop_service(signal.SIGTERM)
    done = monado.run([sys.executable, *TAOXR], timeout=PATIENCE_S)
    assert done.returncode == 1
    assert "monado-service" in done.stdout
    assert "SIMULATED_ENABLE=1" in done.stdout
    assert "Traceback" not in done.stdout


HEADLESS = Path(__file__).with_name("headless.py")


def test_a_runtime_that_refuses_depth_after_all(monado: Monado) -> None:
    """Monado takes it, so its refusal is made up."""
    code = (
        "from taoxr_runtime.xr import api, link\n"
        "def refuse(*_): raise api.XrError('xrCreateSwapchain: no')\n"
        "link.DepthImages = refuse\n"
        f"{TAOXR[1]}"
    )
    done = monado.run([sys.executable, "-c", code, *TAOXR[2:]], timeout=PATIENCE_S)
    assert done.returncode == 1
    assert "takes no depth (xrCreateSwapchain: no): use --no-depth" in done.stdout
    assert "Traceback" not in done.stdout
    done = monado.run(
        [sys.executable, "-c", code, *TAOXR[2:], "--no-depth", "--frames", "2"], timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stdout


def test_no_headset_at_the_start(monado: Monado) -> None:
    done = monado.run([sys.executable, HEADLESS, "n", *TAOXR[2:]], timeout=PATIENCE_S)
    assert done.returncode == 1
    assert "sees no headset: connect it and switch it on" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_headset_that_comes_back_later_is_waited_for(monado: Monado) -> None:
    """With its runtime, but not at once: the first two answers are those of the start."""
    process = monado.start([sys.executable, HEADLESS, "yynnny", *TAOXR[2:], "--frames", "15"])
    try:
        app = Output(process)
        app.wait_for("first frame")
        monado.stop_service(signal.SIGKILL)
        app.wait_for("waiting")
        monado.start_service()
        app.wait_for("connected to Monado")
        app.wait_for("15 frames")
        assert process.wait(PATIENCE_S) == 0, app.text
    finally:
        process.kill()
        process.wait()


def test_no_runtime_installed(tmp_path: Path) -> None:
    env = os.environ | {"XR_RUNTIME_JSON": str(tmp_path / "none.json")}
    done = subprocess.run(
        [sys.executable, *TAOXR], env=env, timeout=PATIENCE_S, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "no OpenXR runtime is installed or active" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_binding_of_another_system(monado: Monado) -> None:
    done = monado.run([sys.executable, *TAOXR, "--binding", "wgl"], timeout=PATIENCE_S)
    assert done.returncode == 1
    assert "egl or glx on Linux" in done.stdout


def test_an_old_driver(monado: Monado) -> None:
    old = {"MESA_GL_VERSION_OVERRIDE": "4.1", "MESA_GLSL_VERSION_OVERRIDE": "410"}
    done = monado.run([sys.executable, *TAOXR], timeout=PATIENCE_S, env=old)
    assert done.returncode == 1
    assert "OpenGL 4.5" in done.stdout
    assert "install a GPU driver" in done.stdout
    assert "Traceback" not in done.stdout
