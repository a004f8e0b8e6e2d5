"""Speech with exact times of its phonemes, and a file format for an hour of it.

A set is an audio file (to train on: Ogg Opus, an hour in about 30 MB; to test on: FLAC) with a JSON file
beside it that says where utterances start and which phonemes they hold.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from taoxr_models.a2bs.phonemes import Phoneme
from taoxr_models.dsp.resample import RATE


@dataclass(frozen=True)
class Utterance:
    """Speech and what is heard when.

    Attributes:
        samples: [n] float32 at 16 kHz in [-1, 1].
        phonemes: In order; symbol ``""`` is a pause.
        text: The words.
    """

    samples: NDArray[np.float32]
    phonemes: tuple[Phoneme, ...]
    text: str


def save(folder: Path, name: str, said: Iterable[Utterance], *, lossless: bool) -> float:
    """Writes ``name.flac`` or ``name.ogg``, and ``name.json``; returns the seconds of speech."""
    rows: list[dict[str, object]] = []
    at = 0
    folder.mkdir(parents=True, exist_ok=True)
    suffix, kind = ("flac", "PCM_16") if lossless else ("ogg", "OPUS")
    with soundfile.SoundFile(folder / f"{name}.{suffix}", "w", RATE, 1, subtype=kind) as file:
        for u in said:
            rows.append(
                {
                    "start": at,
                    "length": len(u.samples),
                    "text": u.text,
                    "phonemes": [[p.symbol, round(p.start, 4), round(p.end, 4)] for p in u.phonemes],
                }
            )
            file.write(u.samples)
            at += len(u.samples)
    (folder / f"{name}.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return at / RATE


def load(folder: Path, name: str) -> list[Utterance]:
    """Reads what `save` wrote."""
    audio = folder / f"{name}.flac"
    samples, _ = soundfile.read(audio if audio.exists() else audio.with_suffix(".ogg"), dtype="float32")
    rows = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return [
        Utterance(
            samples[r["start"] : r["start"] + r["length"]],
            tuple(Phoneme(*p) for p in r["phonemes"]),
            r.get("text", ""),
        )
        for r in rows
    ]
