"""The machine's loudspeaker and microphone for the terminal, through PortAudio.

Enough to talk and listen. The stage has a richer one, whose clock drives the face
(``taoxr_runtime.audio``); this part may not import it.
"""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, Final

import numpy as np
import soxr  # pyright: ignore[reportMissingTypeStubs]  # ships no types
from numpy.typing import NDArray

from taoxr.errors import UnavailableError
from taoxr.portaudio import find_device, sound_library

_PREFERRED_HZ: Final = 16_000
_BLOCKS_PER_S: Final = 50
_MAX_WAITING: Final = 250  # blocks of the microphone, 5 s
_US: Final = 1_000_000


class Speaker:
    """A loudspeaker; plays one answer after the other.

    Args:
        library: What ``sounddevice`` offers.
        wanted: Number or name of the device; None is the default one.

    Raises:
        UnavailableError: There is no device, or it refuses to play.
        InvalidInputError: There is no such device.

    Attributes:
        name: What the device is called.
    """

    def __init__(self, library: Any = None, wanted: str | None = None) -> None:
        library = library or sound_library()
        device = find_device(library, "output", wanted)
        self.name = str(device["name"])
        self._rate = round(device["default_samplerate"])
        self._lock = threading.Lock()
        self._waiting: deque[NDArray[np.int16]] = deque()
        self._taken = 0  # samples of the current answer
        self._written_us = 0
        self._resampler: Any = None
        try:
            self._stream = library.OutputStream(
                device=device["index"] if wanted is not None else None,
                samplerate=self._rate,
                channels=1,
                dtype="int16",
                callback=self._fill,
            )
            self._stream.start()
        except library.PortAudioError as error:
            raise UnavailableError(f"the loudspeaker does not play: {error}") from error

    def begin(self, rate_hz: int) -> None:
        """A new answer starts, at this rate; what is left of the one before is not played."""
        with self._lock:
            self._waiting.clear()
            self._taken = self._written_us = 0
            same = rate_hz == self._rate
            self._resampler = None if same else soxr.ResampleStream(rate_hz, self._rate, 1, "int16")

    def write(self, pcm: NDArray[np.int16], end_us: int, *, last: bool) -> None:
        """More of the answer.

        Args:
            pcm: int16 [n], mono.
            end_us: Where `pcm` ends on the clock of the answer.
            last: Whether nothing follows.
        """
        sound = pcm
        if self._resampler is not None:
            sound = np.asarray(self._resampler.resample_chunk(pcm, last=last), np.int16)
        with self._lock:
            self._waiting.append(sound)
            self._written_us = end_us

    def stop(self) -> None:
        """The rest of the answer is not played."""
        with self._lock:
            self._written_us = self._heard_us()
            self._waiting.clear()

    @property
    def heard_us(self) -> int:
        """How much of the answer was heard, in microseconds."""
        with self._lock:
            return self._heard_us()

    def _heard_us(self) -> int:
        if not self._waiting:
            return self._written_us  # exactly: the bridge waits for it
        # What the device has taken still waits in it for its latency.
        return max(0, round((self._taken / self._rate - float(self._stream.latency)) * _US))

    def close(self) -> None:
        """Gives the device back."""
        self._stream.close(ignore_errors=True)

    def _fill(self, out: NDArray[np.int16], frames: int, time: Any, status: Any) -> None:
        """Called by PortAudio, on its thread."""
        filled = 0
        with self._lock:
            while filled < frames and self._waiting:
                block = self._waiting.popleft()
                used = block[: frames - filled]
                out[filled : filled + len(used), 0] = used
                filled += len(used)
                if len(used) < len(block):
                    self._waiting.appendleft(block[len(used) :])
            self._taken += filled
        out[filled:] = 0


class Microphone:
    """A microphone; open it inside a running event loop.

    Args:
        library: What ``sounddevice`` offers.
        wanted: Number or name of the device; None is the default one.

    Raises:
        UnavailableError: There is no device, or it refuses to listen.
        InvalidInputError: There is no such device.

    Attributes:
        name: What the device is called.
        rate_hz: Rate of its sound.
    """

    def __init__(self, library: Any = None, wanted: str | None = None) -> None:
        library = library or sound_library()
        device = find_device(library, "input", wanted)
        self.name = str(device["name"])
        own_hz, number = round(device["default_samplerate"]), device["index"] if wanted is not None else None
        try:
            library.check_input_settings(device=number, samplerate=_PREFERRED_HZ, channels=1, dtype="int16")
            self.rate_hz = _PREFERRED_HZ
        except library.PortAudioError:
            self.rate_hz = own_hz  # the bridge takes any rate up to 48 kHz
        self._loop = asyncio.get_running_loop()
        self._blocks: asyncio.Queue[NDArray[np.int16]] = asyncio.Queue()
        try:
            self._stream = library.InputStream(
                device=number,
                samplerate=self.rate_hz,
                channels=1,
                dtype="int16",
                blocksize=self.rate_hz // _BLOCKS_PER_S,
                callback=self._hear,
            )
            self._stream.start()
        except library.PortAudioError as error:
            raise UnavailableError(f"the microphone does not listen: {error}") from error

    async def __aiter__(self) -> AsyncGenerator[NDArray[np.int16]]:
        """Blocks int16 [n] as they are heard; after a stall of 5 s the oldest are lost."""
        while True:
            yield await self._blocks.get()

    def close(self) -> None:
        """Gives the device back."""
        self._stream.close(ignore_errors=True)

    def _hear(self, data: NDArray[np.int16], frames: int, time: Any, status: Any) -> None:
        """Called by PortAudio, on its thread."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._add, data[:, 0].copy())

    def _add(self, block: NDArray[np.int16]) -> None:
        if self._blocks.qsize() >= _MAX_WAITING:
            self._blocks.get_nowait()
        self._blocks.put_nowait(block)
