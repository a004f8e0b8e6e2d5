"""What is heard of speech, and how long after its last sound that is there: a live microphone, simulated.

Audio comes on time and model calls take the time they take here, but nobody waits: a clock is set forward, to
when the next audio comes, and by what each call took. So an hour of speech is measured in minutes.
"""

import time
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taoxr.worker.v1.ear_pb2 import ListenConfig, ListenResponse
from taoxr_models.dsp.resample import RATE
from taoxr_models.ear.stream import EarStream

_CHUNK: Final = RATE // 50
# Silence behind the speech; longer than any endpoint.
_AFTER: Final = 2 * RATE
# The last sound is the last 10 ms that are not 40 dB quieter than the loudest.
_STEP: Final = RATE // 100
_QUIET: Final = 0.01

CONFIG: Final = ListenConfig(sample_rate_hz=RATE, partials=True, stable_partials=True, echo_cancelled=True)
"""As a conversation hears: with partials, and the endpoint adapts to what was said."""


class Heard(NamedTuple):
    """What a live microphone's words became.

    Attributes:
        text: All final texts.
        latency_s: From the last sound to the last of them; None when nothing was heard.
    """

    text: str
    latency_s: float | None


def hear_live(stream: EarStream, samples: NDArray[np.float32]) -> Heard:
    """Hears speech as it is spoken.

    Args:
        stream: A new one, at 16 kHz.
        samples: [n] in [-1, 1]; the latency counts for speech without noise.
    """
    pcm = (np.concatenate([samples, np.zeros(_AFTER, np.float32)]) * 32767).astype(np.int16)
    chunks = [pcm[at : at + _CHUNK] for at in range(0, len(pcm), _CHUNK)]
    now, told = 0.0, None
    taken, texts = 0, list[str]()
    while taken < len(chunks) or stream.can_work:
        comes = (taken + 1) * _CHUNK / RATE
        responses: list[ListenResponse]
        if stream.must_work or (stream.can_work and (taken == len(chunks) or comes > now)):
            responses, seconds = _timed(stream.work)
            now += seconds
        else:
            chunk = chunks[taken]
            responses, seconds = _timed(lambda chunk=chunk: stream.listen(chunk))
            now = max(now, comes) + seconds
            taken += 1
        finals = [r.utterance.text for r in responses if r.HasField("utterance") and r.utterance.is_final]
        texts += finals
        told = now if finals else told
    return Heard(" ".join(texts), None if told is None else told - _last_sound_s(samples))


def _timed(call: Callable[[], list[ListenResponse]]) -> tuple[list[ListenResponse], float]:
    began = time.perf_counter()
    responses = call()
    return responses, time.perf_counter() - began


def _last_sound_s(samples: NDArray[np.float32]) -> float:
    steps = samples[: len(samples) // _STEP * _STEP].reshape(-1, _STEP)
    level = np.sqrt((steps**2).mean(axis=1))
    return float(np.flatnonzero(level > _QUIET * level.max())[-1] + 1) * _STEP / RATE
