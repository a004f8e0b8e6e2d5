"""Tiny workers that serve taoxr.worker.v1 in this process, for one failure or one timing at a time.

What the whole chain does with real workers is tested in test_bridge_process.py.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from taoxr import arkit
from taoxr.client import Client, connect
from taoxr.errors import BusyError, InvalidInputError
from taoxr.rpc import SERVER_OPTIONS, ErrorInterceptor
from taoxr.v1 import common_pb2
from taoxr.worker.v1 import (
    a2bs_pb2,
    a2bs_pb2_grpc,
    ear_pb2,
    ear_pb2_grpc,
    llm_pb2,
    llm_pb2_grpc,
    tts_pb2,
    tts_pb2_grpc,
    worker_pb2,
    worker_pb2_grpc,
)
from taoxr_bridge.server import bridge
from taoxr_bridge.settings import Settings

RATE = 22050
MS_PER_CHAR = 60


class FakeLlm(llm_pb2_grpc.LlmServiceServicer):
    """Answers with `answer(prompt)`, word by word; one call at a time."""

    def __init__(self) -> None:
        self.answer: Callable[[str], str] = lambda prompt: f"You said {prompt}."
        # What comes of a request, in place of `answer`: text, and perhaps a call at the end.
        self.script: Callable[[llm_pb2.GenerateRequest], list[str | llm_pb2.CalledTool]] | None = None
        self.hold = asyncio.Event()
        self.hold.set()
        self.hold_after = 0  # words that come in any case
        self.dropped = 0  # messages that it says did not fit
        self.warmed_up = 0
        self.requests: list[llm_pb2.GenerateRequest] = []
        self.called = asyncio.Event()
        self.was_cancelled = asyncio.Event()
        self._busy = False

    async def Generate(  # noqa: N802  the rpc's name
        self, request: llm_pb2.GenerateRequest, context: Any
    ) -> AsyncGenerator[llm_pb2.GenerateResponse]:
        if self._busy:
            raise BusyError("another answer is being generated", 0.05)
        self._busy = True
        if request.max_tokens == 1:  # the bridge warms the model up
            self.warmed_up += 1
            self._busy = False
            return
        self.requests.append(request)
        self.called.set()
        try:
            started = llm_pb2.GenerateStarted(prompt_tokens=7, reused_tokens=3, dropped_messages=self.dropped)
            yield llm_pb2.GenerateResponse(started=started)
            if self.script is not None:
                for part in self.script(request):
                    kind = "text" if isinstance(part, str) else "tool_call"
                    yield llm_pb2.GenerateResponse(**{kind: part})
                yield llm_pb2.GenerateResponse(finished=llm_pb2.GenerateFinished(tokens=1))
                return
            words = self.answer(request.messages[-1].content).split(" ")
            for i, word in enumerate(words):
                if i >= self.hold_after:
                    await self.hold.wait()
                yield llm_pb2.GenerateResponse(text=word if i == 0 else f" {word}")
            yield llm_pb2.GenerateResponse(finished=llm_pb2.GenerateFinished(tokens=len(words)))
        except BaseException:
            self.was_cancelled.set()
            raise
        finally:
            self._busy = False


class FakeTts(tts_pb2_grpc.TtsServiceServicer):
    """Speaks `ms_per_char` per letter, one phoneme per letter; nothing for text without letters.

    The audio comes in pieces of `piece` samples; before each but the first it waits for `pace`.
    """

    def __init__(self) -> None:
        self.ms_per_char = MS_PER_CHAR
        self.texts: list[str] = []
        self.styles: list[tuple[float, int, str]] = []
        self.speakers = ("", "0", "1", "Eve", "Bob")
        self.stressed = ""  # letters that carry stress
        self.spoke = asyncio.Event()
        self.piece = 7168
        self.pace: Callable[[], Awaitable[None]] | None = None
        self.pieces = 0

    async def Synthesize(  # noqa: N802  the rpc's name
        self, request: tts_pb2.SynthesizeRequest, context: Any
    ) -> AsyncGenerator[tts_pb2.SynthesizeResponse]:
        if request.speaker not in self.speakers:
            raise InvalidInputError("speaker", request.speaker, f"one of {', '.join(self.speakers)}")
        if not request.text:  # somebody asks about a speaker
            yield tts_pb2.SynthesizeResponse(sample_rate_hz=RATE)
            return
        self.texts.append(request.text)
        self.spoke.set()
        self.styles.append((request.speed, request.seed, request.speaker))
        letters = [c for c in request.text if c.isalnum()]
        step = self.ms_per_char * 1000
        pcm = np.full(len(letters) * RATE * self.ms_per_char // 1000, 1000, "<i2")
        phonemes = [
            common_pb2.PhonemeTiming(
                symbol=f"ˈ{c}" if c in self.stressed else c, start_us=i * step, end_us=(i + 1) * step
            )
            for i, c in enumerate(letters)
        ]
        response = tts_pb2.SynthesizeResponse(sample_rate_hz=RATE, phonemes=phonemes)
        for start in range(0, max(1, len(pcm)), self.piece):
            if start and self.pace is not None:
                await self.pace()
            response.pcm = pcm[start : start + self.piece].tobytes()
            self.pieces += 1
            yield response
            response = tts_pb2.SynthesizeResponse()


def grid(start_us: int, end_us: int, frame_rate: float) -> list[common_pb2.Frame]:
    """Frames of k / frame_rate in [start_us, end_us)."""
    frames: list[common_pb2.Frame] = []
    k = 0
    while (time_us := round(k * 1e6 / frame_rate)) < end_us:
        if time_us >= start_us:
            frames.append(common_pb2.Frame(time_us=time_us, weights=[0.5] * len(arkit.NAMES)))
        k += 1
    return frames


class FakeA2bs(a2bs_pb2_grpc.A2bsServiceServicer):
    """Frames of constant weights on the grid."""

    def __init__(self) -> None:
        self.whole_clauses = False
        self.asked = 0  # for how many spans

    async def DescribeRig(self, request: Any, context: Any) -> a2bs_pb2.DescribeRigResponse:  # noqa: N802
        rig = common_pb2.RigDescription(space=arkit.SPACE, blendshape_names=arkit.NAMES, frame_rate=30)
        return a2bs_pb2.DescribeRigResponse(rig=rig, whole_clauses=self.whole_clauses)

    async def AnimatePhonemes(  # noqa: N802  the rpc's name
        self, request: a2bs_pb2.AnimatePhonemesRequest, context: Any
    ) -> a2bs_pb2.AnimatePhonemesResponse:
        self.asked += 1
        audio_end_us = request.pcm_start_us + len(request.pcm) // 2 * 1_000_000 // request.sample_rate_hz
        length_us = request.phonemes[-1].end_us
        if self.whole_clauses:
            assert request.start_us == request.end_us == request.pcm_start_us == 0
            request.end_us = length_us
        # The span is inside the clause, and so is its audio, with what is around it.
        assert 0 <= request.start_us < request.end_us <= length_us
        assert request.pcm_start_us == max(0, request.start_us - 1_000_000)
        assert min(length_us, request.end_us + 100_000) <= audio_end_us <= length_us
        start, end = (request.clock_offset_us + us for us in (request.start_us, request.end_us))
        return a2bs_pb2.AnimatePhonemesResponse(frames=grid(start, end, request.frame_rate))

    async def AnimateAudio(  # noqa: N802  the rpc's name
        self, request_iterator: AsyncIterator[a2bs_pb2.AnimateAudioRequest], context: Any
    ) -> AsyncGenerator[a2bs_pb2.AnimateAudioResponse]:
        first = await anext(aiter(request_iterator), None)
        if first is None:  # the bridge has cancelled the call before its first request came
            return
        config = first.config
        samples = 0
        async for request in request_iterator:
            start, samples = samples, samples + len(request.pcm) // 2
            span = [n * 1_000_000 // config.sample_rate_hz for n in (start, samples)]
            yield a2bs_pb2.AnimateAudioResponse(frames=grid(span[0], span[1], config.frame_rate))


class FakeEar(ear_pb2_grpc.EarServiceServicer):
    """Hears speech in samples that are not 0; each utterance becomes `text`."""

    def __init__(self) -> None:
        self.text = "hello there"
        # Recognised while it is not yet certain that the user has finished, if stable partials are asked for.
        self.stable = ""
        self.sustained = True
        self.streams = 0
        self.played: list[ear_pb2.Playback] = []
        self.stopped: list[int] = []

    async def Listen(  # noqa: N802  the rpc's name
        self, request_iterator: AsyncIterator[ear_pb2.ListenRequest], context: Any
    ) -> AsyncGenerator[ear_pb2.ListenResponse]:
        self.streams += 1
        first = await anext(aiter(request_iterator), None)
        if first is None:  # the bridge has cancelled the call before its first request came
            return
        config = first.config
        position_us, started_us = 0, -1
        async for request in request_iterator:
            if request.HasField("playback"):
                self.played.append(request.playback)
            elif request.HasField("playback_stopped"):
                self.stopped.append(request.playback_stopped.offset_us)
            samples = np.frombuffer(request.pcm, "<i2")
            begin, position_us = position_us, position_us + len(samples) * 1_000_000 // config.sample_rate_hz
            loud = bool(np.any(samples))
            if loud and started_us < 0:
                started_us = begin
                yield ear_pb2.ListenResponse(speech_started=ear_pb2.SpeechStarted(offset_us=begin))
                if self.sustained:
                    lasting = ear_pb2.SpeechSustained(offset_us=begin)
                    yield ear_pb2.ListenResponse(speech_sustained=lasting)
                if config.partials:
                    partial = ear_pb2.Utterance(
                        text=self.text.split(" ")[0], start_us=begin, end_us=position_us
                    )
                    yield ear_pb2.ListenResponse(utterance=partial)
                if config.stable_partials and self.stable:
                    early = ear_pb2.Utterance(
                        text=self.stable, start_us=begin, end_us=position_us, is_stable=True
                    )
                    yield ear_pb2.ListenResponse(utterance=early)
            ended = request.WhichOneof("payload") == "end_of_utterance"
            silent = request.HasField("pcm") and not loud
            if started_us >= 0 and (ended or (silent and not config.push_to_talk)):
                yield ear_pb2.ListenResponse(speech_stopped=ear_pb2.SpeechStopped(offset_us=begin))
                said = ear_pb2.Utterance(text=self.text, is_final=True, start_us=started_us, end_us=begin)
                yield ear_pb2.ListenResponse(utterance=said)
                started_us = -1


class _Status(worker_pb2_grpc.WorkerServiceServicer):
    def __init__(self, role: str) -> None:
        self._role = role

    async def GetStatus(self, request: Any, context: Any) -> worker_pb2.GetStatusResponse:  # noqa: N802
        rate = RATE if self._role == "tts" else 0
        return worker_pb2.GetStatusResponse(role=self._role, model="fake", pid=1, sample_rate_hz=rate)


@dataclass
class Fakes:
    """The four workers of one bridge; `stop` and `start` crash one and bring it back."""

    folder: Path
    llm: FakeLlm = field(default_factory=FakeLlm)
    tts: FakeTts = field(default_factory=FakeTts)
    a2bs: FakeA2bs = field(default_factory=FakeA2bs)
    ear: FakeEar = field(default_factory=FakeEar)
    servers: dict[str, aio.Server] = field(default_factory=dict[str, aio.Server])
    bridge: str = ""  # the bridge's own target

    @property
    def targets(self) -> dict[str, str]:
        return {role: f"unix:{self.folder / role}" for role in ("ear", "llm", "tts", "a2bs")}

    async def start(self, role: str) -> None:
        server = aio.server(interceptors=(ErrorInterceptor(),), options=SERVER_OPTIONS)
        service = health.aio.HealthServicer()
        await service.set("", health_pb2.HealthCheckResponse.SERVING)
        health_pb2_grpc.add_HealthServicer_to_server(service, server)
        worker_pb2_grpc.add_WorkerServiceServicer_to_server(_Status(role), server)
        llm_pb2_grpc.add_LlmServiceServicer_to_server(self.llm, server) if role == "llm" else None
        tts_pb2_grpc.add_TtsServiceServicer_to_server(self.tts, server) if role == "tts" else None
        a2bs_pb2_grpc.add_A2bsServiceServicer_to_server(self.a2bs, server) if role == "a2bs" else None
        ear_pb2_grpc.add_EarServiceServicer_to_server(self.ear, server) if role == "ear" else None
        server.add_insecure_port(self.targets[role])
        await server.start()
        self.servers[role] = server

    async def stop(self, role: str) -> None:
        await self.servers.pop(role).stop(None)

    async def stop_all(self) -> None:
        for role in tuple(self.servers):
            await self.stop(role)


@pytest.fixture
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Fakes:
    """Four fake workers, not started yet."""
    return Fakes(tmp_path_factory.mktemp("w"))


MakeBridge = Callable[..., Any]
# Whole samples, like `MS_PER_CHAR`.
HASTE_MS_PER_CHAR = 20


@pytest.fixture
def fake_workers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Any]:
    """`async with fake_workers() as fakes`: the four workers, for a bridge to be told of."""

    @asynccontextmanager
    async def make() -> AsyncGenerator[Fakes]:
        fakes = Fakes(tmp_path_factory.mktemp("w"))
        try:
            for role in fakes.targets:
                await fakes.start(role)
            yield fakes
        finally:
            # A server that is collected without having been stopped hangs gRPC.
            await fakes.stop_all()

    return make


@pytest.fixture
def fake_bridge(
    fake_workers: Callable[[], Any], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> MakeBridge:
    """`async with fake_bridge(setting=...) as (client, fakes)`: a bridge on fake workers.

    A turn lasts until its answer is heard, letter by letter.
    """

    @asynccontextmanager
    async def make(
        *, ms_per_char: int = MS_PER_CHAR, **settings: Any
    ) -> AsyncGenerator[tuple[Client, Fakes]]:
        monkeypatch.setenv("TAOXR_HOME", str(tmp_path_factory.mktemp("home")))
        async with AsyncExitStack() as stack:
            fakes = await stack.enter_async_context(fake_workers())
            fakes.tts.ms_per_char = ms_per_char
            chosen = Settings(**({"port": 0, "worker_wait_s": 30.0} | settings))
            target = fakes.bridge = await stack.enter_async_context(bridge(chosen, fakes.targets))
            client = await stack.enter_async_context(connect(target))
            yield client, fakes

    return make


@pytest.fixture
def quick_bridge(fake_bridge: MakeBridge) -> MakeBridge:
    """`fake_bridge` with a voice three times as fast, where no answer has to last."""
    return partial(fake_bridge, ms_per_char=HASTE_MS_PER_CHAR)


class BridgeProcess:
    """A `taoxr serve` process; with real workers unless the arguments say where others are."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.ready = folder / "ready.json"
        self.ready.unlink(missing_ok=True)
        self.log = folder / "bridge.log"
        command = [sys.executable, "-m", "taoxr_bridge", "--ready-file", str(self.ready)]
        port = () if "--port" in arguments else ("--port", "0")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *port, *arguments],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=os.environ | environment,
            )

    def wait_ready(self, within_s: float = 180.0) -> str:
        """Its target, once it takes calls."""
        deadline = time.monotonic() + within_s
        while not self.ready.exists():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)
        content = json.loads(self.ready.read_text())
        assert content["pid"] == self.process.pid
        return content["target"]

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


@pytest.fixture(scope="session")
def start_bridge() -> type[BridgeProcess]:
    """`start_bridge(folder, *arguments, **environment)`: a bridge in a process of its own."""
    return BridgeProcess
