"""Sound into a WAV, and a recording in place of a microphone."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import soundfile  # pyright: ignore[reportMissingTypeStubs]  # ships no types
from numpy.typing import NDArray

from taoxr.client import wav
from taoxr.errors import InvalidInputError
from taoxr_runtime.audio.ears import Listener
from taoxr_runtime.audio.null import NullSink
from taoxr_runtime.audio.protocols import BLOCK, SOURCE_HZ, Deliver, clock_us

_FILE_HZ: Final = 24_000
_BLOCK_US: Final = BLOCK * 1_000_000 // SOURCE_HZ


class FileSink(NullSink):
    """Writes what would be heard, silence included, as it goes.

    Args:
        path: The WAV to write.
        clock: The time in microseconds.
        listener: See `NullSink`; with one the file has two channels.

    Raises:
        InvalidInputError: The file cannot be written.
    """

    def __init__(
        self, path: Path, clock: Callable[[], int] = clock_us, listener: Listener | None = None
    ) -> None:
        if not path.parent.is_dir():
            raise InvalidInputError("sound", str(path), "a .wav in a folder that exists")
        super().__init__(clock=clock, rate_hz=_FILE_HZ, listener=listener)
        try:
            self._file: Any = soundfile.SoundFile(
                path, "w", _FILE_HZ, self._spread.channels, "PCM_16", format="WAV"
            )
        except (soundfile.LibsndfileError, OSError) as error:
            raise InvalidInputError("sound", str(path), f"a .wav that can be written ({error})") from error
        self.description = f"into {path}"

    def played(self, block: NDArray[np.int16]) -> None:
        """Writes a block, int16 [n, channels]."""
        if not self._file.closed:
            self._file.write(block)

    def close(self) -> None:
        """Ends the file with what was heard by now."""
        self.heard_us()
        with self._lock:
            self._file.close()


class FileSource:
    """Plays a recording once, at the pace at which it was spoken; a quiet room after that.

    Args:
        path: Any file that libsndfile reads.

    Raises:
        InvalidInputError: It is no recording, or too long.
    """

    problem = ""
    rate_hz = SOURCE_HZ

    def __init__(self, path: Path) -> None:
        self._voice = wav.read(path, SOURCE_HZ)
        self._at = 0
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.description = str(path)

    @property
    def spent(self) -> bool:
        """Whether the recording is over."""
        return self._at >= len(self._voice)

    def start(self, deliver: Deliver) -> None:
        """See `Source`; goes on where it was stopped."""
        self.stop()
        self._stopped.clear()
        self._thread = threading.Thread(target=self._play, args=(deliver,), name="recording", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """See `Source`."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def close(self) -> None:
        """See `Source`."""
        self.stop()

    def _play(self, deliver: Deliver) -> None:
        rng, due_us = np.random.default_rng(0), clock_us() + _BLOCK_US
        while not self._stopped.wait(max(due_us - clock_us(), 0) / 1e6):
            # A room is never quite still.
            block = rng.integers(-2, 3, BLOCK, np.int16)
            piece = self._voice[self._at : self._at + BLOCK]
            block[: len(piece)] += np.clip(piece, -32760, 32760)
            self._at += len(piece)
            deliver(block)
            due_us += _BLOCK_US
