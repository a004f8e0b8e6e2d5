"""The sound devices of the machine, whose clock drives the face."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import numpy as np
import soxr  # pyright: ignore[reportMissingTypeStubs]  # ships no types
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr.portaudio import Kind, find_device, sound_library
from taoxr_runtime.audio.binaural import spread
from taoxr_runtime.audio.ears import Listener
from taoxr_runtime.audio.null import NullSink
from taoxr_runtime.audio.protocols import BLOCK, SOURCE_HZ, Deliver, clock_us
from taoxr_runtime.audio.recovery import STREAMS, Retry, Wait

LOST_US: Final = 2_500_000
"""A device that has not called for so long is gone. Some take two seconds to start."""
# Less runs dry when other threads hold Python's lock for a while.
_LATENCY_S: Final = 0.06
_BLOCKS_PER_S: Final = 100


class DeviceSink(NullSink):
    """A loudspeaker.

    While the device does not ask for sound, `problem` says so and time goes on as without sound, so that
    the conversation is not stuck. It is opened again, or what is the default then, as soon as that is
    possible.

    Args:
        library: What ``sounddevice`` offers.
        clock: The time in microseconds.
        listener: See `NullSink`. A device of one channel does without.
        wait: See `Retry`.
        wanted: Number of a device or part of its name; None: the default.

    Raises:
        UnavailableError: There is no device, or it refuses to play.
        InvalidInputError: No device, or more than one, is meant by ``wanted``.
    """

    def __init__(
        self,
        library: Any = None,
        clock: Callable[[], int] = clock_us,
        listener: Listener | None = None,
        wait: Wait | None = None,
        wanted: str | None = None,
    ) -> None:
        self._library = library or sound_library()
        self._wanted = wanted
        device = find_device(self._library, "output", wanted)
        # Its own rate: not every device takes another one.
        super().__init__(clock=clock, rate_hz=round(device["default_samplerate"]), listener=listener)
        self._listener = listener
        self._xruns = 0
        self._mode = threading.Lock()
        self._called_us = clock()
        self._lost = False
        self._retry = Retry(self._reopen, "loudspeaker", wait)
        self._stream: Any = None
        try:
            self._stream = self._open(device)
        except self._library.PortAudioError as error:
            raise UnavailableError(f"{device['name']} does not play: {error}") from error

    @property
    def underruns(self) -> int:
        """See `Sink`; the device's own count as well."""
        return super().underruns + self._xruns

    def choose(self, wanted: str) -> None:
        """Goes on with another loudspeaker; what is queued is not lost.

        Args:
            wanted: Its number, or a part of its name.

        Raises:
            InvalidInputError: No device, or more than one, is meant.
            UnavailableError: It refuses to play; the one before is opened again.
        """
        device = find_device(self._library, "output", wanted)
        with self._mode:
            old, self._stream = self._stream, None
        if old is not None:
            STREAMS.close(old)
        try:
            stream = self._open(device)
        except self._library.PortAudioError as error:
            with self._mode:
                self._lost, self._next_us = True, self._clock()
            self._retry.start()
            raise UnavailableError(f"{device['name']} does not play: {error}") from error
        self._wanted = wanted
        with self._mode:
            self._stream, self._called_us, self._lost = stream, self._clock(), False

    def close(self) -> None:
        """See `Sink`."""
        self._retry.close()
        stream, self._stream = self._stream, None
        if stream is not None:
            STREAMS.close(stream)

    def _open(self, device: dict[str, Any]) -> Any:
        """A stream that plays.

        Raises:
            PortAudioError: The device refuses.
        """
        stereo = device["max_output_channels"] > 1
        rate = self._playout.rate_hz
        self._spread = spread(rate, self._listener if stereo else None)
        one_channel = self._listener is not None and not stereo
        self.device = str(device["name"])
        """Name of the loudspeaker."""
        self.description = self.device + (", one channel: no direction" if one_channel else "")

        def make() -> Any:
            return self._library.OutputStream(
                device=device["index"],
                samplerate=rate,
                channels=self._spread.channels,
                dtype="int16",
                latency=_LATENCY_S,
                blocksize=rate // _BLOCKS_PER_S,
                callback=self._fill,
            )

        stream = STREAMS.open(make)
        try:
            stream.start()
        except self._library.PortAudioError:
            STREAMS.close(stream)
            raise
        return stream

    def _reopen(self) -> bool:
        """Opens the wanted device, or the default one, in place of the one that is gone."""
        with self._mode:
            if not self._lost:
                return True  # it has come back by itself
            stream, self._stream = self._stream, None
        if stream is not None:
            STREAMS.close(stream)
        try:
            STREAMS.look(self._library)
            stream = self._open(_wanted_or_default(self._library, "output", self._wanted))
        except (UnavailableError, self._library.PortAudioError):
            return False
        with self._mode:
            self._stream, self._called_us, self._lost = stream, self._clock(), False
        return True

    def _fill(self, out: NDArray[np.int16], frames: int, time: Any, status: Any) -> None:
        self._xruns += bool(status.output_underflow)
        with self._mode:
            now = self._called_us = self._clock()
            if self._stream is not None:
                self.problem, self._lost = "", False
        out[:] = self._spread.render(self._playout.take(frames, now + self._delay_us(time)))

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
            if stream is not None and not self._lost:
                self._lost, self._next_us = True, now
                self.problem = (
                    f"the sound device {self.description!r} is gone: the answer goes on without sound, which "
                    "comes back when a device is plugged in"
                )
                self._retry.start()
            return super()._advance()


