"""The folder of the workers' sockets: one's own, and gone in the end."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from taoxr_bridge.socket_folder import socket_folder

pytestmark = pytest.mark.process

HOLD = """
from taoxr_bridge.socket_folder import socket_folder
with socket_folder() as folder:
    print(folder, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_it_is_private_and_does_not_stay(temporary: Path):
    with socket_folder() as folder:
        (folder / "llm.sock").touch()
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not list(temporary.iterdir())


def test_one_that_a_killed_process_left_is_removed_and_those_in_use_are_not(temporary: Path):
    (temporary / "taoxr-sockets-of-nobody").symlink_to(temporary / "elsewhere")
    (temporary / "elsewhere").mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        (theirs / "llm.sock").touch()
        with socket_folder() as ours:
            assert theirs.exists()
            os.kill(other.pid, signal.SIGKILL)
            other.wait()
            with socket_folder():
                assert not theirs.exists()
                assert ours.exists()
    # Not a folder, so not one of ours.
    assert (temporary / "elsewhere").exists()
