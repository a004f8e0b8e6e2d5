"""``taoxr bench all``: listening and speaking at the same time, and what each worker takes.

Somebody talks to the ear without end, in real time, while answers are thought, spoken and animated one after
another as fast as that goes: more than a conversation ever asks of the machine.
"""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable
from typing import Final

from taoxr.errors import UnavailableError
from taoxr.figures import Spread, spread
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
)
from taoxr_models.together.workers import ROLES, Running, all_workers

_SAID: Final = (
    "Can you tell me what the weather is going to be like tomorrow in the mountains?",
    "I would like to know how far away the moon is, and why it looks so big tonight.",
    "What is a good name for a small brown dog that sleeps all day?",
)
_ASKED: Final = (
    "Why is the sky blue?",
    "What should I do on a rainy day?",
    "How does a bicycle work?",
    "Tell me something about the sea.",
)
_PERSONA: Final = "You are a friendly avatar who answers in two or three short sentences."
_ANSWER_TOKENS: Final = 60
_PIECE_S: Final = 0.02
_PAUSE_S: Final = 1.0
_FRAME_RATE: Final = 30.0
_BYTES: Final = 2
# A clause longer than the voice takes at once is no clause of an answer as it should be.
_MOST_CHARS: Final = 400

BARS: Final = {"listening.rtf": ("p50", 0.35), "speaking.rtf": ("p50", 0.30)}


class _Speaker:
    """Answers questions aloud, one stage after the other, and counts the time of each."""

    def __init__(self, workers: dict[str, Running]) -> None:
        self._llm = llm_pb2_grpc.LlmServiceStub(workers["llm"].channel)
        self._tts = tts_pb2_grpc.TtsServiceStub(workers["tts"].channel)
        self._a2bs = a2bs_pb2_grpc.A2bsServiceStub(workers["a2bs"].channel)
        self.rtf: list[float] = []
        self.seconds = dict.fromkeys(("llm", "tts", "a2bs"), 0.0)
        self.audio_s = 0.0
        self.tokens = 0

    async def say(self, text: str) -> tuple[tts_pb2.SynthesizeResponse, bytes]:
        """Speaks a clause: the first response, which holds rate and timing, and all of the audio."""
        first, pcm = tts_pb2.SynthesizeResponse(), b""
        async for response in self._tts.Synthesize(tts_pb2.SynthesizeRequest(text=text)):
            if response.phonemes:
                first = response
            pcm += response.pcm
        return first, pcm

    async def answer(self, question: str) -> None:
        """Answers one question; its real-time factor is all the work by the length of the speech."""
        begun, before = time.perf_counter(), self.audio_s
        text = await self._think(question)
        thought = time.perf_counter()
        self.seconds["llm"] += thought - begun
        for clause in re.split(r"(?<=[.!?])\s+", text.strip()):
            at = time.perf_counter()
            first, pcm = await self.say(clause[:_MOST_CHARS])
            spoken = time.perf_counter()
            self.seconds["tts"] += spoken - at
            if not pcm:
                continue
            request = a2bs_pb2.AnimatePhonemesRequest(
                phonemes=first.phonemes,
                pcm=pcm,
                sample_rate_hz=first.sample_rate_hz,
                frame_rate=_FRAME_RATE,
                text=clause,
            )
            await self._a2bs.AnimatePhonemes(request)
            self.seconds["a2bs"] += time.perf_counter() - spoken
            self.audio_s += len(pcm) / _BYTES / first.sample_rate_hz
        if self.audio_s > before:
            self.rtf.append((time.perf_counter() - begun) / (self.audio_s - before))

    async def _think(self, question: str) -> str:
        messages = [
            common_pb2.ChatMessage(role=common_pb2.ROLE_SYSTEM, content=_PERSONA),
            common_pb2.ChatMessage(role=common_pb2.ROLE_USER, content=question),
        ]
        text = ""
        request = llm_pb2.GenerateRequest(messages=messages, max_tokens=_ANSWER_TOKENS)
        async for response in self._llm.Generate(request):
            text += response.text
            self.tokens += response.finished.tokens
        return text


