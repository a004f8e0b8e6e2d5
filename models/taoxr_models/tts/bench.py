"""Time of the voice beside onnxruntime on the same ONNX file, one thread each."""

import importlib
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from taoxr.errors import ModelError, UnavailableError
from taoxr.figures import Spread, spread
from taoxr_models.catalog import default_model, verified
from taoxr_models.catalog.recipes import convert
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.text import readable
from taoxr_models.tts.voice import Voice

# A word, a clause and a sentence: what the clauses of an answer look like.
TEXTS: Final = (
    "Of course.",
    "The capital of France is Paris,",
    "The sky is blue because air scatters blue light more than red, and so it comes from all sides.",
)


def bench_tts(onnx: Path | None, rounds: int) -> dict[str, Spread | float | int | str]:
    """Speaks clauses with the product's voice, piece by piece, and whole with onnxruntime.

    Both get the same phoneme ids; each draws its own noise, so the audio differs a little in length, and
    time is told per second of audio.

    Args:
        onnx: The voice's ``.onnx`` with its ``.onnx.json`` beside; both sides speak with it. None measures
            the voice in use, without a peer.
        rounds: How often each text is spoken.

    Returns:
        ``ours.rtf`` (seconds of work per second of audio), ``ours.first_ms`` (from the phonemes to the first
        audio), with a peer the same of it, whose audio comes at once, and ``ratio``: our time by the peer's.

    Raises:
        ModelError: The file is no voice, or its ``.onnx.json`` is missing.
        UnavailableError: The extra ``bench`` is missing.
    """
    if onnx is None:
        return _time(Voice(verified(default_model("tts"))), None, rounds)
    config = onnx.with_name(f"{onnx.name}.json")
    if not config.is_file():
        raise ModelError(f"{config} is missing; it belongs to {onnx.name}")
    peer = _session(onnx)
    with tempfile.TemporaryDirectory(prefix="taoxr-") as folder:
        convert("piper", {"model": onnx, "config": config}, Path(folder))
        return _time(Voice(Path(folder)), peer, rounds)


def _time(voice: Voice, peer: Any, rounds: int) -> dict[str, Spread | float | int | str]:
    phonemize = Phonemizer(voice.language)
    rows = [row for text in TEXTS for row in phonemize(readable(text, english=phonemize.english))]
    rtf: dict[str, list[float]] = {"ours": [], "peer": []}
    first: dict[str, list[float]] = {"ours": [], "peer": []}
    for turn in range(rounds + 1):  # the first warms up
        times, seconds = {"ours": 0.0, "peer": 0.0}, {"ours": 0.0, "peer": 0.0}
        firsts: dict[str, list[float]] = {"ours": [], "peer": []}
        for row in rows:
            for name, speak in (("ours", _ours), ("peer", _peers)):
                if name == "peer" and peer is None:
                    continue
                begun = time.perf_counter()
                first_s, samples = speak(voice, peer, row, turn)
                times[name] += time.perf_counter() - begun
                seconds[name] += samples / voice.sample_rate_hz
                firsts[name].append(1000 * first_s)
        for name in times if turn else ():
            if seconds[name]:
                rtf[name].append(times[name] / seconds[name])
                first[name].extend(firsts[name])
    figures: dict[str, Spread | float | int | str] = {"sample_rate_hz": voice.sample_rate_hz}
    for name in ("ours", "peer"):
        if rtf[name]:
            figures[f"{name}.rtf"] = spread(rtf[name])
            figures[f"{name}.first_ms"] = spread(first[name])
    if rtf["peer"]:
        # Round by round, so that a load that comes and goes slows both.
        ratios = (ours / other for ours, other in zip(rtf["ours"], rtf["peer"], strict=True))
        figures["ratio"] = round(statistics.median(ratios), 3)
    return figures


def _ours(voice: Voice, _peer: Any, row: list[str], seed: int) -> tuple[float, int]:
    begun, first_s = time.perf_counter(), 0.0
    utterance = voice.plan(row, seed=seed)
    for pcm in utterance.pieces():
        if pcm.size and not first_s:
            first_s = time.perf_counter() - begun
    return first_s, utterance.samples


def _peers(voice: Voice, peer: Any, row: list[str], _seed: int) -> tuple[float, int]:
    begun = time.perf_counter()
    ids, scales = voice.ids(row), voice.scales
    inputs: dict[str, Any] = {
        "input": np.array([ids], np.int64),
        "input_lengths": np.array([len(ids)], np.int64),
        "scales": np.array(scales, np.float32),
    }
    if any(given.name == "sid" for given in peer.get_inputs()):
        inputs["sid"] = np.array([0], np.int64)
    (audio,) = peer.run(None, inputs)
    return time.perf_counter() - begun, audio.size


def _session(onnx: Path) -> Any:
    try:
        runtime: Any = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise UnavailableError("the extra `bench` is missing: pip install 'taoxr[bench]'") from error
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return runtime.InferenceSession(str(onnx), options, providers=["CPUExecutionProvider"])
