"""Writing the film: H.264 pictures and AAC sound in an MP4."""

# PyAV leaves the parameter of its generic Packet open.
# pyright: reportUnknownMemberType=false
from collections.abc import Generator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Final

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container.output import OutputContainer
from av.video.stream import VideoStream
from numpy.typing import NDArray

from taoxr.errors import UnavailableError

_AUDIO_BITS: Final = 128_000
_BLOCK: Final = 1024


class VideoWriter:
    """An open film; made by `open_video`."""

    def __init__(
        self, container: OutputContainer, video: VideoStream, sound: AudioStream, fps: Fraction,
        pcm: NDArray[np.int16], rate_hz: int,
    ) -> None:  # fmt: skip
        self._container = container
        self._video = video
        self._audio = sound
        self._fps = fps
        self._pcm = pcm
        self._rate = rate_hz
        self._written = 0
        self.frames = 0

    def add(self, picture: NDArray[np.uint8]) -> None:
        """Appends a picture, uint8 [height, width, 3], sRGB, and the sound up to its end."""
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
        frame.pts, frame.time_base = self.frames, 1 / self._fps
        self._container.mux(self._video.encode(frame))
        self.frames += 1
        self._sound_until(int(self.frames * self._rate / self._fps))

    def _sound_until(self, sample: int) -> None:
        end = min(sample, self._pcm.shape[1])
        while self._written < end:
            # Packed samples: left and right take turns in one row.
            block = self._pcm[:, self._written : min(self._written + _BLOCK, end)].T.reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(block), format="s16", layout="stereo")
            frame.sample_rate, frame.pts = self._rate, self._written
            frame.time_base = Fraction(1, self._rate)
            self._container.mux(self._audio.encode(frame))
            self._written += block.shape[1] // 2

    def flush(self) -> None:
        """Writes what the encoders still hold."""
        self._container.mux(self._video.encode(None))
        self._container.mux(self._audio.encode(None))


@contextmanager
def open_video(
    path: Path, width: int, height: int, fps: float, pcm: NDArray[np.int16], rate_hz: int
) -> Generator[VideoWriter]:
    """Opens a film for writing; what was added is playable even when the block ends with an exception.

    Args:
        path: An ``.mp4``.
        width: Pixels, even.
        height: Pixels, even.
        fps: Pictures per second.
        pcm: int16 [2, n], the sound of the whole film.
        rate_hz: Rate of ``pcm``.

    Raises:
        UnavailableError: This build of PyAV has no encoder for the film.
    """
    rate = Fraction(fps).limit_denominator(1001)
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        video = container.add_stream(_video_codec(), rate=rate)
        assert isinstance(video, VideoStream)
        video.width, video.height, video.pix_fmt = width, height, "yuv420p"
        if video.codec.name == "libx264":
            video.options = {"preset": "veryfast", "crf": "20"}
        else:
            video.bit_rate = 6 * width * height
        sound = container.add_stream("aac", rate=rate_hz)
        assert isinstance(sound, AudioStream)
        sound.layout, sound.bit_rate = "stereo", _AUDIO_BITS
        writer = VideoWriter(container, video, sound, rate, pcm, rate_hz)
        try:
            yield writer
        finally:
            writer.flush()


def _video_codec() -> str:
    for name in ("libx264", "mpeg4"):
        try:
            return av.Codec(name, "w").name
        except ValueError:  # PyAV's UnknownCodecError
            continue
    raise UnavailableError("PyAV has neither libx264 nor mpeg4: install the `av` wheel of PyPI")
