"""Sound in and out, whose clock drives the face: devices, files, or none, behind one interface."""

from taoxr_runtime.audio.ears import Listener
from taoxr_runtime.audio.file import FileSink, FileSource
from taoxr_runtime.audio.meter import MeteredSource
from taoxr_runtime.audio.null import NullSink, NullSource
from taoxr_runtime.audio.open import open_sink, open_source
from taoxr_runtime.audio.protocols import BLOCK, SOURCE_HZ, Block, Deliver, Sink, Source

__all__ = [
    "BLOCK",
    "SOURCE_HZ",
    "Block",
    "Deliver",
    "FileSink",
    "FileSource",
    "Listener",
    "MeteredSource",
    "NullSink",
    "NullSource",
    "Sink",
    "Source",
    "open_sink",
    "open_source",
]
