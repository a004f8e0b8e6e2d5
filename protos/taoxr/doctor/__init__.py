"""``taoxr doctor``: whether this machine has what taoxr needs, and what to do if not.

A part registers a check in the entry point group ``taoxr.checks``: a function without arguments that yields
`Entry` objects. Each check runs in a process of its own, so that a driver or library that crashes or hangs
costs its own line only; what a check yielded before that is kept.
"""

from taoxr.doctor.entry import Entry, Status, fail, ok, parts, warn
from taoxr.doctor.runner import diagnose, registered

__all__ = ["Entry", "Status", "diagnose", "fail", "ok", "parts", "registered", "warn"]
