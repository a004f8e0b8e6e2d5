"""Sinks and sources by name, as options give them."""

from pathlib import Path

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime.audio.device import DeviceSink, DeviceSource
from taoxr_runtime.audio.ears import Listener
from taoxr_runtime.audio.file import FileSink, FileSource
from taoxr_runtime.audio.null import NullSink, NullSource
from taoxr_runtime.audio.protocols import Sink, Source


def open_sink(name: str = "auto", listener: Listener | None = None, wanted: str | None = None) -> Sink:
    """A place for sound.

    Args:
        name: "auto" (the loudspeaker, or a silent one whose ``problem`` says why), "device", "null", or a
            ``.wav`` to write.
        listener: Whose two ears hear the voice from where the mouth is; None: it comes from everywhere.
        wanted: Which loudspeaker: number or part of the name; "auto" is "device" then. None: the default.

    Raises:
        InvalidInputError: Another name, a file that cannot be written, or a device that there is not.
        UnavailableError: "device", and there is none; says what to do.
    """
    if name == "null":
        return NullSink(listener=listener)
    if name.lower().endswith(".wav"):
        return FileSink(Path(name), listener=listener)
    if name not in ("auto", "device"):
        raise InvalidInputError("sound", name, "auto, device, null, or the name of a .wav file")
    try:
        return DeviceSink(listener=listener, wanted=wanted)
    except UnavailableError as error:
        if name == "device" or wanted is not None:
            raise
        return NullSink(problem=f"no sound: {error}", listener=listener)


def open_source(name: str = "auto", wanted: str | None = None) -> Source:
    """A voice to listen to.

    Args:
        name: "auto" (the microphone, or none with the reason in ``problem``), "device", "null", or a
            recording.
        wanted: Which microphone: number or part of the name; "auto" is "device" then. None: the default.

    Raises:
        InvalidInputError: A file that is no recording, or a device that there is not.
        UnavailableError: "device", and there is none; says what to do.
    """
    if name == "null":
        return NullSource()
    if name not in ("auto", "device"):
        return FileSource(Path(name))
    try:
        return DeviceSource(wanted=wanted)
    except UnavailableError as error:
        if name == "device" or wanted is not None:
            raise
        return NullSource(problem=f"no microphone: {error}")
