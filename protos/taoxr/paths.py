"""Where taoxr keeps its files."""

import os
from pathlib import Path

import platformdirs


def home() -> Path:
    """Folder of models, caches and sockets: ``$TAOXR_HOME`` or the user's data folder for taoxr."""
    override = os.environ.get("TAOXR_HOME")
    return Path(override).expanduser() if override else Path(platformdirs.user_data_dir("taoxr"))


def models_dir() -> Path:
    """Folder that holds one sub-folder per installed model, named by its catalogue id."""
    return home() / "models"


def cache_dir() -> Path:
    """Folder of what can be made again at any time (compiled nodes, autotune results)."""
    return home() / "cache"


def offline() -> bool:
    """True when ``TAOXR_OFFLINE`` forbids outside connections."""
    return os.environ.get("TAOXR_OFFLINE", "").lower() in ("1", "true", "yes")
