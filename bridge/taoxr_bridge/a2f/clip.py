"""The requests of one call: checked, passed on to the worker, and kept to be sent back with the frames."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from taoxr.errors import InvalidInputError
from taoxr.interop.a2f.v1 import a2f_pb2 as pb
from taoxr.worker.v1 import a2bs_pb2
from taoxr_bridge import calls, validation

_BYTES_PER_SAMPLE: Final = 2
# Audio that waits for its frames: far more than the worker's look-ahead, little enough for many clients.
_MAX_HELD_S: Final = 4.0
_PIECE_S: Final = 0.5


def header_of(request: pb.AudioStream | None) -> pb.AudioStreamHeader:
    """The header that a call must begin with.

    Raises:
        InvalidInputError: It is missing, or its audio is of another kind than ours.
    """
    given = "no request" if request is None else request.WhichOneof("stream_part")
    if request is None or given != "audio_stream_header":
        raise InvalidInputError("stream_part", given, "audio_stream_header as the first request")
    audio = request.audio_stream_header.audio_header
    field = "audio_stream_header.audio_header"
    for name, value, expected in (
        ("audio_format", int(audio.audio_format), 0),
        ("channel_count", audio.channel_count, 1),
        ("bits_per_sample", audio.bits_per_sample, 16),
    ):
        if value != expected:
            raise InvalidInputError(f"{field}.{name}", value, f"{expected}: mono 16-bit PCM is accepted")
    validation.check_sample_rate(f"{field}.samples_per_second", audio.samples_per_second)
    return request.audio_stream_header


class Clip:
    """Audio of one call.

    Args:
        sample_rate_hz: Its rate.
        max_s: Longest clip that is accepted, in seconds.

    Attributes:
        has_emotions: True once a request brought emotions.
    """

    def __init__(self, sample_rate_hz: int, max_s: float) -> None:
        self._bytes_per_s = sample_rate_hz * _BYTES_PER_SAMPLE
        self._rate = sample_rate_hz
        self._max_s = max_s
        self._held = bytearray()
        self._taken = 0  # bytes that were taken before `_held`
        self._room = asyncio.Event()
        self._more = asyncio.Event()
        self._ended = False
        self.has_emotions = False

    async def read(self, requests: AsyncIterator[pb.AudioStream], animation: calls.AudioAnimation) -> None:
        """Passes the audio on, says when it ends, and watches that nothing follows.

        Raises:
            InvalidInputError: A request is out of order, or the clip is empty or too long.
        """
        half = b""  # of a sample; pieces may have any size
        received = 0
        async for request in requests:
            part = request.WhichOneof("stream_part")
            if part == "end_of_audio":
                break
            if part != "audio_with_emotion":
                raise InvalidInputError("stream_part", part, "audio_with_emotion or end_of_audio")
            self.has_emotions |= bool(request.audio_with_emotion.emotions)
            pcm = half + request.audio_with_emotion.audio_buffer
            whole = len(pcm) // _BYTES_PER_SAMPLE * _BYTES_PER_SAMPLE
            half = pcm[whole:]
            received += whole
            if received > self._max_s * self._bytes_per_s:
                raise InvalidInputError(
                    "audio_with_emotion.audio_buffer",
                    f"{received / self._bytes_per_s:.1f} s in all",
                    f"a clip of at most {self._max_s:g} s",
                )
            await self._pass_on(pcm[:whole], animation)
        else:
            raise InvalidInputError(
                "stream_part", "the end of the requests", "end_of_audio as the last request"
            )
        if half or not received:
            given = f"{received + len(half)} bytes in all"
            raise InvalidInputError("audio_with_emotion.audio_buffer", given, "whole samples, at least one")
        self._ended = True
        self._more.set()
        await animation.close()
        async for request in requests:
            raise InvalidInputError(
                "stream_part", request.WhichOneof("stream_part"), "nothing after end_of_audio"
            )

    async def _pass_on(self, pcm: bytes, animation: calls.AudioAnimation) -> None:
        size = round(_PIECE_S * self._rate) * _BYTES_PER_SAMPLE
        for start in range(0, len(pcm), size):
            while len(self._held) > _MAX_HELD_S * self._bytes_per_s:
                self._room.clear()
                await self._room.wait()
            piece = pcm[start : start + size]
            self._held += piece
            self._more.set()
            await animation.put(a2bs_pb2.AnimateAudioRequest(pcm=piece))

    async def take_until(self, until_s: float) -> pb.AudioWithTimeCode:
        """The audio from where the last one ended to `until_s`; waits for it, unless the clip ends before."""
        wanted = round(until_s * self._rate) * _BYTES_PER_SAMPLE - self._taken
        while len(self._held) < wanted and not self._ended:
            self._more.clear()
            await self._more.wait()
        return self._take(max(0, wanted))

    def rest(self) -> pb.AudioWithTimeCode:
        """The audio from where the last one ended to the end of the clip."""
        return self._take(len(self._held))

    def _take(self, size: int) -> pb.AudioWithTimeCode:
        taken = bytes(self._held[:size])
        audio = pb.AudioWithTimeCode(time_code=self._taken / self._bytes_per_s, audio_buffer=taken)
        del self._held[:size]
        self._taken += len(taken)
        self._room.set()
        return audio
