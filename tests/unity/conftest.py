"""Compiles the Unity package and the tests' programs once; lets the tests import csharp.py and its like."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from client_runner import ClientRunner
from codec_server import CodecServer
from components import components
from csharp import RUNTIMES

if TYPE_CHECKING:
    from csharp import Runtime

# Fake workers and a bridge on them are fixtures of the bridge's own tests.
_spec = importlib.util.spec_from_file_location(
    "bridge_fixtures", Path(__file__).parents[1] / "bridge" / "conftest.py"
)
assert _spec
assert _spec.loader
_bridge = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = _bridge
_spec.loader.exec_module(_bridge)
fake_workers, fake_bridge = _bridge.fake_workers, _bridge.fake_bridge
start_bridge = _bridge.start_bridge


@pytest.fixture(scope="session")
def programs() -> Path:
    """A folder with ``RUNTIME/NAME.dll`` for the package's assemblies and the programs of ``harness``."""
    return components()


@pytest.fixture(scope="module", params=RUNTIMES)
def codec(request: pytest.FixtureRequest, programs: Path) -> Iterator[CodecServer]:
    """The codec in a process of its own, on Mono and on .NET."""
    runtime: Runtime = request.param
    with CodecServer(runtime, programs / runtime / "codec_server.dll") as server:
        yield server


@pytest.fixture(params=RUNTIMES)
def make_client(request: pytest.FixtureRequest, programs: Path) -> Callable[..., ClientRunner]:
    """``make_client(target, name=value)``: the client in a process of its own, on Mono and on .NET."""
    runtime: Runtime = request.param

    def make(target: str, **options: object) -> ClientRunner:
        return ClientRunner(runtime, programs / runtime / "client_runner.dll", target, **options)

    return make


@pytest.fixture
def voice(tmp_path: Path) -> Path:
    """A second of what a fake ear takes for speech, and silence after it; raw, 16 kHz."""
    path = tmp_path / "voice.raw"
    path.write_bytes(np.r_[np.full(16000, 1000), np.zeros(4000)].astype("<i2").tobytes())
    return path
