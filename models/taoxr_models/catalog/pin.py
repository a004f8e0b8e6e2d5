"""Prints the digests of a model's inputs and files for the catalogue: ``python -m taoxr_models.catalog.pin``.

For whoever adds a model or moves to another version of MNN: put the entry with made-up digests into
``catalog.toml``, run this on a folder that holds its sources, and paste what it prints.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from taoxr_models.catalog import recipes
from taoxr_models.catalog.entries import Entry, catalog
from taoxr_models.catalog.files import sha256
from taoxr_models.catalog.sources.local import find_local


def digests(entry: Entry, origin: Path) -> str:
    """The TOML tables ``inputs`` and ``files`` of an entry, made from its sources in a folder.

    Raises:
        UnavailableError: The folder lacks a source.
        ModelError: The conversion failed.
    """
    with tempfile.TemporaryDirectory() as name:
        unpacked, made = Path(name) / "inputs", Path(name) / "model"
        unpacked.mkdir()
        made.mkdir()
        inputs = find_local(entry, origin, unpacked)
        recipes.convert(entry.recipe, inputs, made)
        files = [(f'"{path.name}"', path) for path in sorted(made.iterdir())]
        return f"[models.inputs]\n{_lines(inputs.items())}\n[models.files]\n{_lines(files)}"


def _lines(files: Iterable[tuple[str, Path]]) -> str:
    return "".join(
        f'{name} = {{ sha256 = "{sha256(path)}", size = {path.stat().st_size} }}\n' for name, path in files
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help="models; all without any")
    parser.add_argument("--from", dest="origin", type=Path, required=True, help="folder of wheels or files")
    arguments = parser.parse_args()
    models = catalog()
    for entry in [models.entry(i) for i in arguments.ids] or models.models:
        sys.stdout.write(f"# {entry.id}\n{digests(entry, arguments.origin)}\n")


if __name__ == "__main__":
    main()
