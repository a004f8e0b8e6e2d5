"""``taoxr.worker.v1.A2bsService``: lips for our own voice and for any other."""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from typing import Final

import grpc.aio
import numpy as np
from numpy.typing import NDArray

from taoxr.arkit import NAMES, SPACE
from taoxr.errors import InvalidInputError, ModelError
from taoxr.v1.common_pb2 import Frame, PhonemeTiming, RigDescription
from taoxr.worker.v1 import a2bs_pb2_grpc
from taoxr.worker.v1.a2bs_pb2 import (
    AnimateAudioRequest,
    AnimateAudioResponse,
    AnimatePhonemesRequest,
    AnimatePhonemesResponse,
    DescribeRigRequest,
    DescribeRigResponse,
)
from taoxr_models import catalog
from taoxr_models.a2bs.animate import DEFAULT_FRAME_RATE, Track, animate_phonemes, check_frame_rate
from taoxr_models.a2bs.any_voice import AudioAnimator
from taoxr_models.a2bs.listener import Listener
from taoxr_models.a2bs.mood import in_mood
from taoxr_models.a2bs.network import Network
from taoxr_models.a2bs.phonemes import Phoneme
from taoxr_models.a2bs.unitalker import Face, UniTalker, UniTalkerAnimator, animate_clause
from taoxr_models.dsp.resample import check_rate, samples_of
from taoxr_models.worker.model_thread import ModelThread
from taoxr_models.worker.role import Role, RoleSetup

MODEL: Final = "phoneme-lips"
"""Id of the built-in method; it needs no installed model."""
_MAX_CLAUSE_S: Final = 120.0
_MAX_TEXT_CHARS: Final = 4000
# Longest audio between two looks at the rest of the world.
_SLICE_S: Final = 1.0


class A2bsRole(a2bs_pb2_grpc.A2bsServiceServicer):
    """Moves the face to speech.

    Args:
        setup: From the worker process.

    Raises:
        InvalidInputError: The model is neither the built-in one nor a UniTalker of the catalogue.
    """

    def __init__(self, setup: RoleSetup) -> None:
        self._model = setup.model or catalog.default_model("a2bs", MODEL)
        if self._model != MODEL and catalog.entry(self._model).recipe != "unitalker":
            raise InvalidInputError("--model", self._model, f"{MODEL}, or a model of the recipe unitalker")
        self._thread: ModelThread = setup.thread
        self._network: Network | ModelError | None = None
        self._unitalker: tuple[UniTalker, Face] | None = None

    @property
    def model(self) -> str:
        """Id of the method."""
        return self._model

    @property
    def sample_rate_hz(self) -> int:
        """0: makes no audio."""
        return 0

    def load(self) -> None:
        """Loads the network for any voice, or the model asked for.

        Phonemes need no model; so without the network the worker runs, and `AnimateAudio` says what lacks.
        """
        if self._model == MODEL:
            try:
                self._network = Network.installed()
            except ModelError as error:
                self._network = error
            return
        folder = catalog.verified(self._model)
        self._unitalker = UniTalker(folder), Face.of_folder(folder)

    def register(self, server: grpc.aio.Server) -> None:
        """Adds the service to the server."""
        a2bs_pb2_grpc.add_A2bsServiceServicer_to_server(self, server)

    async def DescribeRig(  # noqa: N802  the rpc's name
        self,
        request: DescribeRigRequest,
        context: grpc.aio.ServicerContext[DescribeRigRequest, DescribeRigResponse],
    ) -> DescribeRigResponse:
        """Tells what the numbers of all tracks mean."""
        if self._unitalker is not None:
            _, face = self._unitalker
            rig = RigDescription(
                space=face.space,
                blendshape_names=face.names,
                frame_rate=DEFAULT_FRAME_RATE,
                provisional=False,
            )
            return DescribeRigResponse(rig=rig, whole_clauses=True)
        rig = RigDescription(
            space=SPACE, blendshape_names=NAMES, frame_rate=DEFAULT_FRAME_RATE, provisional=False
        )
        return DescribeRigResponse(rig=rig)

    async def AnimatePhonemes(  # noqa: N802  the rpc's name
        self,
        request: AnimatePhonemesRequest,
        context: grpc.aio.ServicerContext[AnimatePhonemesRequest, AnimatePhonemesResponse],
    ) -> AnimatePhonemesResponse:
        """Animates one clause from exact phoneme times; UniTalker hears its audio instead."""
        mood_after: list[float] = []
        if self._unitalker is None:
            track, mood_after = await self._thread.run(_animate_clause, request)
        else:
            track = await self._thread.run(_animate_sound, *self._unitalker, request)
        return AnimatePhonemesResponse(frames=_frames(track), mood_after=mood_after)

    async def AnimateAudio(  # noqa: N802  the rpc's name
        self,
        request_iterator: AsyncIterable[AnimateAudioRequest],
        context: grpc.aio.ServicerContext[AnimateAudioRequest, AnimateAudioResponse],
    ) -> AsyncGenerator[AnimateAudioResponse]:
        """Animates audio as it comes; frames follow their audio by a fifth of a second."""
        requests = aiter(request_iterator)
        first = await anext(requests, None)
        if first is None or first.WhichOneof("payload") != "config":
            raise InvalidInputError("config", None, "the first request to hold `config`")
        rate = check_rate(first.config.sample_rate_hz, "config.sample_rate_hz")
        frame_rate = check_frame_rate(first.config.frame_rate, "config.frame_rate")
        if self._unitalker is not None:
            animator = UniTalkerAnimator(*self._unitalker, rate, frame_rate)
        elif isinstance(self._network, Network):
            animator = AudioAnimator(Listener(self._network), rate, frame_rate)
        else:
            raise self._network or AssertionError("called before load")
        async for request in requests:
            if request.WhichOneof("payload") != "pcm":
                raise InvalidInputError("payload", request.WhichOneof("payload"), "`pcm` after the config")
            for part in _slices(samples_of(request.pcm), round(_SLICE_S * rate)):
                track = await self._thread.run(animator.push, part)
                if len(track.times_us):
                    yield AnimateAudioResponse(frames=_frames(track))
        track = await self._thread.run(animator.finish)
        if len(track.times_us):
            yield AnimateAudioResponse(frames=_frames(track))


