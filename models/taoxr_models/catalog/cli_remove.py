"""``taoxr models remove``."""

from typing import Annotated

import typer
from rich.filesize import decimal

from taoxr_models.catalog.entries import catalog


def remove(
    model_id: Annotated[str, typer.Argument(metavar="ID", help="Model id.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Deletes a model's files, and says how much space that frees.

    A model that a role takes is kept: choose another one first with `taoxr models use`. One that you added
    from a folder leaves the catalogue, too; any other can be pulled again.
    """
    from taoxr_models.catalog.remove import check_removable
    from taoxr_models.catalog.remove import remove as delete

    models = catalog()
    entry = models.entry(model_id)
    size = check_removable(models, entry)
    if not yes:
        typer.confirm(f"Delete {entry.id} ({entry.title}, {decimal(size)})?", abort=True, err=True)
    print(f"{entry.id} removed, {decimal(delete(models, entry))} freed")
