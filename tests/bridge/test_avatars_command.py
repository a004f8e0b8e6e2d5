"""`taoxr avatars`: lists, shows and downloads, also when the connection is cut in the middle."""

import asyncio
import hashlib
import io
import json
import signal
import subprocess
import sys
import zipfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from taoxr import arkit
from taoxr.client import connect
from taoxr.client.cli_avatars import app
from taoxr.errors import InvalidInputError, NotFoundError, TaoxrError, UnavailableError

pytestmark = pytest.mark.process

SIZE = 6_000_000


@pytest.fixture(scope="module")
def avatar() -> bytes:
    """A file of over `SIZE` bytes that nobody can guess or shrink."""
    eyes = {"left": "eye.L", "right": "eye.R"}
    place = (0, 1.6, 0.1)
    rig = {
        "space": "arkit52",
        "blendshapes": list(arkit.NAMES),
        "bones": ["root", "head", *eyes.values()],
        "eye_bones": eyes,
        "head_bone": "head",
    }
    marks = {"eye_left": place, "eye_right": place, "mouth": place, "head_center": place, "height": 1.7}
    about = {"format": "nnr", "name": "Ada", "licence": "CC0-1.0", "credits": ["somebody"]}
    scene = about | {"rig": rig, "landmarks": marks}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as container:
        container.writestr("scene.json", json.dumps(scene))
        container.writestr("tensors/x.npy", np.random.default_rng(0).bytes(SIZE))
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path, avatar: bytes) -> Path:
    folder = tmp_path / "avatars"
    folder.mkdir()
    (folder / "ada.nnr").write_bytes(avatar)
    return folder


