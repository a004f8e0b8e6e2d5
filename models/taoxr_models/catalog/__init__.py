"""The model catalogue: which models there are, getting them, and checking them before use."""

from taoxr_models.catalog.installed import default_model, entry, verified

__all__ = ["default_model", "entry", "verified"]
