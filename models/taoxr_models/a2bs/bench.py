"""``taoxr bench a2bs``: how long lips for any voice take, beside onnxruntime on the same graphs."""

import statistics
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Final

import numpy as np
import soxr  # pyright: ignore[reportMissingTypeStubs]  the extension behind it is typed
from numpy.typing import NDArray

from taoxr.errors import UnavailableError
from taoxr_models.a2bs.any_voice import DELAY_S, AudioAnimator
from taoxr_models.a2bs.listener import Listener
from taoxr_models.a2bs.network import HEAD, MODEL, TRUNK, WIDTH, Network
from taoxr_models.catalog import verified
from taoxr_models.catalog.recipes.whisper import random_trunk
from taoxr_models.dsp.resample import RATE
from taoxr_models.ear.window import Window
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.voice import Voice

_TEXT: Final = (
    "The ferry to the island leaves at half past five every morning, and my mother baked a blueberry pie.",
    "Who would have thought that such a huge wolf could be so gentle on a thick and foggy day in March?",
    "Please bring both of the blue bowls from the upper shelf, and put them on the table by the window.",
)
_LIVE_CHUNK_S: Final = 0.02
_CLAUSE_CHUNK_S: Final = 1.0  # the largest piece that the worker takes at once
_WINDOW: Final = (1, 80, 150)
_ROUNDS: Final = 60


def bench() -> dict[str, float | int]:
    """Times one thread; real-time factors are processor time per second of audio.

    Returns:
        ``live_rtf`` (20 ms chunks), ``clause_rtf`` (whole clauses), ``window_ms`` and
        ``onnxruntime_window_ms`` (the trunk on 1.5 s), ``ratio`` of the two, ``delay_ms``, and
        ``megabytes`` of trunk and head.

    Raises:
        UnavailableError: onnxruntime is not installed.
        ModelError: A model is missing.
    """
    clauses = _speech()
    network = Network.installed()
    seconds = sum(map(len, clauses)) / RATE
    live = _time(lambda: _animate(network, clauses, _LIVE_CHUNK_S))
    whole = _time(lambda: _animate(network, clauses, _CLAUSE_CHUNK_S))
    ours, peer = _windows(network)
    trunk = (verified(MODEL) / TRUNK).stat().st_size
    with as_file(files("taoxr_models.a2bs") / HEAD) as head:
        size = trunk + head.stat().st_size
    return {
        "audio_s": round(seconds, 2),
        "live_rtf": round(live / seconds, 4),
        "clause_rtf": round(whole / seconds, 4),
        "window_ms": round(ours * 1e3, 2),
        "onnxruntime_window_ms": round(peer * 1e3, 2),
        "ratio": round(ours / peer, 3),
        "delay_ms": round(DELAY_S * 1e3),
        "megabytes": round(size / 1e6, 2),
    }


def _speech() -> list[NDArray[np.int16]]:
    voice, phonemizer = Voice(verified("piper-en-us-joe")), Phonemizer()
    said = [voice.speak(symbols).pcm for text in _TEXT for symbols in phonemizer(text)]
    return [np.asarray(soxr.resample(pcm, voice.sample_rate_hz, RATE), np.int16) for pcm in said]


def _animate(network: Network, clauses: list[NDArray[np.int16]], chunk_s: float) -> None:
    for pcm in clauses:
        animator = AudioAnimator(Listener(network), RATE, 30.0)
        size = round(chunk_s * RATE)
        for at in range(0, len(pcm), size):
            animator.push(pcm[at : at + size])
        animator.finish()


def _time(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _windows(network: Network) -> tuple[float, float]:
    """Median seconds of the trunk on one window, ours and onnxruntime's, taken in turns."""
    try:
        peers: Any = import_module("onnxruntime")  # untyped
    except ImportError as error:
        raise UnavailableError("the peer is missing: pip install 'taoxr[bench]'") from error
    rng = np.random.default_rng(0)
    mel = rng.standard_normal(_WINDOW).astype(np.float32)
    window = Window.whole(mel[0], WIDTH)
    feeds = {
        "mel": mel,
        "source": np.arange(_WINDOW[2] // 2, dtype=np.int32),
        "position": window.position.numpy(),
        "log_count": window.log_count.numpy(),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trunk.onnx"
        random_trunk(rng).save(path)
        options = peers.SessionOptions()
        options.intra_op_num_threads = 1
        session = peers.InferenceSession(str(path), options)
    ours: list[float] = []
    peer: list[float] = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        network.features(mel)
        middle = time.perf_counter()
        session.run(["x"], feeds)
        ours.append(middle - began)
        peer.append(time.perf_counter() - middle)
    return statistics.median(ours), statistics.median(peer)