@dataclass
class Wire:
    """A wire between client and bridge that is cut after some bytes; each cut gives the next one a length.

    Attributes:
        target: What the client connects to.
        lengths: Bytes from the bridge that each connection lets through; the last ones go on for ever.
        connections: How many there were.
        hold: Whether a wire whose bytes are used up stays open and silent instead.
    """

    target: str = ""
    lengths: list[int] = field(default_factory=list[int])
    connections: int = 0
    hold: bool = False
    used_up: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def wire_to(target: str, lengths: list[int], *, hold: bool = False) -> AsyncGenerator[Wire]:
    wire = Wire(lengths=lengths, hold=hold)
    tasks: set[asyncio.Task[None]] = set()
    host, _, port = target.rpartition(":")

    async def back(source: asyncio.StreamReader, sink: asyncio.StreamWriter, left: int | None) -> None:
        while data := await source.read(65536 if left is None else min(65536, left)):
            sink.write(data)
            await sink.drain()
            if left is not None and not (left := left - len(data)):
                wire.used_up.set()
                if wire.hold:
                    await asyncio.Event().wait()
                return

    async def forth(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        own = asyncio.current_task()
        assert own is not None
        tasks.add(own)
        left = wire.lengths.pop(0) if wire.lengths else None
        wire.connections += 1
        upper_reader, upper = await asyncio.open_connection(host, int(port))
        ways = [
            asyncio.create_task(back(upper_reader, writer, left)),
            asyncio.create_task(forth(reader, upper)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for end in (writer, upper):
                end.transport.abort()  # a cut, not a goodbye
            tasks.discard(own)

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    wire.target = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield wire
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def avatars(*arguments: str | Path) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, app, [str(a) for a in arguments])


async def test_avatars_are_listed_and_shown(fake_bridge, folder: Path, avatar: bytes):
    async with fake_bridge(avatars=folder) as (_, fakes):
        listed = await avatars("list", "--target", fakes.bridge)
        data = json.loads((await avatars("list", "--json", "--target", fakes.bridge)).stdout)
        shown = await avatars("get", "ada", "--target", fakes.bridge)
        rig = json.loads((await avatars("get", "--json", "--target", fakes.bridge)).stdout)
        missing = await avatars("get", "bob", "--target", fakes.bridge)
    assert listed.exit_code == shown.exit_code == 0
    for word in ("ada", "Ada", "CC0-1.0", "6.0 MB", "arkit52"):
        assert word in listed.stdout
    assert data[0]["sha256"] == hashlib.sha256(avatar).hexdigest()
    assert "52 coefficients (arkit52)" in shown.stdout
    assert "1.70 m" in shown.stdout
    assert rig["blendshapes"] == list(arkit.NAMES)
    assert isinstance(missing.exception, NotFoundError)


async def test_a_cut_download_goes_on_by_itself(fake_bridge, folder: Path, tmp_path: Path, avatar: bytes):
    out = tmp_path / "got.nnr"
    cuts = [1_000_000, 700_000, 100, 2_000_000]
    async with fake_bridge(avatars=folder) as (_, fakes), wire_to(fakes.bridge, cuts) as wire:
        result = await avatars("download", "ada", "-o", out, "--target", wire.target)
    assert result.exit_code == 0, (result.output, result.exception)
    assert wire.connections == 5
    assert out.read_bytes() == avatar
    assert "SHA-256 verified" in result.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["avatars", "got.nnr"]


async def test_what_was_loaded_before_the_loss_is_not_loaded_again(fake_bridge, folder: Path, tmp_path: Path):
    out = tmp_path / "got.nnr"
    async with fake_bridge(avatars=folder) as (_, fakes):
        async with wire_to(fakes.bridge, [2_000_000]) as wire, connect(wire.target) as client:
            with pytest.raises(UnavailableError):
                await client.download_avatar(out)
        [part] = tmp_path.glob(".got.nnr.*.part")
        had = part.stat().st_size
        assert 1_000_000 < had < 2_000_000
        assert not out.exists()
        seen: list[int] = []
        async with connect(fakes.bridge) as client:
            await client.download_avatar(out, on_progress=seen.append)
    assert had < seen[0] <= had + 64 * 1024
    assert seen == sorted(seen)
    assert seen[-1] == out.stat().st_size
    assert not part.exists()


async def test_ctrl_c_keeps_what_was_loaded(fake_bridge, folder: Path, tmp_path: Path, avatar: bytes):
    out = tmp_path / "got.nnr"
    command = [
        sys.executable,
        "-c",
        "from taoxr.cli import main; main()",
        "avatars",
        "download",
        "-o",
        str(out),
    ]
    async with fake_bridge(avatars=folder) as (_, fakes):
        async with wire_to(fakes.bridge, [3_000_000], hold=True) as wire:
            process = await asyncio.create_subprocess_exec(
                *command, "--target", wire.target, stderr=subprocess.PIPE
            )
            await wire.used_up.wait()
            process.send_signal(signal.SIGINT)
            _, told = await process.communicate()
        assert process.returncode == 130, told.decode()
        [part] = tmp_path.glob(".got.nnr.*.part")
        assert f"of 6.0 MB are kept in {part}; the same command goes on" in told.decode()
        assert avatar.startswith(part.read_bytes())
        result = await avatars("download", "-o", out, "--target", fakes.bridge)
        assert result.exit_code == 0
        assert "went on at" in result.stderr
        assert out.read_bytes() == avatar
        again = await avatars("download", "-o", out, "--target", fakes.bridge)
        assert again.exit_code == 0
        assert "is this avatar already" in again.stderr


async def test_a_file_is_replaced_only_by_a_complete_one(
    fake_bridge, folder: Path, tmp_path: Path, avatar: bytes
):
    out = tmp_path / "got.nnr"
    out.write_text("mine")
    async with fake_bridge(avatars=folder) as (client, fakes):
        [known] = await client.avatars()
        part = tmp_path / f".got.nnr.{known.sha256[:16]}.part"
        part.write_bytes(b"!" * 100)
        damaged = await avatars("download", "-o", out, "--target", fakes.bridge)
        assert isinstance(damaged.exception, TaoxrError)
        assert "damaged" in str(damaged.exception)
        assert out.read_text() == "mine"
        assert not part.exists()
        assert (await avatars("download", "-o", out, "--target", fakes.bridge)).exit_code == 0
    assert out.read_bytes() == avatar


async def test_wrong_arguments_are_named(fake_bridge, folder: Path, tmp_path: Path):
    async with fake_bridge(avatars=folder) as (_, fakes):
        wrong = [
            (["download", "-o", tmp_path], "--out", "not a folder"),
            (["download", "-o", tmp_path / "no" / "a.nnr"], "--out", "a folder that exists"),
            (["list", "--target", "localhost"], "--target", "HOST:PORT"),
            (["list", "--token-file", tmp_path / "none"], "--token-file", "a readable file"),
        ]
        for arguments, name, expected in wrong:
            target = [] if "--target" in arguments else ["--target", fakes.bridge]
            result = await avatars(*arguments, *target)
            assert isinstance(result.exception, InvalidInputError), result.output
            assert result.exception.field == name
            assert expected in result.exception.expected
    for arguments in (["list", "--tls-ca", "ca.pem"], ["list", "--token-file", "token"]):
        result = await avatars(*arguments)
        assert isinstance(result.exception, InvalidInputError)
        assert result.exception.expected == "--target beside it"


async def test_a_bridge_that_is_not_there_is_named():
    result = await avatars("list", "--target", "127.0.0.1:1")
    assert str(result.exception) == "no bridge answers at 127.0.0.1:1 (is `taoxr serve` running there?)"
