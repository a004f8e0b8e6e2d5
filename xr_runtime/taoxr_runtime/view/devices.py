"""Going through the machine's loudspeakers and microphones while the conversation goes on."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from taoxr.errors import TaoxrError
from taoxr.portaudio import Kind, list_devices, sound_library
from taoxr_runtime.audio import Sink, Source
from taoxr_runtime.audio.device import DeviceSink, DeviceSource
from taoxr_runtime.audio.protocols import clock_us

_NAMES: Final[dict[Kind, str]] = {"output": "loudspeaker", "input": "microphone"}


class Devices:
    """Takes the next device of a kind, on a thread of its own: opening one may take seconds.

    Args:
        sink: Where the voice goes.
        source: Where the user's voice comes from, without a meter around it.
        library: What ``sounddevice`` offers; None loads it when it is needed.
    """

    def __init__(self, sink: Sink, source: Source, library: Any = None) -> None:
        self._things: dict[Kind, Sink | Source] = {"output": sink, "input": source}
        self._library = library
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="devices")
        self._lock = threading.Lock()
        self._said: tuple[str, int] = ("", 0)

    @property
    def said(self) -> tuple[str, int]:
        """What came of the last change, and when, in microseconds of `clock_us`."""
        with self._lock:
            return self._said

    def take_next(self, kind: Kind) -> None:
        """Takes the device after the one in use, in PortAudio's order; never waits."""
        self._worker.submit(self._take_next, kind)

    def close(self) -> None:
        """Waits for what was begun."""
        self._worker.shutdown()

    def _take_next(self, kind: Kind) -> None:
        name, thing = _NAMES[kind], self._things[kind]
        if not isinstance(thing, DeviceSink | DeviceSource):
            self._say(f"no {name} is in use: {thing.problem or thing.description}")
            return
        try:
            library = self._library or sound_library()
            found = [d for d in list_devices(library) if (d.outputs if kind == "output" else d.inputs)]
            names = [device.name for device in found]
            now = names.index(thing.device) if thing.device in names else -1
            if len(found) < 2:
                self._say(f"there is no {name} but {thing.device!r}")
                return
            chosen = found[(now + 1) % len(found)]
            thing.choose(str(chosen.number))
            self._say(f"{name}: {chosen.name}")
        except TaoxrError as error:
            self._say(str(error))

    def _say(self, text: str) -> None:
        with self._lock:
            self._said = (text, clock_us())
