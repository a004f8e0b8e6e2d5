"""The journal of conversations: a real SQLite file."""

import asyncio
import os
import signal
import sqlite3
import stat
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoxr.errors import TaoxrError
from taoxr.v1 import common_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr_bridge.journal import Journal, Saved, open_journal

pytestmark = pytest.mark.unit

SECRET = "the user's secret words"


def saved(text: str = SECRET, **rest: object) -> Saved:
    message = common_pb2.ChatMessage(role=common_pb2.ROLE_USER, content=text)
    return Saved("abc", pb.ConversationConfig(history=[message], system_prompt="p"), **rest)


def content(folder) -> bytes:
    return b"".join(p.read_bytes() for p in folder.iterdir())


async def test_what_was_saved_is_found_by_its_token_only(tmp_path):
    before = saved(epoch=2, turns=5, lost_turn="turn-5", lost_heard="Well")
    async with open_journal(300, tmp_path / "j") as journal:
        await asyncio.wrap_future(journal.save("token", saved(text="older")))
        journal.save("token", before)
        assert await journal.find("token") == before
        assert await journal.find("tokem") is None
    async with open_journal(300, tmp_path / "j") as journal:
        assert await journal.find("token") == before
        journal.forget("token")
        assert await journal.find("token") is None


async def test_files_are_the_owners_alone_and_hold_no_token(tmp_path):
    umask = os.umask(0)
    try:
        async with open_journal(300, tmp_path / "new" / "j") as journal:
            await asyncio.wrap_future(journal.save("the-token", saved()))
            files = list((tmp_path / "new").iterdir())
            assert {p.name for p in files} == {"j", "j-wal", "j-shm"}
            assert {stat.S_IMODE(p.stat().st_mode) for p in files} == {0o600}
            assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
            assert SECRET.encode() in content(tmp_path / "new")
            assert b"the-token" not in content(tmp_path / "new")
    finally:
        os.umask(umask)


async def test_old_conversations_are_not_found_and_leave_no_words_on_disk(tmp_path):
    now = 1000.0
    journal = Journal(tmp_path / "j", 300, lambda: now)
    await journal.open()
    journal.save("old", saved())
    journal.save("running", saved(text="still running"))
    now = 1299.0
    journal.touch("running")
    assert await journal.find("old")
    now = 1301.0
    assert await journal.find("old") is None
    await journal.purge()
    assert SECRET.encode() not in content(tmp_path)
    assert (await journal.find("running")).config.history[0].content == "still running"
    await journal.close()


async def test_a_killed_process_leaves_what_it_saved(tmp_path):
    program = """
import asyncio, os, signal, sys
from pathlib import Path
from taoxr.v1 import conversation_pb2 as pb
from taoxr_bridge.journal import Saved, open_journal

async def main():
    async with open_journal(300, Path(sys.argv[1])) as journal:
        for i in range(50):
            await asyncio.wrap_future(journal.save("t", Saved("abc", pb.ConversationConfig(), turns=i)))
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
    command = [sys.executable, "-c", program, str(tmp_path / "j")]
    process = await asyncio.create_subprocess_exec(*command)
    assert await process.wait() == -signal.SIGKILL
    async with open_journal(300, tmp_path / "j") as journal:
        assert (await journal.find("t")).turns == 49


@settings(max_examples=20, deadline=None)
@given(damage=st.binary(min_size=1, max_size=4096))
def test_a_damaged_file_is_replaced(tmp_path_factory, damage):
    path = tmp_path_factory.mktemp("damaged") / "j"
    path.write_bytes(damage)

    async def use() -> None:
        async with open_journal(300, path) as journal:
            journal.save("t", saved())
            assert await journal.find("t") == saved()

    asyncio.run(use())


async def test_another_version_is_begun_anew(tmp_path):
    with sqlite3.connect(tmp_path / "j") as db:
        db.execute("CREATE TABLE conversations (x)")
        db.execute("PRAGMA user_version = 99")
    db.close()
    async with open_journal(300, tmp_path / "j") as journal:
        assert await journal.find("t") is None


async def test_two_bridges_share_a_file(tmp_path):
    async with open_journal(300, tmp_path / "j") as one, open_journal(300, tmp_path / "j") as other:
        writes = [one.save(f"one-{i}", saved()) for i in range(20)]
        writes += [other.save(f"other-{i}", saved()) for i in range(20)]
        await asyncio.gather(one.purge(), *map(asyncio.wrap_future, writes))
        for i in range(20):
            assert await other.find(f"one-{i}")
            assert await one.find(f"other-{i}")


async def test_what_cannot_be_written_is_an_error_that_says_what_to_do(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TaoxrError, match="TAOXR_BRIDGE_RESUME_S=0"):
        async with open_journal(300, tmp_path / "file" / "j"):
            pass
    async with open_journal(300, tmp_path / "j") as journal:
        with sqlite3.connect(tmp_path / "j") as db:
            db.execute("DROP TABLE conversations")
        db.close()
        with pytest.raises(TaoxrError, match="could not be written"):
            await asyncio.wrap_future(journal.save("t", saved()))


async def test_none_is_kept_when_resuming_is_off(tmp_path):
    async with open_journal(0, tmp_path / "j") as journal:
        assert journal is None
    assert list(tmp_path.iterdir()) == []
