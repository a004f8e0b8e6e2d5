"""Regenerate the Python code of the protos: ``python protos/generate.py [OUT_DIR]``.

The result is committed; ``tests/protos/test_generated.py`` regenerates it and compares.
"""

import sys
from importlib.resources import files
from pathlib import Path

from google.rpc import status_pb2
from grpc_tools import protoc

ROOT = Path(__file__).parent


def generate(out: Path) -> None:
    """Writes ``*_pb2.py``, ``*_pb2_grpc.py`` and their stubs for every proto below ``out``."""
    protos = sorted(str(p.relative_to(ROOT)) for p in ROOT.rglob("*.proto"))
    includes = [str(ROOT), str(files("grpc_tools") / "_proto"), str(Path(status_pb2.__file__).parents[2])]
    arguments = ["protoc", *(f"-I{i}" for i in includes)]
    # Beside this interpreter, whether or not its environment is activated.
    plugins = Path(sys.executable).parent
    arguments += [f"--plugin={plugins / name}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")]
    arguments += [f"--python_out={out}", f"--grpc_python_out={out}", f"--mypy_out=quiet:{out}"]
    arguments += [f"--mypy_grpc_out=quiet:{out}", *protos]
    if protoc.main(arguments) != 0:
        raise SystemExit("protoc failed; its message is above")


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
