"""A Piper voice (VITS, Kim et al. 2021, arXiv:2106.06103) on MNN: symbols to audio and their timing."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Module
from taoxr.errors import ModelError
from taoxr_models.tts.phonemes import PUNCTUATION, WORD_GAP

SILENCE: Final = "_"
# Samples per frame of the duration predictor, in every Piper voice of this quality.
_HOP: Final = 256
# Piper's voices are quiet (RMS near -24 dBFS); with this, speech is at about -20 dBFS.
_GAIN: Final = 1.6
_LIMIT: Final = 0.8
_FADE_S: Final = 0.004

_START, _END, _BLANK = "^", "$", "_"


@dataclass(frozen=True)
class Timed:
    """A symbol and its samples; ``symbol`` is a phone with its marks, or `SILENCE`."""

    symbol: str
    start: int
    end: int


@dataclass(frozen=True)
class Speech:
    """Audio and what is heard when.

    Attributes:
        pcm: int16 ``[n]``, mono.
        timing: Covers ``pcm`` without gaps, in order.
    """

    pcm: NDArray[np.int16]
    timing: tuple[Timed, ...]


class Voice:
    """A voice, ready to speak; for one thread at a time.

    Args:
        folder: Holds ``voice.mnn`` and ``voice.json`` (verified).

    Raises:
        ModelError: A file is missing or of another form.
    """

    def __init__(self, folder: Path) -> None:
        try:
            config: dict[str, Any] = json.loads((folder / "voice.json").read_text(encoding="utf-8"))
            self.sample_rate_hz = int(config["audio"]["sample_rate"])
            scales = config["inference"]
            self._scales = tuple(float(scales[k]) for k in ("noise_scale", "length_scale", "noise_w"))
            ids: Mapping[str, Sequence[int]] = config["phoneme_id_map"]
            self._ids = {symbol: tuple(int(i) for i in of) for symbol, of in ids.items()}
            self._start, self._end, self._blank = (self._ids[s] for s in (_START, _END, _BLANK))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(f"cannot read {folder / 'voice.json'}: {error!r}") from error
        # memory="low" makes this model's convolutions four times slower.
        self._module = Module(
            folder / "voice.mnn", ("input", "input_lengths", "scales"), ("output", "durations")
        )

    def speak(self, symbols: Sequence[str], speed: float = 1.0) -> Speech:
        """Speaks one utterance; the same symbols always give the same audio.

        Args:
            symbols: See `taoxr_models.tts.phonemes`. Characters that the voice does not know are left out.
            speed: 2 is twice as fast.

        Raises:
            ModelError: The voice gave something else than audio with matching durations.
        """
        ids, owners, names = self._sequence(symbols)
        noise, length, width = self._scales
        audio, durations = self._module.run(
            np.array([ids], dtype=np.int32),
            np.array([len(ids)], dtype=np.int32),
            np.array([noise, length / speed, width], dtype=np.float32),
        )
        audio, frames = audio.reshape(-1), np.rint(durations.reshape(-1)).astype(np.int64)
        if frames.size != len(ids) or int(frames.sum()) * _HOP != audio.size or not np.isfinite(audio).all():
            raise ModelError(f"the voice made {audio.size} samples for {int(frames.sum())} frames")
        edges = [0, *(np.cumsum(frames) * _HOP).tolist()]
        spans = [(names[o], edges[i], edges[i + 1]) for i, o in enumerate(owners)]
        return Speech(self._finish(audio), _merged(spans, owners))

    def _sequence(self, symbols: Sequence[str]) -> tuple[list[int], list[int], list[str]]:
        """Ids with Piper's blanks between, the symbol that each id's time belongs to, and these symbols.

        A blank carries a large part of the sound's length, and is heard as the beginning of the symbol
        after it. So is the gap between two words, unless punctuation makes it a pause.
        """
        names = [SILENCE]
        ids, owners = [*self._start], [0] * len(self._start)
        carried = 0  # ids of gaps whose time goes to the next symbol
        for before, symbol in zip(["", *symbols], symbols, strict=False):
            known = [self._ids[c] for c in symbol if c in self._ids]
            if not known:
                continue
            pauses = symbol in PUNCTUATION or (symbol == WORD_GAP and before in PUNCTUATION)
            of_symbol = [i for group in known for i in (*self._blank, *group)]
            ids.extend(of_symbol)
            if symbol == WORD_GAP and not pauses:
                carried += len(of_symbol)
                continue
            names.append(SILENCE if pauses else symbol)
            owners.extend([len(names) - 1] * (carried + len(of_symbol)))
            carried = 0
        names.append(SILENCE)
        ids.extend((*self._blank, *self._end))
        owners.extend([len(names) - 1] * (len(ids) - len(owners)))
        return ids, owners, names

    def _finish(self, audio: NDArray[np.float32]) -> NDArray[np.int16]:
        """Level, a soft limit instead of clipping, and edges without a click."""
        loud = audio * np.float32(_GAIN)
        over = np.maximum(np.abs(loud) - _LIMIT, 0.0)
        room = 1.0 - _LIMIT
        limited = np.clip(loud, -_LIMIT, _LIMIT) + np.sign(loud) * room * np.tanh(over / room)
        n = min(round(_FADE_S * self.sample_rate_hz), audio.size // 2)
        ramp = np.linspace(0.0, 1.0, n, endpoint=False, dtype=np.float32)
        limited[:n] *= ramp
        limited[limited.size - n :] *= ramp[::-1]
        return np.rint(limited * 32767.0).astype(np.int16)


def _merged(spans: Sequence[tuple[str, int, int]], owners: Sequence[int]) -> tuple[Timed, ...]:
    """Joins the spans of one symbol, and silences that meet."""
    joined = [
        (spans[group[0]][0], spans[group[0]][1], spans[group[-1]][2])
        for _, g in groupby(range(len(spans)), key=lambda i: owners[i])
        if (group := list(g))
    ]
    timed: list[Timed] = []
    for symbol, start, end in joined:
        if end == start:
            continue
        if timed and symbol == SILENCE == timed[-1].symbol:
            timed[-1] = Timed(SILENCE, timed[-1].start, end)
        else:
            timed.append(Timed(symbol, start, end))
    return tuple(timed)
