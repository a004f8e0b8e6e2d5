"""A private Monado for tests: a real OpenXR runtime whose headset the test moves.

All clients run under Khronos' core_validation layer, whose complaints fail the test.

::

    with Monado() as monado:
        monado.remote.head = Placed(position=(0, 1.7, 0))
        monado.remote.send()
        monado.run([sys.executable, "client.py"], timeout=60)
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.paths import cache_dir

XR_EXEC: Final = cache_dir() / "monado" / "xr-exec"
SETUP: Final = Path(__file__).with_name("setup_monado.sh")
_VALIDATION: Final = {
    "XR_ENABLE_API_LAYERS": "XR_APILAYER_LUNARG_core_validation",
    "XR_CORE_VALIDATION_EXPORT_TYPE": "text",
}
_STARTED: Final = b"The Monado service has started"
_PREFIXES: Final = ("XRT_", "SIMULATED_", "P_OVERRIDE", "XR_", "DISPLAY", "WAYLAND")
_PACKET: Final = 376
_WINDOW: Final = (960, 540)
"""Size of the compositor's window with the remote driver: half of the device's screen."""


# Not `preexec_fn`: where gRPC's threads run, its fork handlers break the child before it gets to exec.
_DIES_WITH_PARENT: Final = ("setpriv", "--pdeathsig", "TERM")


class Monado:
    """The service, and the X server it shows its picture on; a context manager.

    Args:
        picture: Run the main compositor, whose window ``screenshot`` copies, at 60 Hz; else the null
            compositor, which shows nothing, at 20 Hz.

    Attributes:
        env: Environment for clients; start them through ``run`` or ``start``.
        remote: The headset and controllers.
    """

    def __init__(self, picture: bool = False) -> None:
        if not XR_EXEC.exists():
            raise RuntimeError(f"Monado is not set up: run {SETUP}")
        self._picture = picture
        self._processes: list[subprocess.Popen[bytes]] = []
        self._reports: list[Path] = []
        self.remote: Remote
        self.service: subprocess.Popen[bytes]

    def __enter__(self) -> Monado:
        # Short, for a socket's path has at most 107 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="xr", dir="/tmp"))
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(_PREFIXES)}
        self.env |= {
            "XDG_RUNTIME_DIR": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XRT_NO_STDIN": "1",
            "OXR_NO_PRINTING": "1",
        }
        try:
            self._choose_compositor()
            self._start_on_a_free_port()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if hasattr(self, "remote"):
            self.remote.close()
        for process in reversed(self._processes):
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        try:
            if kind is None:
                self.check()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def check(self) -> int:
        """Assert that the validation layer finds no fault with the clients; returns how many it saw."""
        said = [report.read_text(errors="replace") for report in self._reports if report.exists()]
        for text in said:
            assert "VALID_ERROR" not in text, text
        return sum("Core Validation Layer" in text for text in said)

    def _start_on_a_free_port(self, attempts: int = 3) -> None:
        """Start the service; again on another port when somebody took the one that was free."""
        config = self.folder / "config" / "monado" / "config_v0.json"
        config.parent.mkdir(parents=True)
        for attempt in range(1, attempts + 1):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self._port = int(free.getsockname()[1])
            remote = {"version": 0, "port": self._port, "view_count": 2}
            config.write_text(json.dumps({"active": "remote", "remote": remote}))
            try:
                self.start_service()
                return
            except ConnectionRefusedError:
                if attempt == attempts:
                    raise
                self.service.terminate()
                self.service.wait(10)

    def _choose_compositor(self) -> None:
        if not self._picture:
            self.env["XRT_COMPOSITOR_NULL"] = "1"
            return
        reading, writing = os.pipe()
        screen = ["-displayfd", str(writing), "-screen", "0", "1920x1080x24", "-nolisten", "tcp"]
        self._spawn(["Xvfb", *screen], env=self.env, pass_fds=[writing], stdout=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            self.env["DISPLAY"] = ":" + pipe.readline().strip()
        self.env["XRT_COMPOSITOR_FORCE_XCB"] = "1"

    def _spawn(self, command: Sequence[str | Path], **options: Any) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [*_DIES_WITH_PARENT, *command],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            **options,
        )
        self._processes.append(process)
        return process

    def start_service(self, timeout: float = 30) -> None:
        """Start the service and wait until it serves."""
        path = self.folder / "service.log"
        with path.open("ab") as log:
            seen = log.tell()
            self.service = self._spawn([XR_EXEC, "monado-service"], env=self.env, stdout=log)
        end = time.monotonic() + timeout
        while _STARTED not in (text := path.read_bytes()[seen:]):
            if self.service.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"Monado did not start:\n{text[-4000:].decode(errors='replace')}")
            time.sleep(0.02)
        self.remote = Remote(self._port, getattr(self, "remote", None))

    def stop_service(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End the service."""
        self.remote.close()
        self.service.send_signal(how)
        self.service.wait(10)

    def start(
        self,
        command: Sequence[str | Path],
        env: dict[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
    ) -> subprocess.Popen[str]:
        """Start a client; both its outputs come through ``stdout``."""
        self._reports.append(self.folder / f"validation-{len(self._reports)}.txt")
        checked = _VALIDATION | {"XR_CORE_VALIDATION_FILE_NAME": str(self._reports[-1])}
        return subprocess.Popen(
            [*_DIES_WITH_PARENT, XR_EXEC, *command],
            env=self.env | checked | (env or {}),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def control(self, *arguments: str) -> str:
        """Run monado-ctl, such as with "-c", which recentres; returns what it says."""
        done = subprocess.run(
            [XR_EXEC, "monado-ctl", *arguments],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        return done.stdout

    def run(
        self, command: Sequence[str | Path], timeout: float, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a client to its end."""
        process = self.start(command, env)
        try:
            output, _ = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        return subprocess.CompletedProcess(list(command), process.returncode, output)

    def screenshot(self) -> list[NDArray[np.uint8]]:
        """What the compositor shows: for the left and right eye uint8 [H, W, 3]."""
        from PIL import ImageGrab

        whole = np.asarray(ImageGrab.grab(xdisplay=self.env["DISPLAY"]).convert("RGB"))
        width, height = _WINDOW
        return [whole[:height, : width // 2], whole[:height, width // 2 : width]]


@dataclass(frozen=True, slots=True)
class Placed:
    """A pose: unit quaternion xyzw and position in metres, the floor at y = 0."""

    orientation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def pack(self) -> bytes:
        return struct.pack("<7f", *self.orientation, *self.position)


@dataclass(slots=True)
class Controller:
    """A Valve Index controller."""

    pose: Placed
    trigger: float = 0.0
    trigger_click: bool = False
    squeeze_force: float = 0.0
    a: bool = False
    b: bool = False

    def pack(self) -> bytes:
        # Velocities, curl of five fingers; trigger, squeeze, its force, stick, trackpad's force, trackpad;
        # hand tracking, active; then system, a, b, trigger, stick, trackpad: click and touch of each.
        clicks = [False] * 14
        clicks[2], clicks[4], clicks[6] = self.a, self.b, self.trigger_click
        return self.pose.pack() + struct.pack(
            "<6f5f8f16?",
            *[0.0] * 6,
            *[0.0] * 5,
            self.trigger,
            0.0,
            self.squeeze_force,
            *[0.0] * 5,
            True,
            True,
            *clicks,
        )


@dataclass(slots=True)
class EyeSetting:
    """One eye of the headset: pose in the head's frame, field of view (left, right, up, down) in radians."""

    pose: Placed
    angles: tuple[float, float, float, float]

    def pack(self) -> bytes:
        return struct.pack("<4f", *self.angles) + self.pose.pack() + bytes(4)


@dataclass(slots=True)
class _State:
    head: Placed = field(default_factory=lambda: Placed(position=(0.0, 1.6, 0.0)))
    eyes: list[EyeSetting] | None = None
    left: Controller = field(default_factory=lambda: Controller(Placed(position=(-0.2, 1.3, -0.5))))
    right: Controller = field(default_factory=lambda: Controller(Placed(position=(0.2, 1.3, -0.5))))


class Remote:
    """Monado's "remote" driver: one packet sets head, eyes and controllers (layout of Monado 25.0).

    Args:
        port: Where the driver listens.
        before: Whose state to take over.

    Attributes:
        state: Change it, then ``send``. Without ``eyes`` the device's own are used, 63 mm apart.
    """

    def __init__(self, port: int, before: Remote | None = None) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.state = before.state if before else _State()
        received = b""
        while len(received) < 2 * _PACKET:  # it begins with its reset and its latest state
            received += self._socket.recv(2 * _PACKET - len(received))
        self.send()

    def send(self) -> None:
        """Let the headset have the state."""
        state = self.state
        eyes = state.eyes or [EyeSetting(Placed(), (0, 0, 0, 0))] * 2
        packet = b"mndrmt3\0" + b"".join(eye.pack() for eye in eyes)
        packet += state.head.pack() + struct.pack("<4?", state.eyes is not None, False, False, False)
        packet += state.left.pack() + state.right.pack()
        assert len(packet) == _PACKET, len(packet)
        self._socket.sendall(packet)

    def close(self) -> None:
        self._socket.close()
