"""Where installed models are, and whether they are whole."""

from pathlib import Path

from taoxr import paths
from taoxr.errors import ModelError
from taoxr_models.catalog.entries import Entry, catalog
from taoxr_models.catalog.files import check_folder


def folder(entry: Entry) -> Path:
    """Folder of a model, whether it is there or not."""
    return paths.models_dir() / entry.id


def verify(entry: Entry) -> Path:
    """Checks every file of an installed model.

    Returns:
        Its folder.

    Raises:
        ModelError: It is not installed or damaged; the text says how to install it.
    """
    target = folder(entry)
    advice = f"run `taoxr models pull {entry.id}`"
    if not target.is_dir():
        raise ModelError(f"model {entry.id} is not installed; {advice}")
    check_folder(target, entry.files, advice)
    return target


def verified(model_id: str) -> Path:
    """Folder of an installed model after checking the sha256 of every file in it.

    MNN crashes on some damaged files, so call this before loading one.

    Args:
        model_id: Catalogue id.

    Raises:
        InvalidInputError: No such model.
        ModelError: It is not installed or damaged; the text says how to install it.
    """
    return verify(catalog().entry(model_id))


def entry(model_id: str) -> Entry:
    """The catalogue's entry of a model.

    Raises:
        InvalidInputError: No such model.
    """
    return catalog().entry(model_id)


def default_model(role: str, otherwise: str | None = None) -> str:
    """Id of the model that fills a role (vad, asr, llm, tts, a2bs) when none is named.

    Args:
        role: The role.
        otherwise: What to take where the catalogue names none.

    Raises:
        InvalidInputError: No such role.
    """
    models = catalog()
    if otherwise is not None and role not in models.defaults:
        return otherwise
    return models.default_model(role)