class _Listener:
    """Talks to the ear in real time until it is told to stop, and measures what that takes."""

    def __init__(self, worker: Running, rate_hz: int, speeches: list[bytes]) -> None:
        self._worker = worker
        self._rate_hz = rate_hz
        self._speeches = speeches
        self._stop = asyncio.Event()
        self.rtf: list[float] = []
        self.finals = 0
        self.partials = 0

    def stop(self) -> None:
        """Ends with the speech that is being said."""
        self._stop.set()

    async def run(self) -> None:
        """Listens."""
        async for response in ear_pb2_grpc.EarServiceStub(self._worker.channel).Listen(self._requests()):
            if response.HasField("utterance"):
                self.finals += response.utterance.is_final
                self.partials += not response.utterance.is_final

    async def _requests(self) -> AsyncGenerator[ear_pb2.ListenRequest]:
        config = ear_pb2.ListenConfig(sample_rate_hz=self._rate_hz, partials=True)
        yield ear_pb2.ListenRequest(config=config)
        size = round(self._rate_hz * _PIECE_S) * _BYTES
        pause = bytes(round(self._rate_hz * _PAUSE_S) * _BYTES)
        began, sent, turn = time.monotonic(), 0, 0
        while not self._stop.is_set():
            speech, cpu_s, start = (
                self._speeches[turn % len(self._speeches)] + pause,
                self._worker.cpu_s(),
                sent,
            )
            for at in range(0, len(speech) - size + 1, size):
                sent += size // _BYTES
                # A piece of a microphone is there when its last sample is.
                await asyncio.sleep(max(0.0, began + sent / self._rate_hz - time.monotonic()))
                yield ear_pb2.ListenRequest(pcm=speech[at : at + size])
            self.rtf.append((self._worker.cpu_s() - cpu_s) / ((sent - start) / self._rate_hz))
            turn += 1


async def bench_all(seconds: float, progress: Callable[[str], None]) -> dict[str, Spread | float | int]:
    """Runs all roles at once.

    Args:
        seconds: How long, at least; models warm up before that.
        progress: Told what happens.

    Returns:
        ``listening.rtf``: processor time of the ear by length of audio, partials included, speech by speech;
        ``speaking.rtf``: time by the clock that language model, voice and lips need, one after the other, by
        length of the speech, answer by answer; ``speaking.ROLE_rtf``: the share of each; ``rss_mb.ROLE``:
        resident memory at the end.

    Raises:
        UnavailableError: A worker did not start, or nothing was heard or said.
    """
    progress("loading the models")
    async with all_workers() as workers:
        speaker = _Speaker(workers)
        said = [await speaker.say(text) for text in _SAID]
        await speaker.answer(_ASKED[0])
        speaker = _Speaker(workers)  # what was so far warmed the models up
        listener = _Listener(workers["ear"], said[0][0].sample_rate_hz, [pcm for _, pcm in said])
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(listener.run())
            began, turn = time.monotonic(), 0
            while (passed := time.monotonic() - began) < seconds:
                progress(f"listening and speaking, {passed:.0f} of {seconds:.0f} s")
                await speaker.answer(_ASKED[turn % len(_ASKED)])
                turn += 1
            listener.stop()
        memory = {f"rss_mb.{role}": round(workers[role].rss_mb()) for role in ROLES}
    if not speaker.rtf or not listener.finals:
        raise UnavailableError(
            f"{listener.finals} utterances were heard and {len(speaker.rtf)} answers given"
        )
    shares = {f"speaking.{role}_rtf": round(s / speaker.audio_s, 4) for role, s in speaker.seconds.items()}
    return {
        "listening.rtf": spread(listener.rtf),
        "listening.finals": listener.finals,
        "listening.partials": listener.partials,
        "speaking.rtf": spread(speaker.rtf),
        **shares,
        "speaking.audio_s": round(speaker.audio_s, 1),
        "speaking.tokens": speaker.tokens,
        **memory,
        "rss_mb.all": sum(memory.values()),
    }
