"""Where source files come from: a package index, a model hub, or a local folder.

Each source puts an entry's inputs into a folder. What it delivers is checked by the caller against
the catalogue's sha256, so a source needs to be trusted for nothing but being there.
"""

from taoxr_models.catalog.sources.fetch import fetch, fetch_local

__all__ = ["fetch", "fetch_local"]
