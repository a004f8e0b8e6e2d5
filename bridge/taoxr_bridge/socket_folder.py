"""The folder of the workers' sockets: private, and not left behind even by a bridge that was killed."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_PREFIX: Final = "taoxr-sockets-"
# A folder has this name until it is locked, so that none is taken for one that was left behind.
_NEW_PREFIX: Final = ".taoxr-sockets-"


@contextmanager
def socket_folder() -> Generator[Path]:
    """A new folder for the length of the block; removes those of bridges that did not end by themselves.

    Only our user gets in (0700), because whoever reaches a socket may call the worker.
    """
    _remove_left_behind()
    new = Path(tempfile.mkdtemp(prefix=_NEW_PREFIX))
    with _opened(new) as handle:
        # The kernel lets go of it when the process ends, however it ends.
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder = new.rename(new.with_name(new.name.removeprefix(".")))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_left_behind() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        # Locked by a bridge that runs, removed by another one just now, or somebody else's.
        with suppress(OSError), _opened(folder) as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_uid == os.getuid():
                shutil.rmtree(folder)


@contextmanager
def _opened(folder: Path) -> Generator[int]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield handle
    finally:
        os.close(handle)
