"""The sound devices of the machine, whose clock drives the face."""

import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import soxr  # pyright: ignore[reportMissingTypeStubs]  # ships no types
from numpy.typing import NDArray

from taoxr.errors import UnavailableError
from taoxr.portaudio import find_device, sound_library
from taoxr_runtime.audio.null import NullSink
from taoxr_runtime.audio.protocols import BLOCK, SOURCE_HZ, Deliver, clock_us

LOST_US: Final = 2_500_000
"""A device that has not called for so long is gone. Some take two seconds to start."""
# Less runs dry when other threads hold Python's lock for a while.
_LATENCY_S: Final = 0.06
_BLOCKS_PER_S: Final = 100


class DeviceSink(NullSink):
    """The default loudspeaker.

    While the device does not ask for sound, `problem` says so and time goes on as without sound, so that
    the conversation is not stuck; when it asks again, it is heard again.

    Args:
        library: What ``sounddevice`` offers.
        clock: The time in microseconds.

    Raises:
        UnavailableError: There is no device, or it refuses to play.
    """

    def __init__(self, library: Any = None, clock: Callable[[], int] = clock_us) -> None:
        library = library or sound_library()
        device = find_device(library, "output")
        # Its own rate: not every device takes another one.
        super().__init__(clock=clock, rate_hz=round(device["default_samplerate"]))
        self.description = str(device["name"])
        self._xruns = 0
        self._mode = threading.Lock()
        self._called_us = clock()
        self._stream: Any = None
        try:
            rate = self._playout.rate_hz
            self._stream = library.OutputStream(
                samplerate=rate,
                channels=1,
                dtype="int16",
                latency=_LATENCY_S,
                blocksize=rate // _BLOCKS_PER_S,
                callback=self._fill,
            )
            self._stream.start()
        except library.PortAudioError as error:
            raise UnavailableError(f"{self.description} does not play: {error}") from error

    @property
    def underruns(self) -> int:
        """See `Sink`; the device's own count as well."""
        return super().underruns + self._xruns

    def close(self) -> None:
        """See `Sink`."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close(ignore_errors=True)

    def _fill(self, out: NDArray[np.int16], frames: int, time: Any, status: Any) -> None:
        self._xruns += bool(status.output_underflow)
        with self._mode:
            now = self._called_us = self._clock()
            self.problem = ""
        out[:, 0] = self._playout.take(frames, now + self._delay_us(time))

    def _delay_us(self, time: Any) -> int:
        """From now until the block that is asked for is heard."""
        # Some host interfaces leave the time at 0 or in the past.
        ahead = float(time.outputBufferDacTime - time.currentTime) if time.outputBufferDacTime else 0.0
        if ahead <= 0:
            ahead = float(self._stream.latency) if self._stream is not None else 0.0
        return round(ahead * 1e6)

    def _advance(self) -> int:
        stream = self._stream
        with self._mode:
            now = self._clock()
            if stream is not None and stream.active and now - self._called_us <= LOST_US:
                return now
            if stream is not None and not self.problem:
                self._next_us = now
                self.problem = (
                    f"the sound device {self.description!r} is gone: the answer goes on without sound; "
                    "plug it in again and restart"
                )
            return super()._advance()


class DeviceSource:
    """The default microphone.

    Args:
        library: What ``sounddevice`` offers.
        clock: The time in microseconds.

    Raises:
        UnavailableError: There is no device, or it refuses to listen.
    """

    rate_hz = SOURCE_HZ
    spent = False

    def __init__(self, library: Any = None, clock: Callable[[], int] = clock_us) -> None:
        library = library or sound_library()
        device = find_device(library, "input")
        self.description = str(device["name"])
        self._library = library
        self._clock = clock
        self._called_us = clock()
        self._running = False
        self._deliver: Deliver | None = None
        self._rest = np.zeros(0, np.int16)
        rate = self._rate(round(device["default_samplerate"]))
        self._resampler: Any = None if rate == SOURCE_HZ else soxr.ResampleStream(rate, SOURCE_HZ, 1, "int16")
        try:
            self._stream: Any = library.InputStream(
                samplerate=rate, channels=1, dtype="int16", blocksize=rate * BLOCK // SOURCE_HZ,
                callback=self._hear,
            )  # fmt: skip
        except library.PortAudioError as error:
            raise UnavailableError(f"{self.description} does not listen: {error}") from error

    @property
    def problem(self) -> str:
        """See `Source`."""
        if not self._running or (self._stream.active and self._clock() - self._called_us <= LOST_US):
            return ""
        return f"the microphone {self.description!r} is gone: plug it in again and restart"

    def start(self, deliver: Deliver) -> None:
        """See `Source`.

        Raises:
            UnavailableError: The device refuses.
        """
        self._deliver, self._rest, self._called_us = deliver, self._rest[:0], self._clock()
        if not self._running:
            try:
                self._stream.start()
            except self._library.PortAudioError as error:
                raise UnavailableError(f"{self.description} does not listen: {error}") from error
            self._running = True

    def stop(self) -> None:
        """See `Source`."""
        self._deliver = None
        if self._running:
            self._running = False
            self._stream.stop(ignore_errors=True)

    def close(self) -> None:
        """See `Source`."""
        self._deliver, self._running = None, False
        self._stream.close(ignore_errors=True)

    def _rate(self, own_hz: int) -> int:
        try:
            self._library.check_input_settings(samplerate=SOURCE_HZ, channels=1, dtype="int16")
        except self._library.PortAudioError:
            return own_hz
        return SOURCE_HZ

    def _hear(self, data: NDArray[np.int16], frames: int, time: Any, status: Any) -> None:
        self._called_us = self._clock()
        deliver = self._deliver
        if deliver is None:
            return
        heard: NDArray[np.int16] = data[:, 0].copy()
        if self._resampler is not None:
            heard = np.asarray(self._resampler.resample_chunk(heard), np.int16)
        rest = np.concatenate([self._rest, heard])
        while len(rest) >= BLOCK:
            deliver(rest[:BLOCK])
            rest = rest[BLOCK:]
        self._rest = rest