def _animate_clause(request: AnimatePhonemesRequest) -> tuple[Track, list[float]]:
    """The track of a clause or of a span of it, and the mood that the clause ends with."""
    pcm = samples_of(request.pcm)
    rate = check_rate(request.sample_rate_hz) if len(pcm) else 1
    frame_rate = check_frame_rate(request.frame_rate, "frame_rate")
    if len(request.text) > _MAX_TEXT_CHARS:
        raise InvalidInputError("text", f"{len(request.text)} characters", f"at most {_MAX_TEXT_CHARS}")
    phonemes = _phonemes(request.phonemes)
    if phonemes and (phonemes[0].start < 0.0 or phonemes[-1].end > _MAX_CLAUSE_S):
        span = f"{phonemes[0].start:g} to {phonemes[-1].end:g} s"
        raise InvalidInputError("phonemes", span, f"times from 0 to {_MAX_CLAUSE_S:g} s")
    start_us = request.clock_offset_us
    track = animate_phonemes(
        phonemes,
        pcm,
        rate,
        frame_rate=frame_rate,
        clock_offset_us=start_us,
        previous=_phonemes(request.previous),
        pcm_start_us=request.pcm_start_us,
        span_us=_span(request),
    )
    length_us = round(phonemes[-1].end * 1e6) if phonemes else len(pcm) * 1_000_000 // rate
    return in_mood(track, request.text, request.mood_before, start_us, start_us + length_us)


def _span(request: AnimatePhonemesRequest) -> tuple[int, int] | None:
    if request.start_us < 0 or request.pcm_start_us < 0:
        raise InvalidInputError("start_us", min(request.start_us, request.pcm_start_us), "0 or more")
    if request.end_us == 0:
        return (request.start_us, round(_MAX_CLAUSE_S * 1e6)) if request.start_us else None
    if request.end_us <= request.start_us:
        raise InvalidInputError("end_us", request.end_us, f"more than start_us, {request.start_us}")
    return request.start_us, request.end_us


def _animate_sound(model: UniTalker, face: Face, request: AnimatePhonemesRequest) -> Track:
    pcm = samples_of(request.pcm)
    rate = check_rate(request.sample_rate_hz)
    frame_rate = check_frame_rate(request.frame_rate, "frame_rate")
    if not len(pcm) or len(pcm) > _MAX_CLAUSE_S * rate:
        raise InvalidInputError(
            "pcm", f"{len(pcm)} samples", f"the clause's audio, up to {_MAX_CLAUSE_S:g} s"
        )
    if request.start_us or request.end_us or request.pcm_start_us:
        span = f"{request.start_us} to {request.end_us} us"
        raise InvalidInputError("start_us", span, "the whole clause, as DescribeRig says")
    return animate_clause(
        model, face, pcm, rate, frame_rate=frame_rate, clock_offset_us=request.clock_offset_us
    )


def _phonemes(timings: Iterable[PhonemeTiming]) -> list[Phoneme]:
    return [Phoneme(t.symbol, t.start_us * 1e-6, t.end_us * 1e-6) for t in timings]


def _frames(track: Track) -> Iterable[Frame]:
    rows = zip(track.times_us.tolist(), track.weights, strict=True)
    return [Frame(time_us=t, weights=weights.tolist()) for t, weights in rows]


def _slices(samples: NDArray[np.int16], size: int) -> list[NDArray[np.int16]]:
    return [samples[i : i + size] for i in range(0, len(samples), size)]


def create(setup: RoleSetup) -> Role:
    """The role for the worker process."""
    return A2bsRole(setup)