class DeviceSource:
    """A microphone.

    When it is gone, `problem` says so, and it, or what is the default then, is opened again as soon as that
    is possible.

    Args:
        library: What ``sounddevice`` offers.
        clock: The time in microseconds.
        wait: See `Retry`.
        wanted: Number of a device or part of its name; None: the default.

    Raises:
        UnavailableError: There is no device, or it refuses to listen.
        InvalidInputError: No device, or more than one, is meant by ``wanted``.
    """

    rate_hz = SOURCE_HZ
    spent = False

    def __init__(
        self,
        library: Any = None,
        clock: Callable[[], int] = clock_us,
        wait: Wait | None = None,
        wanted: str | None = None,
    ) -> None:
        self._library = library or sound_library()
        self._wanted = wanted
        self._clock = clock
        self._called_us = clock()
        self._running = self._lost = False
        self._deliver: Deliver | None = None
        self._rest = np.zeros(0, np.int16)
        self._resampler: Any = None
        self._state = threading.Lock()
        self._retry = Retry(self._reopen, "microphone", wait)
        self.description = self.device = ""
        """Name of the microphone."""
        device = find_device(self._library, "input", wanted)
        try:
            self._stream: Any = self._open(device)
        except self._library.PortAudioError as error:
            raise UnavailableError(f"{self.description} does not listen: {error}") from error

    @property
    def problem(self) -> str:
        """See `Source`."""
        with self._state:
            stream = self._stream
            if self._running and not self._lost:
                gone = stream is None or not stream.active or self._clock() - self._called_us > LOST_US
                if gone:
                    self._lose()
            if not self._lost:
                return ""
            return f"the microphone {self.description!r} is gone: it listens again when one is plugged in"

    def start(self, deliver: Deliver) -> None:
        """See `Source`."""
        with self._state:
            self._deliver, self._rest, self._called_us = deliver, self._rest[:0], self._clock()
            if not self._running:
                self._running = True
                try:
                    if not self._lost:
                        self._stream.start()
                except self._library.PortAudioError:
                    self._lose()

    def stop(self) -> None:
        """See `Source`."""
        with self._state:
            self._deliver = None
            stream = self._stream if self._running else None
            self._running = False
        if stream is not None:
            stream.stop(ignore_errors=True)

    def close(self) -> None:
        """See `Source`."""
        self._retry.close()
        with self._state:
            self._deliver, self._running = None, False
            stream, self._stream = self._stream, None
        if stream is not None:
            STREAMS.close(stream)

    def choose(self, wanted: str) -> None:
        """Goes on with another microphone.

        Args:
            wanted: Its number, or a part of its name.

        Raises:
            InvalidInputError: No device, or more than one, is meant.
            UnavailableError: It refuses to listen; the one before is opened again.
        """
        device = find_device(self._library, "input", wanted)
        with self._state:
            old, self._stream = self._stream, None
            before = self._wanted
        if old is not None:
            STREAMS.close(old)
        self._wanted = wanted
        if not self._open_in_place(device):
            self._wanted = before
            with self._state:
                self._lose()
            raise UnavailableError(f"{device['name']} does not listen")

    def _lose(self) -> None:
        self._lost = True
        self._retry.start()

    def _open(self, device: dict[str, Any]) -> Any:
        self.description = self.device = str(device["name"])
        rate = self._rate(device)
        self._resampler = None if rate == SOURCE_HZ else soxr.ResampleStream(rate, SOURCE_HZ, 1, "int16")

        def make() -> Any:
            return self._library.InputStream(
                device=device["index"], samplerate=rate, channels=1, dtype="int16",
                blocksize=rate * BLOCK // SOURCE_HZ, callback=self._hear,
            )  # fmt: skip

        return STREAMS.open(make)

    def _reopen(self) -> bool:
        """Opens the wanted device, or the default one, in place of the one that is gone."""
        with self._state:
            old, self._stream = self._stream, None
        if old is not None:
            STREAMS.close(old)
        try:
            STREAMS.look(self._library)
            device = _wanted_or_default(self._library, "input", self._wanted)
        except (UnavailableError, self._library.PortAudioError):
            return False
        return self._open_in_place(device)

    def _open_in_place(self, device: dict[str, Any]) -> bool:
        try:
            stream = self._open(device)
        except self._library.PortAudioError:
            return False
        with self._state:
            self._stream, self._called_us = stream, self._clock()
            try:
                if self._running:
                    stream.start()
            except self._library.PortAudioError:
                return False
            self._lost = False
        return True

    def _rate(self, device: dict[str, Any]) -> int:
        try:
            self._library.check_input_settings(
                device=device["index"], samplerate=SOURCE_HZ, channels=1, dtype="int16"
            )
        except self._library.PortAudioError:
            return round(device["default_samplerate"])
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


def _wanted_or_default(library: Any, kind: Kind, wanted: str | None) -> dict[str, Any]:
    """The device that was asked for, or while it is away the default one.

    Raises:
        UnavailableError: There is neither.
    """
    if wanted is not None:
        with suppress(InvalidInputError):
            return find_device(library, kind, wanted)
    return find_device(library, kind)
