"""Time and word errors of the recogniser beside faster-whisper on the same weights and the same audio."""

import importlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.client import wav
from taoxr.errors import UnavailableError
from taoxr_models.catalog import default_model, verified
from taoxr_models.dsp.resample import RATE, To16k
from taoxr_models.ear.bench_latency import CONFIG, hear_live
from taoxr_models.ear.stream import EarStream
from taoxr_models.ear.vad import load_vad
from taoxr_models.ear.whisper import MAX_SECONDS, Whisper
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.voice import Voice

# IEEE Recommended Practice for Speech Quality Measurements, 1969, lists 1 to 4 ("Harvard sentences").
SENTENCES: Final = tuple(
    """The birch canoe slid on the smooth planks. Glue the sheet to the dark blue background.
It's easy to tell the depth of a well. These days a chicken leg is a rare dish.
Rice is often served in round bowls. The juice of lemons makes fine punch.
The box was thrown beside the parked truck. The hogs were fed chopped corn and garbage.
Four hours of steady work faced us. A large size in stockings is hard to sell.
The boy was there when the sun rose. A rod is used to catch pink salmon.
The source of the huge river is the clear spring. Kick the ball straight and follow through.
Help the woman get back to her feet. A pot of tea helps to pass the evening.
Smoky fires lack flame and heat. The soft cushion broke the man's fall.
The salt breeze came across from the sea. The girl at the booth sold fifty bonds.
The small pup gnawed a hole in the sock. The fish twisted and turned on the bent hook.
Press the pants and sew a button on the vest. The swan dive was far short of perfect.
The beauty of the view stunned the young boy. Two blue fish swam in the tank.
Her purse was full of useless trash. The colt reared and threw the tall rider.
It snowed, rained, and hailed the same morning. Read verse out loud for pleasure.
Hoist the load to your left shoulder. Take the winding path to reach the lake.
Note closely the size of the gas tank. Wipe the grease off his dirty face.
Mend the coat before you go out. The wrist was badly strained and hung limp.
The stray cat gave birth to kittens. The young girl gave no clear response.
The meal was cooked before the bell rang. What joy there is in living""".replace("\n", " ").split(". ")
)
# Voices: the catalogue's, played faster or slower, which moves pitch and formants.
PITCHES: Final = (0.87, 1.0, 1.18)
NOISES_DB: Final = (None, 20.0, 10.0)

Recognise = Callable[[NDArray[np.float32]], str]


@dataclass
class Score:
    """Errors and time of one recogniser."""

    errors: int = 0
    words: int = 0
    seconds: float = 0.0
    by_condition: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def add(self, condition: str, text: str, heard: str, seconds: float) -> None:
        """Counts one utterance."""
        expected = plain_words(text)
        errors = edits(expected, plain_words(heard))
        found = self.by_condition.setdefault(condition, [0, 0])
        found[0] += errors
        found[1] += len(expected)
        self.errors += errors
        self.words += len(expected)
        self.seconds += seconds


