"""A real microphone and loudspeaker (extra `audio`)."""

import asyncio
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import UnavailableError
from taoxr.portaudio import find_device, sound_library

_BLOCK_S: Final = 0.032


def check_sound() -> Any:
    """The module ``sounddevice``, with a microphone and a loudspeaker behind it.

    Raises:
        UnavailableError: The extra, PortAudio or a device is missing; says what to do.
    """
    library = sound_library()
    for kind in ("input", "output"):
        find_device(library, kind)
    return library


class Microphone:
    """Blocks of the microphone as they come; iterate over it."""

    def __init__(self) -> None:
        self._blocks: asyncio.Queue[NDArray[np.int16]] = asyncio.Queue()

    async def __aiter__(self) -> AsyncIterator[NDArray[np.int16]]:
        while True:
            yield await self._blocks.get()

    def put(self, block: NDArray[np.int16]) -> None:
        """Adds a block, int16 [n]."""
        self._blocks.put_nowait(block)


class Speaker:
    """Plays what is put into it, silence otherwise."""

    def __init__(self) -> None:
        self._waiting = np.zeros(0, np.int16)

    def put(self, pcm: NDArray[np.int16]) -> None:
        """Queues int16 [n]."""
        self._waiting = np.concatenate([self._waiting, pcm])

    def clear(self) -> None:
        """Silence at once."""
        self._waiting = self._waiting[:0]

    def take(self, count: int) -> NDArray[np.int16]:
        """The next samples, int16 [count]."""
        piece, self._waiting = self._waiting[:count], self._waiting[count:]
        return np.pad(piece, (0, count - len(piece)))


@contextmanager
def open_sound(in_hz: int, out_hz: int) -> Generator[tuple[Microphone, Speaker]]:
    """Opens the system's default devices; to be called inside the event loop that will read them.

    Raises:
        UnavailableError: See `check_sound`, or the device refused the rate.
    """
    library, loop = check_sound(), asyncio.get_running_loop()
    microphone, speaker = Microphone(), Speaker()

    def heard(data: NDArray[np.int16], frames: int, time: Any, status: Any) -> None:
        loop.call_soon_threadsafe(microphone.put, data[:, 0].copy())

    def wanted(data: NDArray[np.int16], frames: int, time: Any, status: Any) -> None:
        data[:, 0] = speaker.take(frames)

    options: dict[str, Any] = {"channels": 1, "dtype": "int16"}
    try:
        with (
            library.InputStream(
                samplerate=in_hz, blocksize=round(in_hz * _BLOCK_S), callback=heard, **options
            ),
            library.OutputStream(samplerate=out_hz, callback=wanted, latency="low", **options),
        ):
            yield microphone, speaker
    except library.PortAudioError as error:
        raise UnavailableError(f"the sound device failed: {error}") from error
