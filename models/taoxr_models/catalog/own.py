"""The user's own catalogue, ``catalog.toml`` in taoxr's home, as text: comments in it are the user's."""

import re
import tempfile
from pathlib import Path
from typing import Final

from taoxr import paths
from taoxr_models.catalog import entries
from taoxr_models.catalog.entries import Role

_TABLE: Final = re.compile(r"^\s*\[")
_DEFAULTS: Final = re.compile(r"^\s*\[defaults\]\s*(#.*)?$")
_MODEL: Final = re.compile(r"^\s*\[\[models\]\]\s*(#.*)?$")
_OF_MODEL: Final = re.compile(r"^\s*\[+models\.")


def read() -> str:
    """The text; empty if there is none."""
    path = _path()
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def write(text: str) -> None:
    """Replaces the text, if it is a right catalogue.

    Raises:
        ModelError: It is not.
    """
    path = _path()
    entries.parse_additions(text, str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
    Path(file.name).replace(path)
    entries.forget()


def set_default(role: Role, model_id: str | None) -> None:
    """Names the model of a role; None goes back to the one that comes with taoxr.

    Raises:
        ModelError: It is no model of that role.
    """
    lines = read().splitlines()
    start = next((i for i, line in enumerate(lines) if _DEFAULTS.match(line)), None)
    if start is None:
        start = 0
        lines[:0] = ["[defaults]", ""]
    end = next((i for i in range(start + 1, len(lines)) if _TABLE.match(lines[i])), len(lines))
    kept = [line for line in lines[start + 1 : end] if not re.match(rf"^\s*{role}\s*=", line)]
    chosen = [] if model_id is None else [f'{role} = "{model_id}"']
    write("\n".join([*lines[: start + 1], *chosen, *kept, *lines[end:]]) + "\n")


def remove_model(model_id: str) -> None:
    """Takes a model out; does nothing if the catalogue does not hold it.

    Raises:
        ModelError: The rest would be no right catalogue.
    """
    lines = read().splitlines()
    for start in (i for i, line in enumerate(lines) if _MODEL.match(line)):
        after = (i for i in range(start + 1, len(lines)) if _TABLE.match(lines[i]))
        end = next((i for i in after if not _OF_MODEL.match(lines[i])), len(lines))
        if any(
            re.match(rf"""^\s*id\s*=\s*["']{re.escape(model_id)}["']""", line) for line in lines[start:end]
        ):
            write("\n".join([*lines[:start], *lines[end:]]).strip() + "\n")
            return


def _path() -> Path:
    return paths.home() / "catalog.toml"