def bench_asr(
    ct2: Path | None, recordings: Path | None, sentences: int, progress: Callable[[str], None]
) -> dict[str, float | int | str]:
    """Recognises synthesised sentences in three voices, clean and with noise, and recordings.

    All is heard once more as from a live microphone: what its words are then, and for what is clean the
    time to the final text.

    Args:
        ct2: Folder of the same model in CTranslate2's form, for the peer; None measures only ours.
        recordings: Folder of ``NAME.wav`` (at most 25 s) with ``NAME.txt``, or None; those in a folder
            within it are told under its name.
        sentences: How many sentences in each voice and noise.
        progress: Told what is being recognised.

    Returns:
        ``wer_percent`` and ``rtf`` of both, by condition as well; ``ratio`` is our time by the peer's; of the
        live microphone ``live.wer_percent``, and ``final_ms``, how long after the last sound its text is
        there.

    Raises:
        UnavailableError: The extra ``bench`` is missing.
    """
    whisper = Whisper(verified(default_model("asr")))
    vad = load_vad(verified(default_model("vad")))
    recognisers = {"ours": _ours(whisper)}
    if ct2 is not None:
        recognisers["peer"] = _peer(ct2)
    scores = {name: Score() for name in (*recognisers, "live")}
    audio_s = 0.0
    latencies_s: list[float] = []
    for condition, text, samples in [*_recorded(recordings), *_spoken(sentences)]:
        progress(f"{condition}: {text[:40]}")
        audio_s += len(samples) / RATE
        for name, recognise in recognisers.items():
            begun = time.perf_counter()
            heard = recognise(samples)
            scores[name].add(condition, text, heard, time.perf_counter() - begun)
        begun = time.perf_counter()
        live = hear_live(EarStream(CONFIG, vad, whisper), samples)
        scores["live"].add(condition, text, live.text, time.perf_counter() - begun)
        if live.latency_s is not None and not condition.startswith("noise"):
            latencies_s.append(live.latency_s)
    figures: dict[str, float | int | str] = {"audio_minutes": round(audio_s / 60, 2)}
    for name, score in scores.items():
        figures[f"{name}.wer_percent"] = round(100 * score.errors / score.words, 2)
        figures[f"{name}.rtf"] = round(score.seconds / audio_s, 4)
        for condition, (errors, words) in score.by_condition.items():
            figures[f"{name}.wer_percent.{condition}"] = round(100 * errors / words, 2)
    if "peer" in scores:
        figures["ratio"] = round(scores["ours"].seconds / scores["peer"].seconds, 3)
    for percent in (50, 95):
        figures[f"ours.final_ms.p{percent}"] = round(float(np.percentile(latencies_s, percent)) * 1000)
    return figures


def plain_words(text: str) -> list[str]:
    """Words without case and punctuation."""
    return re.findall(r"[a-z0-9']+", text.lower())


def edits(expected: Sequence[str], heard: Sequence[str]) -> int:
    """Least number of words to replace, add and leave out (Levenshtein, 1966)."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(expected, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != other))
    return row[-1]


def _spoken(count: int) -> Iterator[tuple[str, str, NDArray[np.float32]]]:
    voice, phonemizer = Voice(verified(default_model("tts"))), Phonemizer()
    chance = np.random.default_rng(1)
    for text in SENTENCES[:count]:
        pcm = np.concatenate([voice.speak(symbols).pcm for symbols in phonemizer(f"{text}.")])
        for pitch in PITCHES:
            clean = To16k(round(voice.sample_rate_hz * pitch)).push(pcm, last=True)
            for noise_db in NOISES_DB:
                condition = "clean" if noise_db is None else f"noise_{noise_db:g}_db"
                level = 0.0 if noise_db is None else clean.std() * 10 ** (-noise_db / 20)
                noise = chance.standard_normal(len(clean), np.float32) * np.float32(level)
                noisy: NDArray[np.float32] = (clean + noise).clip(-1, 1).astype(np.float32)
                yield condition, text, noisy


def _recorded(folder: Path | None) -> Iterator[tuple[str, str, NDArray[np.float32]]]:
    for path in sorted(folder.rglob("*.wav")) if folder is not None else ():
        pcm = wav.read(path, RATE, field="recordings", max_seconds=MAX_SECONDS)
        text = path.with_suffix(".txt").read_text(encoding="utf-8")
        samples: NDArray[np.float32] = (pcm / 32768).astype(np.float32)
        yield "recordings" if path.parent == folder else path.parent.name, text, samples


def _ours(whisper: Whisper) -> Recognise:
    def recognise(samples: NDArray[np.float32]) -> str:
        recognition = whisper.recognise(samples)
        while not recognition.done:
            recognition.step()
        return recognition.text

    return recognise


def _peer(folder: Path) -> Recognise:
    try:
        library: Any = importlib.import_module("faster_whisper")
    except ImportError as error:
        raise UnavailableError("the extra `bench` is missing: pip install 'taoxr[bench]'") from error
    model: Any = library.WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=1)

    def recognise(samples: NDArray[np.float32]) -> str:
        segments, _ = model.transcribe(samples, language="en", beam_size=1, without_timestamps=True)
        return " ".join(str(s.text) for s in segments)

    return recognise
