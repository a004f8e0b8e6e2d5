"""Regenerate the Python code of the protos: ``python protos/generate.py [OUT_DIR]``.

The result is committed; ``tests/protos/test_generated.py`` regenerates it and compares.

``python protos/generate.py --baseline`` declares today's protos to be what clients rely on: it rewrites
``protos/baseline.binpb``, against which ``tests/protos/test_buf.py`` looks for breaking changes.
"""

import sys
from importlib.resources import files
from pathlib import Path

from google.rpc import status_pb2
from grpc_tools import protoc

ROOT = Path(__file__).parent
BASELINE = ROOT / "baseline.binpb"


def generate(out: Path) -> None:
    """Writes ``*_pb2.py``, ``*_pb2_grpc.py`` and their stubs for every proto below ``out``."""
    # Beside this interpreter, whether or not its environment is activated.
    plugins = Path(sys.executable).parent
    _protoc(
        *(f"--plugin={plugins / name}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")),
        f"--python_out={out}",
        f"--grpc_python_out={out}",
        f"--mypy_out=quiet:{out}",
        f"--mypy_grpc_out=quiet:{out}",
    )


def describe(out: Path, *, comments: bool = True) -> None:
    """Writes the descriptors of every proto and of what they import, a ``FileDescriptorSet``, to ``out``."""
    source_info = ("--include_source_info",) if comments else ()
    _protoc("--include_imports", *source_info, f"--descriptor_set_out={out}")


def _protoc(*arguments: str) -> None:
    protos = sorted(str(p.relative_to(ROOT)) for p in ROOT.rglob("*.proto"))
    includes = [str(ROOT), str(files("grpc_tools") / "_proto"), str(Path(status_pb2.__file__).parents[2])]
    if protoc.main(["protoc", *(f"-I{i}" for i in includes), *arguments, *protos]) != 0:
        raise SystemExit("protoc failed; its message is above")


if __name__ == "__main__":
    if sys.argv[1:] == ["--baseline"]:
        describe(BASELINE, comments=False)
    else:
        generate(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
