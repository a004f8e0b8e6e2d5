"""What a conversation needs to go on after a dropped connection or a restart of the bridge.

One SQLite file in write-ahead mode: every save is one transaction, so that a bridge that is killed leaves
either the old or the new state of a conversation. Entries hold what people said; so the file is its owner's
alone, deleted entries are overwritten, and nothing stays for longer than a few minutes.
"""

import asyncio
import hashlib
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar

import structlog

from taoxr import paths
from taoxr.errors import TaoxrError
from taoxr.v1 import conversation_pb2 as pb

_T = TypeVar("_T")
# Changes whenever the table does; a file of another version is begun anew.
_VERSION: Final = 1
_BUSY_S: Final = 5.0
_PURGE_S: Final = 20.0
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS conversations (
    token_hash TEXT PRIMARY KEY, session_id TEXT NOT NULL, config BLOB NOT NULL, epoch INTEGER NOT NULL,
    turns INTEGER NOT NULL, lost_turn TEXT NOT NULL, lost_heard TEXT NOT NULL, saved REAL NOT NULL
) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class Saved:
    """A conversation at one moment.

    Attributes:
        session_id: Name of the conversation.
        config: Its wishes; ``history`` holds all that was said up to now.
        epoch: Interruptions so far.
        turns: Turns so far.
        lost_turn: The avatar's turn that runs at this moment, or empty: lost if nothing is saved later.
        lost_heard: What was heard of it.
    """

    session_id: str
    config: pb.ConversationConfig
    epoch: int = 0
    turns: int = 0
    lost_turn: str = ""
    lost_heard: str = ""


class Journal:
    """Saved conversations, found by the token that their client was given; see `open_journal`.

    SQLite runs on one thread of its own, in the order of the calls, so that a slow disk holds up nobody.

    Args:
        path: The file.
        keep_s: How long a conversation can be resumed after it was saved last.
        clock: Seconds since the epoch; a steady clock would not outlive a reboot.
    """

    def __init__(self, path: Path, keep_s: float, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self.keep_s = keep_s
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, "journal")
        self._db: sqlite3.Connection | None = None
        # Rows that wait to be written, at most one of each conversation, however slow the disk is.
        self._waiting: dict[str, tuple[tuple[object, ...], Future[None]]] = {}
        self._lock = Lock()

    async def open(self) -> None:
        """Opens the file, making it if need be; a damaged one is replaced.

        Raises:
            TaoxrError: It cannot be used.
        """
        await self._call(self._open)

    async def close(self) -> None:
        """Finishes what was asked for and closes the file."""
        if self._db is not None:
            await self._call(self._db.close)
        self._thread.shutdown(wait=False)

    def save(self, token: str, saved: Saved) -> Future[None]:
        """Saves a conversation, replacing what was saved for the token; nobody has to wait for it.

        Of several saves that wait for the disk, only the newest is written.

        Failure is logged, and raised from the future.
        """
        row = (
            hash_token(token), saved.session_id, saved.config.SerializeToString(), saved.epoch, saved.turns,
            saved.lost_turn, saved.lost_heard, self._clock(),
        )  # fmt: skip
        key = hash_token(token)
        with self._lock:
            future = self._waiting[key][1] if key in self._waiting else self._thread.submit(self._write, key)
            self._waiting[key] = (row, future)
        return future

    def touch(self, token: str) -> Future[None]:
        """Says that a conversation still runs, unchanged."""
        parameters = (self._clock(), hash_token(token))
        return self._submit("UPDATE conversations SET saved = ? WHERE token_hash = ?", parameters)

    def forget(self, token: str) -> Future[None]:
        """The conversation has ended."""
        return self._submit("DELETE FROM conversations WHERE token_hash = ?", (hash_token(token),))

    async def find(self, token: str) -> Saved | None:
        """The conversation of a token; None when there is none, or it was saved too long ago."""
        query = (
            "SELECT session_id, config, epoch, turns, lost_turn, lost_heard FROM conversations"
            " WHERE token_hash = ? AND saved >= ?"
        )
        parameters = (hash_token(token), self._clock() - self.keep_s)
        row = await self._call(lambda: self._connection().execute(query, parameters).fetchone())
        if row is None:
            return None
        session_id, config, *rest = row
        return Saved(session_id, pb.ConversationConfig.FromString(config), *rest)

    async def purge(self) -> None:
        """Removes what is too old, from the disk too."""
        await self._call(self._purge)

    # On the thread.

    def _open(self) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
            self._path.chmod(0o600)  # SQLite gives its other two files the same mode
            try:
                self._db = self._connect()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise  # locked, full or forbidden: not damaged
                structlog.get_logger().warning("damaged journal replaced", path=str(self._path))
                for suffix in ("", "-wal", "-shm"):
                    self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
                self._path.touch(mode=0o600)
                self._db = self._connect()
        except (OSError, sqlite3.Error) as error:
            raise TaoxrError(
                f"the journal of conversations {self._path} cannot be used ({error}): make the folder"
                " writable, point TAOXR_HOME elsewhere, or set TAOXR_BRIDGE_RESUME_S=0 to do without"
            ) from error

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            # Survives a killed process; a power cut may cost the last moments, never the file.
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA secure_delete = ON")
            [version] = db.execute("PRAGMA user_version").fetchone()
            if version != _VERSION:
                db.execute("DROP TABLE IF EXISTS conversations")
                db.execute(f"PRAGMA user_version = {_VERSION}")
            db.execute(_TABLE)
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _write(self, key: str) -> None:
        with self._lock:
            row, _ = self._waiting.pop(key)
        self._execute("INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _purge(self) -> None:
        db = self._connection()
        db.execute("DELETE FROM conversations WHERE saved < ?", (self._clock() - self.keep_s,))
        # The write-ahead file still holds the old words; busy readers of another bridge only delay this.
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            raise TaoxrError("the journal is not open")
        return self._db

    def _submit(self, statement: str, parameters: tuple[object, ...]) -> Future[None]:
        return self._thread.submit(self._execute, statement, parameters)

    def _execute(self, statement: str, parameters: tuple[object, ...]) -> None:
        try:
            self._connection().execute(statement, parameters)
        except sqlite3.Error as error:
            structlog.get_logger().warning("journal not written", path=str(self._path), error=str(error))
            raise TaoxrError(f"the journal {self._path} could not be written ({error})") from error

    async def _call(self, function: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)


def hash_token(token: str) -> str:
    """What is kept of a token. It is random and long, so a plain hash says nothing about it."""
    return hashlib.sha256(token.encode()).hexdigest()


@asynccontextmanager
async def open_journal(keep_s: float, path: Path | None = None) -> AsyncGenerator[Journal | None]:
    """Runs a journal for the length of the block, removing what gets too old; None when `keep_s` is 0.

    Args:
        keep_s: How long conversations can be resumed.
        path: The file; None is the one in taoxr's folder.

    Raises:
        TaoxrError: The file cannot be used.
    """
    if keep_s == 0:
        yield None
        return
    journal = Journal(path or paths.home() / "bridge" / "conversations.sqlite3", keep_s)
    try:
        await journal.open()
        purging = asyncio.create_task(_purge_often(journal))
        try:
            yield journal
        finally:
            purging.cancel()
            await asyncio.wait([purging])
    finally:
        await journal.close()


async def _purge_often(journal: Journal) -> None:
    while True:
        try:
            await journal.purge()
        except sqlite3.Error as error:
            structlog.get_logger().warning("journal not purged", error=str(error))
        await asyncio.sleep(min(_PURGE_S, journal.keep_s / 4))
