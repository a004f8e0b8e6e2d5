"""``taoxr.worker.v1.EarService``: the ear on a gRPC stream."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from typing import Final

import grpc.aio
import numpy as np

from taoxr.engine import Module
from taoxr.errors import InvalidInputError
from taoxr.worker.v1 import ear_pb2_grpc
from taoxr.worker.v1.ear_pb2 import ListenRequest, ListenResponse
from taoxr_models import catalog
from taoxr_models.dsp.resample import samples_of
from taoxr_models.ear.online.engines import Recognizer, load_recognizer
from taoxr_models.ear.online.listener import OnlineListener
from taoxr_models.ear.stream import EarStream
from taoxr_models.ear.vad import load_vad
from taoxr_models.ear.whisper import Whisper
from taoxr_models.worker.model_thread import ModelThread
from taoxr_models.worker.role import Role, RoleSetup

# Requests read ahead; when the recogniser falls behind, the caller has to wait.
_READ_AHEAD: Final = 32
# Longest audio between two looks at the rest of the world.
_SLICE_S: Final = 0.5


class EarRole(ear_pb2_grpc.EarServiceServicer):
    """Hears: voice activity and speech recognition.

    Args:
        setup: From the worker process; its model id names the recogniser.
    """

    def __init__(self, setup: RoleSetup) -> None:
        self._thread: ModelThread = setup.thread
        self._vad_id = catalog.default_model("vad")
        self._asr_id = setup.model or catalog.default_model("asr")
        self._vad: Module | None = None
        self._whisper: Whisper | None = None
        self._recognizer: Recognizer | None = None  # instead of Whisper, where the model is a transducer

    @property
    def model(self) -> str:
        """Ids of the detector and the recogniser."""
        return f"{self._vad_id}+{self._asr_id}"

    @property
    def sample_rate_hz(self) -> int:
        """0: the ear makes no audio."""
        return 0

    def load(self) -> None:
        """Verifies and loads both models, and runs each once."""
        self._vad = load_vad(catalog.verified(self._vad_id))
        entry = catalog.entry(self._asr_id)
        folder = catalog.verified(self._asr_id)
        if entry.recipe == "sherpa-transducer":
            self._recognizer = load_recognizer(folder, entry.engine)
            return
        self._whisper = Whisper(folder)
        warm = self._whisper.recognise(np.zeros(1600, np.float32))
        while not warm.done:
            warm.step()

    def register(self, server: grpc.aio.Server) -> None:
        """Adds the service to the server."""
        ear_pb2_grpc.add_EarServiceServicer_to_server(self, server)

    async def Listen(  # noqa: N802  the rpc's name
        self,
        request_iterator: AsyncIterable[ListenRequest],
        context: grpc.aio.ServicerContext[ListenRequest, ListenResponse],
    ) -> AsyncGenerator[ListenResponse]:
        """Hears one stream of audio."""
        requests = aiter(request_iterator)
        stream = await self._open(requests)
        queue: asyncio.Queue[ListenRequest | None] = asyncio.Queue(_READ_AHEAD)
        reader = asyncio.create_task(_read(requests, queue))
        try:
            while True:
                if queue.empty() and stream.can_work:
                    responses = await self._thread.run(stream.work)
                    for response in responses:
                        yield response
                    continue
                request = await queue.get()
                async for response in self._take(stream, request):
                    yield response
                if request is None:
                    await reader  # raises what ended the requests
                    return
        finally:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)

    async def _open(self, requests: AsyncIterator[ListenRequest]) -> EarStream | OnlineListener:
        first = await anext(requests, None)
        if first is None or first.WhichOneof("payload") != "config":
            raise InvalidInputError("config", None, "the first request to hold `config`")
        if self._vad is not None and self._recognizer is not None:
            return OnlineListener(first.config, self._vad, self._recognizer)
        if self._vad is None or self._whisper is None:
            raise AssertionError("called before load")
        return EarStream(first.config, self._vad, self._whisper)

    async def _take(
        self, stream: EarStream | OnlineListener, request: ListenRequest | None
    ) -> AsyncGenerator[ListenResponse]:
        """Answers one request, final texts included; None is the end of the stream."""
        payload = None if request is None else request.WhichOneof("payload")
        if request is None:
            slices = [stream.end]
        elif payload == "end_of_utterance":
            slices = [stream.end_utterance]
        elif payload == "pcm":
            samples = samples_of(request.pcm)
            size = max(1, round(_SLICE_S * stream.sample_rate_hz))
            parts = [samples[i : i + size] for i in range(0, len(samples), size)]
            slices = [lambda part=part: stream.listen(part) for part in parts]
        elif payload == "playback":
            await self._thread.run(stream.play, request.playback)
            return
        elif payload == "playback_stopped":
            await self._thread.run(stream.stop_playback, request.playback_stopped.offset_us)
            return
        else:
            raise InvalidInputError("payload", payload, "no second `config`")
        for piece in slices:
            for response in await self._thread.run(piece):
                yield response
            while stream.must_work:
                for response in await self._thread.run(stream.work):
                    yield response


async def _read(requests: AsyncIterator[ListenRequest], queue: asyncio.Queue[ListenRequest | None]) -> None:
    try:
        async for request in requests:
            await queue.put(request)
    finally:
        await queue.put(None)


def create(setup: RoleSetup) -> Role:
    """The role for the worker process."""
    return EarRole(setup)
