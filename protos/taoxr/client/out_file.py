"""Files that commands write: found out early whether it can work, and whole or not at all."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from taoxr.errors import InvalidInputError


def check(path: Path, *, field: str, suffixes: tuple[str, ...] = ()) -> None:
    """Finds out before the work whether a file can be written.

    Args:
        path: File that is to be written.
        field: Name of the option, for errors.
        suffixes: Endings that are accepted, in lower case; none means any.

    Raises:
        InvalidInputError: It is a folder, its folder is missing or may not be written to, or its name ends in
            none of `suffixes`.
    """
    if path.is_dir():
        raise InvalidInputError(field, str(path), "a file, not a folder")
    if not path.parent.is_dir():
        raise InvalidInputError(field, str(path), "a file in a folder that exists")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InvalidInputError(field, str(path), "a file that you may write to")
    if suffixes and path.suffix.lower() not in suffixes:
        raise InvalidInputError(field, str(path), f"a name that ends in {' or '.join(suffixes)}")


@contextmanager
def replacing(path: Path, *, field: str) -> Generator[Path]:
    """A file to write in the block, which replaces `path` at its end; an error leaves `path` as it was.

    Args:
        path: The file; what is no regular file (a pipe, /dev/stdout) is written to directly.
        field: Name of the option, for errors.

    Raises:
        InvalidInputError: The file cannot be written.
    """
    place = path.resolve()
    try:
        if place.exists() and not place.is_file():
            yield path
            return
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=place.suffix, dir=place.parent)
        os.close(handle)
        try:
            yield Path(name)
            # mkstemp's files are for their owner alone; this one is to be as any other program would make it.
            os.chmod(name, place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask())
            os.replace(name, place)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(name)
    except OSError as error:
        raise InvalidInputError(field, str(path), f"a file that can be written ({error})") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
