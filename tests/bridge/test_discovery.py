"""Bridges that announce themselves, and who finds them; real processes, real multicast."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import AsyncExitStack

import pytest
import trustme

from taoxr import __version__
from taoxr.client import connect, private_bridge
from taoxr.discovery import FoundServer, announce, find_servers
from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_bridge.access import check_announcement
from taoxr_bridge.settings import Settings

pytestmark = pytest.mark.process

ANNOUNCED = Settings(announce=True, announce_loopback=True)


async def servers(*arguments: str) -> tuple[int, list[dict[str, object]]]:
    """Exit status and output of `taoxr servers --json`."""
    command = [sys.executable, "-c", "from taoxr.client.cli_servers import app; app()", "--json", *arguments]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    out, _ = await process.communicate()
    return process.returncode, json.loads(out)


async def until_found(target: str) -> dict[str, object]:
    """What is found at a target; the network may take a moment."""
    async with asyncio.timeout(60):
        while True:
            _, found = await servers("--seconds", "1")
            if here := [f for f in found if f["target"] == target]:
                return here[0]


async def test_a_bridge_is_found_and_gone(fake_workers, tmp_path):
    async with fake_workers() as fakes, AsyncExitStack() as running:
        workers = [f"--worker={role}={target}" for role, target in fakes.targets.items()]
        authority = trustme.CA()
        issued = authority.issue_cert("127.0.0.1")
        issued.private_key_pem.write_to_path(tmp_path / "key.pem")
        issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        tls = [f"--tls-cert={tmp_path / 'cert.pem'}", f"--tls-key={tmp_path / 'key.pem'}"]
        target = await running.enter_async_context(
            private_bridge(arguments=[*workers, *tls, "--announce-loopback"])
        )
        found = await until_found(target)
        assert (found["version"], found["tls"]) == (__version__, True)
        assert str(found["name"]).endswith(target.rpartition(":")[2])
        async with connect(str(found["target"]), tls_ca=tmp_path / "ca.pem") as client:
            assert (await client.server_info()).version == __version__
        await running.aclose()
        status, left = await servers("--seconds", "1")
        assert target not in [f["target"] for f in left]
        assert status == (0 if left else 1)


async def test_two_on_one_machine_are_told_apart():
    async with (
        announce("127.0.0.1", 4321, tls=False) as first,
        announce("127.0.0.1", 4322, tls=True) as second,
    ):
        found: dict[str, FoundServer] = {}
        async with asyncio.timeout(60):  # the network may take a moment
            while not found.keys() >= {first, second}:
                found = {f.name: f for f in await find_servers(1.0)}
    assert found[first] == FoundServer(first, "127.0.0.1:4321", __version__, tls=False)
    assert found[second] == FoundServer(second, "127.0.0.1:4322", __version__, tls=True)


def test_what_only_this_machine_reaches_is_not_announced():
    with pytest.raises(InvalidInputError, match="--announce-loopback"):
        check_announcement(Settings(announce=True))
    check_announcement(Settings(announce=True, host="192.0.2.7"))
    check_announcement(ANNOUNCED)
    assert not Settings().announce


async def test_a_name_cannot_be_announced():
    with pytest.raises(InvalidInputError, match="--host"):
        async with announce("example.org", 1, tls=False):
            pass


async def test_the_package_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "zeroconf", None)
    for wanted in (find_servers(), asyncio.to_thread(check_announcement, ANNOUNCED)):
        with pytest.raises(UnavailableError, match=r"pip install 'taoxr\[discovery\]'"):
            await wanted


def test_the_package_is_imported_only_when_wanted():
    code = "import sys, taoxr_bridge.cli, taoxr.client.cli_servers; sys.exit('zeroconf' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ, check=False).returncode == 0
