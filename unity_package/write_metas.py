"""Write the ``.meta`` files of the Unity package: ``python unity_package/write_metas.py [PACKAGE]``.

Unity ignores a file of an installed package that has none, and tells references apart by its GUID. That is
made from the path once, and stays: move a file together with its ``.meta``. Orphaned ones are removed.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent / "com.taoxr.avatar"
_USER_DATA = "  userData: \n  assetBundleName: \n  assetBundleVariant: \n"
_EXTERNAL = f"  externalObjects: {{}}\n{_USER_DATA}"
_SCRIPT = f"""  externalObjects: {{}}
  serializedVersion: 2
  defaultReferences: []
  executionOrder: 0
  icon: {{instanceID: 0}}
{_USER_DATA}"""
_IMPORTERS = {
    ".cs": ("MonoImporter", _SCRIPT),
    ".asmdef": ("AssemblyDefinitionImporter", _EXTERNAL),
    ".md": ("TextScriptImporter", _EXTERNAL),
    ".txt": ("TextScriptImporter", _EXTERNAL),
    ".xml": ("TextScriptImporter", _EXTERNAL),
    "package.json": ("PackageManifestImporter", _EXTERNAL),
}


def assets(package: Path) -> Iterator[Path]:
    """Everything that Unity imports: not what ends in ``~`` or begins with a dot, nor what is inside it."""
    for path in sorted(package.iterdir()):
        if path.name.startswith(".") or path.name.endswith("~") or path.suffix == ".meta":
            continue
        yield path
        if path.is_dir():
            yield from assets(path)


def meta_of(path: Path) -> Path:
    """Where the ``.meta`` of a file or folder is."""
    return path.with_name(path.name + ".meta")


def meta_text(path: Path, package: Path) -> str:
    """What the ``.meta`` of a new file or folder says."""
    name = path.relative_to(package).as_posix()
    guid = hashlib.md5(f"{package.name}/{name}".encode(), usedforsecurity=False).hexdigest()
    start = f"fileFormatVersion: 2\nguid: {guid}\n"
    if path.is_dir():
        return f"{start}folderAsset: yes\nDefaultImporter:\n{_EXTERNAL}"
    importer, body = _IMPORTERS.get(path.name) or _IMPORTERS.get(path.suffix, ("DefaultImporter", _EXTERNAL))
    return f"{start}{importer}:\n{body}"


def write(package: Path) -> None:
    """Adds what is missing and removes what is orphaned."""
    wanted = {meta_of(path): path for path in assets(package)}
    for meta in package.rglob("*.meta"):
        inside = meta.relative_to(package).parts[:-1]
        if meta not in wanted and not any(part.endswith("~") or part.startswith(".") for part in inside):
            meta.unlink()
    for meta, path in wanted.items():
        if not meta.exists():
            meta.write_text(meta_text(path, package), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE)
