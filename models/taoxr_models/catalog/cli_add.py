"""``taoxr models add`` and ``use``: models that lie on the disk already, and which model a role takes."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.filesize import decimal

from taoxr.errors import InvalidInputError
from taoxr_models.catalog import installed, own
from taoxr_models.catalog.entries import Role, catalog


def add(
    source: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files lie.")],
    model_id: Annotated[str, typer.Option("--id", help="Name for the model.")],
    licence: Annotated[
        str, typer.Option(help="SPDX expression of the weights' licence.")
    ] = "LicenseRef-unknown",
    language: Annotated[
        list[str] | None, typer.Option(help="BCP 47 tag; give several times for several.")
    ] = None,
    engine: Annotated[
        Literal["mnn", "sherpa-mnn"],
        typer.Option(help="What runs it; sherpa-mnn needs the Python module sherpa_mnn."),
    ] = "mnn",
) -> None:
    """Adds a model that lies on the disk already, and checks it.

    Known kinds: sherpa-mnn's streaming zipformer transducers (speech recognition), MNN-LLM (language model),
    Piper voices (speech), UniTalker-MNN (lips), the body's recording of MNN-TaoAvatar (motion).
    The files are copied; the entry goes into catalog.toml in taoxr's home.
    """
    from taoxr_models.catalog.add import Description
    from taoxr_models.catalog.add import add as install

    entry = install(source, model_id, Description(licence, tuple(language or ("mul",)), engine))
    print(f"{entry.id}: {entry.title}, {decimal(entry.installed_size)}")
    print(f"take it for {entry.role} with:  taoxr models use {entry.id}")


def use(
    model_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Model id; its role is known.")
    ] = None,
    reset: Annotated[
        Role | None, typer.Option(help="Go back to the model that comes with taoxr for this role.")
    ] = None,
) -> None:
    """Makes a model the one that its role takes; the next `taoxr serve` or demo uses it."""
    if (model_id is None) == (reset is None):
        raise InvalidInputError("ID", model_id, "a model id, or --reset ROLE, but not both")
    if model_id is None:
        assert reset is not None
        own.set_default(reset, None)
        print(f"{reset}: as it comes with taoxr")
        return
    entry = catalog().entry(model_id)
    installed.verify(entry)
    own.set_default(entry.role, entry.id)
    print(f"{entry.role}: {entry.id}")
