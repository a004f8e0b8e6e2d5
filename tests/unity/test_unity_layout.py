"""The Unity package has the layout that its package manager expects, and a good ``.meta`` for everything."""

import importlib
import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "unity_package/com.taoxr.avatar"
# Unity's own, and what a project may have: Unity ignores a reference to an assembly that is not there.
OTHERS = {
    "UnityEngine.TestRunner",
    "UnityEditor.TestRunner",
    "YetAnotherHttpHandler",
    "Unity.XR.ARFoundation",
}


def _tool() -> ModuleType:
    sys.path.insert(0, str(ROOT / "unity_package"))
    try:
        return importlib.import_module("write_metas")
    finally:
        sys.path.remove(str(ROOT / "unity_package"))


metas = _tool()


def test_every_asset_has_one_meta_with_a_guid_of_its_own() -> None:
    assets = list(metas.assets(PACKAGE))
    wanted = {metas.meta_of(path) for path in assets}
    there = set(PACKAGE.rglob("*.meta"))
    assert not wanted - there, "run unity_package/write_metas.py and commit what it makes"
    assert not there - wanted, "orphaned"
    guids: Counter[str] = Counter()
    for path in assets:
        text = metas.meta_of(path).read_text()
        found = re.fullmatch(r"fileFormatVersion: 2\nguid: ([0-9a-f]{32})\n(.*)", text, re.DOTALL)
        assert found, f"{path}: {text}"
        guids[found[1]] += 1
        assert ("folderAsset: yes" in found[2]) == path.is_dir()
        assert ("MonoImporter:" in found[2]) == (path.suffix == ".cs")
    assert max(guids.values()) == 1


def test_metas_keep_their_guids_and_orphans_go(tmp_path: Path) -> None:
    package = tmp_path / "com.example"
    (package / "Samples~").mkdir(parents=True)
    (package / "Samples~" / "A.cs.meta").write_text("kept")
    for name in ("A.cs", "B.cs", ".hidden"):
        (package / name).write_text("")
    metas.write(package)
    made = (package / "A.cs.meta").read_text()
    assert sorted(p.name for p in package.iterdir() if p.suffix == ".meta") == ["A.cs.meta", "B.cs.meta"]
    shutil.move(package / "A.cs", package / "C.cs")
    shutil.move(package / "A.cs.meta", package / "C.cs.meta")
    (package / "B.cs").unlink()
    metas.write(package)
    assert (package / "C.cs.meta").read_text() == made
    assert not (package / "B.cs.meta").exists()
    assert (package / "Samples~" / "A.cs.meta").exists()


def test_manifest_and_files() -> None:
    manifest = json.loads((PACKAGE / "package.json").read_text())
    assert manifest["name"] == PACKAGE.name
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert manifest["unity"] == "2021.3"
    assert not manifest.get("dependencies")
    for name in ("README.md", "CHANGELOG.md", "LICENSE.md", "Third Party Notices.md"):
        assert (PACKAGE / name).read_text().strip()
    assert (PACKAGE / "LICENSE.md").read_text() == (ROOT / "LICENSE").read_text()


def test_no_binaries_and_nothing_that_windows_refuses() -> None:
    for path in PACKAGE.rglob("*"):
        inside = path.relative_to(PACKAGE).as_posix()
        assert path.suffix.lower() not in {".dll", ".so", ".dylib", ".a", ".exe", ".pdb"}, inside
        assert len(inside) < 120
        assert not set(inside) & set('<>:"|?*\\'), inside
    lower = [path.as_posix().lower() for path in PACKAGE.rglob("*")]
    assert len(lower) == len(set(lower))


def test_every_script_is_in_an_assembly_and_assemblies_refer_to_what_is_there() -> None:
    definitions = {path.parent: json.loads(path.read_text()) for path in PACKAGE.rglob("*.asmdef")}
    names = {definition["name"] for definition in definitions.values()}
    assert len(names) == len(definitions)
    for folder, definition in definitions.items():
        assert set(definition["references"]) <= names | OTHERS
        assert list(folder.rglob("*.cs")), (
            f"Unity warns about an assembly without scripts: {definition['name']}"
        )
        assert not definition["allowUnsafeCode"]
    for script in PACKAGE.rglob("*.cs"):
        if not any(part.endswith("~") for part in script.relative_to(PACKAGE).parts):
            assert any(parent in definitions for parent in script.parents), script
