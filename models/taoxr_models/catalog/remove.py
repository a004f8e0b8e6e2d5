"""Removes an installed model from the disk."""

from taoxr import paths
from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.catalog import own
from taoxr_models.catalog.entries import Catalog, Entry
from taoxr_models.catalog.install import lock, staging
from taoxr_models.catalog.installed import folder
from taoxr_models.catalog.report import Reporter, Silent


def check_removable(models: Catalog, entry: Entry) -> int:
    """Checks that nothing runs on a model, and that there is something to remove.

    Returns:
        Bytes that its files take.

    Raises:
        InvalidInputError: A role takes it.
        ModelError: It is not installed.
    """
    from taoxr_models.a2bs.network import MODEL

    # The lips that come with taoxr listen with a part of Whisper.
    chosen = {"a2bs": MODEL, **models.defaults}
    if roles := sorted(role for role, model_id in chosen.items() if model_id == entry.id):
        raise InvalidInputError(
            "ID",
            entry.id,
            f"a model that no role takes, and {', '.join(roles)} runs on it: `taoxr models use`",
        )
    if not folder(entry).is_dir() and entry.sources:
        raise ModelError(f"model {entry.id} is not installed")
    return sum(path.stat().st_size for path in folder(entry).rglob("*") if path.is_file())


def remove(models: Catalog, entry: Entry, report: Reporter | None = None) -> int:
    """Removes the files of a model.

    One that was added from a folder also leaves the user's catalogue, since it cannot be pulled again. The
    folder goes away in one rename: nobody finds half a model.

    Returns:
        Bytes that are free again.

    Raises:
        InvalidInputError: A role takes it.
        ModelError: It is not installed, or the disk refuses.
    """
    root = paths.models_dir()
    check_removable(models, entry)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with lock(root, entry, report or Silent()), staging(root, entry) as trash:
            freed = check_removable(models, entry)  # again: somebody else may have removed it meanwhile
            if folder(entry).is_dir():
                folder(entry).rename(trash / "model")
            if not entry.sources:
                own.remove_model(entry.id)
            return freed
    except OSError as error:
        raise ModelError(f"cannot remove {entry.id} from {root}: {error}") from error
