"""``taoxr.worker.v1.TtsService``."""

import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final

import grpc.aio

from taoxr.errors import InvalidInputError
from taoxr.v1 import common_pb2
from taoxr.worker.v1 import tts_pb2, tts_pb2_grpc
from taoxr_models.catalog import default_model, verified
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.text import readable
from taoxr_models.tts.voice import Utterance, Voice
from taoxr_models.worker.role import Role, RoleSetup

MAX_TEXT_CHARS: Final = 400
_SPEEDS: Final = (0.5, 2.0)
# A number, a word that no lexicon has and many that it has: what gruut loads when it first needs it.
# Long enough to hear how loud the voice is.
_WARM_UP: Final = "Hello, this is taoxr; it learned 12 new words today, and it is very glad to meet you."


class _Speaker:
    """Phonemiser and voice."""

    def __init__(self, folder: Path) -> None:
        self._voice = Voice(folder)
        self._phonemes = Phonemizer(self._voice.language)
        self.sample_rate_hz = self._voice.sample_rate_hz
        for symbols in self._phonemes(self._readable(_WARM_UP)):
            self._voice.calibrate(symbols)

    def speak(
        self, text: str, speed: float, seed: int, speaker: str
    ) -> Generator[tts_pb2.SynthesizeResponse | None]:
        """Speaks a text piece by piece; None is a step without audio."""
        self._voice.check_speaker(speaker)
        rows = self._phonemes(self._readable(text))
        yield None
        spoken: list[Utterance] = []
        for symbols in rows:
            spoken.append(self._voice.plan(symbols, speed, seed, speaker))
            yield None
        response = tts_pb2.SynthesizeResponse(
            sample_rate_hz=self.sample_rate_hz, phonemes=_timing(spoken, self.sample_rate_hz)
        )
        if not spoken:
            yield response
        for utterance in spoken:
            for pcm in utterance.pieces():
                if not pcm.size:
                    yield None
                    continue
                response.pcm = pcm.astype("<i2").tobytes()
                yield response
                response = tts_pb2.SynthesizeResponse()

    def _readable(self, text: str) -> str:
        return readable(text, english=self._phonemes.english)


class TtsRole(tts_pb2_grpc.TtsServiceServicer):
    """The voice as a worker's role. Calls take turns, one piece of a clause at a time."""

    def __init__(self, setup: RoleSetup) -> None:
        self._thread = setup.thread
        self._model = setup.model or default_model("tts")
        self._speaker: _Speaker | None = None

    @property
    def model(self) -> str:
        """Catalogue id of the voice."""
        return self._model

    @property
    def sample_rate_hz(self) -> int:
        """Rate of the audio; 0 before `load`."""
        return 0 if self._speaker is None else self._speaker.sample_rate_hz

    def load(self) -> None:
        """Verifies and loads the voice, and speaks once, so that the first clause is fast."""
        self._speaker = _Speaker(verified(self._model))

    def register(self, server: grpc.aio.Server) -> None:
        """Adds ``TtsService`` to the server."""
        tts_pb2_grpc.add_TtsServiceServicer_to_server(self, server)

    async def Synthesize(  # noqa: N802  the rpc's name
        self,
        request: tts_pb2.SynthesizeRequest,
        context: grpc.aio.ServicerContext[tts_pb2.SynthesizeRequest, tts_pb2.SynthesizeResponse],
    ) -> AsyncGenerator[tts_pb2.SynthesizeResponse]:
        """Speaks one clause, piece by piece.

        Raises:
            InvalidInputError: The text is too long, the speed out of range, or there is no such speaker.
        """
        assert self._speaker is not None  # the framework lets no call in before `load` is through
        if len(request.text) > MAX_TEXT_CHARS:
            raise InvalidInputError("text", f"{len(request.text)} characters", f"at most {MAX_TEXT_CHARS}")
        speed = request.speed or 1.0
        if not _SPEEDS[0] <= speed <= _SPEEDS[1]:
            raise InvalidInputError("speed", speed, f"0 (normal) or {_SPEEDS[0]} to {_SPEEDS[1]}")
        steps = self._thread.steps(self._speaker.speak(request.text, speed, request.seed, request.speaker))
        async with aclosing(steps) as responses:
            begun = time.perf_counter()
            async for response in responses:
                if response is not None:
                    response.compute_us = round((time.perf_counter() - begun) * 1e6)
                    yield response
                    begun = time.perf_counter()


def create(setup: RoleSetup) -> Role:
    """Makes the role."""
    return TtsRole(setup)


def _timing(spoken: Sequence[Utterance], rate_hz: int) -> list[common_pb2.PhonemeTiming]:
    """One row for utterances that follow each other."""
    row: list[common_pb2.PhonemeTiming] = []
    start = 0
    for utterance in spoken:
        for timed in utterance.timing:
            # Each edge is rounded on its own, so that neighbours meet exactly and errors do not add up.
            begin, end = (round((start + at) * 1_000_000 / rate_hz) for at in (timed.start, timed.end))
            row.append(common_pb2.PhonemeTiming(symbol=timed.symbol, start_us=begin, end_us=end))
        start += utterance.samples
    return row
