"""Imports go one way: see the table in docs/architecture.md."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "taoxr": ROOT / "protos/taoxr",
    "taoxr_models": ROOT / "models/taoxr_models",
    "taoxr_bridge": ROOT / "bridge/taoxr_bridge",
    "taoxr_runtime": ROOT / "xr_runtime/taoxr_runtime",
}
# Each part may import itself and what is named here.
ALLOWED = {
    "taoxr": set[str](),
    "taoxr_models": {"taoxr"},
    "taoxr_bridge": {"taoxr"},
    "taoxr_runtime": {"taoxr"},
}
# Untyped libraries and the one folder of each that may import them.
WRAPPED = {
    "MNN": "protos/taoxr/engine",
    "_tools": "protos/taoxr/engine",
    "OpenGL": "xr_runtime/taoxr_runtime/render",
    "torch": ("xr_runtime/taoxr_runtime/avatar", "models/taoxr_models/a2bs/training"),
    "anny": "xr_runtime/taoxr_runtime/avatar",
}


def imported(path: Path) -> set[str]:
    names = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("package", PACKAGES)
def test_parts_import_only_what_they_may(package: str) -> None:
    forbidden = set(PACKAGES) - ALLOWED[package] - {package}
    files = list(PACKAGES[package].rglob("*.py"))
    assert files
    wrong = {str(f.relative_to(ROOT)): imported(f) & forbidden for f in files if imported(f) & forbidden}
    assert wrong == {}


def test_untyped_libraries_are_wrapped_in_one_place() -> None:
    wrong: list[str] = []
    for folder in PACKAGES.values():
        for file in folder.rglob("*.py"):
            relative = str(file.relative_to(ROOT))
            wrong += [
                f"{relative} imports {name}"
                for name, home in WRAPPED.items()
                if name in imported(file) and not relative.startswith(home)
            ]
    assert wrong == []


def test_help_imports_no_part() -> None:
    """`taoxr --help` stays fast: it imports none of the parts and no model engine."""
    program = (
        "import sys; from click.testing import CliRunner; from taoxr.cli import root;"
        "r = CliRunner().invoke(root, ['--help']); assert r.exit_code == 0, r.output;"
        "assert '(plug-in)' not in r.output, r.output;"
        "bad = {'taoxr_models', 'taoxr_bridge', 'taoxr_runtime', 'MNN', 'grpc', 'numpy'} & set(sys.modules);"
        "sys.exit(f'imported {bad}' if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_test_module_has_exactly_one_category() -> None:
    categories = {"unit", "parity", "models", "process", "gl", "e2e"}
    for file in (ROOT / "tests").rglob("test_*.py"):
        marks = [
            node
            for node in ast.parse(file.read_text()).body
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "pytestmark"
        ]
        assert len(marks) == 1, f"{file.name} needs one pytestmark"
        found = {n.attr for n in ast.walk(marks[0].value) if isinstance(n, ast.Attribute)} & categories
        assert len(found) == 1, f"{file.name} needs exactly one of {sorted(categories)}, has {sorted(found)}"
