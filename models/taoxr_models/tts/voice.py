"""A Piper voice (VITS, Kim et al. 2021, arXiv:2106.06103) on MNN: symbols to audio and their timing.

The voice comes in parts (see `taoxr_models.catalog.recipes.piper`), so that a sentence is there piece by
piece: when its timing is known, none of its audio is made yet.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, repeat
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Module
from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.tts.language import check_symbols, known_parts, language_of
from taoxr_models.tts.phonemes import PUNCTUATION, WORD_GAP
from taoxr_models.tts.pieces import Array, Computed, Given, Net

SILENCE: Final = "_"
# Until a voice is calibrated: Piper's are at about -24 dBFS.
_USUAL_GAIN: Final = 1.6
# Root mean square of speech without its pauses, -20 dBFS; peaks above the limit are bent.
_LEVEL: Final = 10 ** (-20 / 20)
_LIMIT: Final = 0.8
_FADE_S: Final = 0.004

# Frames (12 ms) of audio that the first steps make, and all after them: little at first, because somebody
# waits for it; whole runs of the parts.
_PIECES: Final = (24, 40, 64)
# The parts before see farther than the last: in long pieces less of them is computed twice.
_COARSE_FRAMES: Final = 192
# Output steps that a part of the decoder makes in one run.
_STEPS: Final = 2048
_FIRST_FLOW: Final = 64
_FLOW_FRAMES: Final = 384

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


class Utterance:
    """A sentence whose timing is known and whose audio is made piece by piece; made by `Voice.plan`.

    Attributes:
        timing: Covers the audio without gaps, in order.
    """

    def __init__(
        self,
        timing: tuple[Timed, ...],
        stages: Sequence[Computed],
        gain: float,
        fade: int,
    ) -> None:
        self.timing = timing
        *self._before, self._audio = stages
        self._gain = np.float32(gain)
        self._fade = fade

    @property
    def samples(self) -> int:
        """Length of the audio."""
        return self._audio.frames * self._audio.rate

    def pieces(self) -> Iterator[NDArray[np.int16]]:
        """Makes the audio, one piece per step, each in at most about 60 ms; a step may give nothing.

        Yields:
            int16 ``[n]``, mono.

        Raises:
            ModelError: The voice gave something else than finite audio.
        """
        begin = 0
        for end in _ends(self._audio.frames):
            for stage, until in zip(self._before, self._needed(end), strict=True):
                if stage.extend(until):
                    yield np.empty(0, np.int16)
            audio = self._audio.span(begin * self._audio.rate, end * self._audio.rate).reshape(-1)
            if not np.isfinite(audio).all():
                raise ModelError("the voice made values that are not numbers")
            yield self._finished(audio, first=begin == 0, last=end == self._audio.frames)
            begin = end

    def _needed(self, end: int) -> list[int]:
        """How far each stage before the audio has to be for that to be there up to `end`."""
        needed: list[int] = []
        for stage in reversed((*self._before[1:], self._audio)):
            end = stage.sees(end)
            needed.append(end)
        return needed[::-1]

    def _finished(self, audio: Array, *, first: bool, last: bool) -> NDArray[np.int16]:
        """Level, a soft limit instead of clipping, and edges without a click."""
        loud = audio * self._gain
        limited = np.clip(loud, -_LIMIT, _LIMIT)
        if (over := limited != loud).any():
            room = 1.0 - _LIMIT
            limited[over] += room * np.tanh((loud - limited)[over] / room)
        n = min(self._fade, audio.size // 2)
        ramp = np.linspace(0.0, 1.0, n, endpoint=False, dtype=np.float32)
        if first:
            limited[:n] *= ramp
        if last:
            limited[limited.size - n :] *= ramp[::-1]
        return np.rint(limited * 32767.0).astype(np.int16)


class Voice:
    """A voice, ready to speak; for one thread at a time.

    Args:
        folder: Holds what `convert_piper` writes (verified).

    Attributes:
        sample_rate_hz: Of the audio; 16,000 for Piper's voices of low quality, mostly 22,050.
        language: BCP 47 tag.

    Raises:
        ModelError: A file is missing or of another form, or there are no phonemes for its language.
    """

    def __init__(self, folder: Path) -> None:
        config, parts = (_read(folder / name) for name in ("voice.json", "parts.json"))
        try:
            self.sample_rate_hz = int(config["audio"]["sample_rate"])
            scales = config["inference"]
            self._noise, self._length, self._width = (
                float(scales[k]) for k in ("noise_scale", "length_scale", "noise_w")
            )
            ids: Mapping[str, Sequence[int]] = config["phoneme_id_map"]
            self._ids = {symbol: tuple(int(i) for i in of) for symbol, of in ids.items()}
            speakers = int(config.get("num_speakers", 1))
            names: Mapping[str, int] = config.get("speaker_id_map") or {}
            if not all(0 <= i < speakers for i in names.values()):
                raise ValueError(f"a speaker is not one of {speakers}")
            # MNN does not check what it looks up in a table.
            if any(i >= int(config.get("num_symbols", 256)) for of in self._ids.values() for i in of):
                raise ValueError("an id is not below num_symbols")
            self.language = language_of(config)
            self._speakers = {str(i): i for i in range(speakers)} | {n: int(i) for n, i in names.items()}
            self._start, self._end, self._blank = (self._ids[s] for s in (_START, _END, _BLANK))
            several = speakers > 1
            # memory="low" makes this model's convolutions four times slower.
            self._nets = [
                Net(
                    Module(folder / f"{name}.mnn", ["x", "speaker"] if part["speaker"] else ["x"], ["y"]),
                    part["margin"],
                    part["factor"],
                    constants=1 if part["speaker"] else 0,
                )
                for name, part in parts.items()
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"voice.json or parts.json in {folder} has another form: {error!r}") from error
        self._gain = _USUAL_GAIN
        self._encoder = Module(
            folder / "encoder.mnn",
            ["input", "input_lengths", *(["sid"] if several else []), "scales", "noise"],
            ["mean", "log_scale", "durations", *(["speaker"] if several else [])],
        )

    @property
    def speakers(self) -> Sequence[str]:
        """Names and numbers of the speakers; the first number is who speaks when none is asked for."""
        return tuple(self._speakers)

    @property
    def scales(self) -> tuple[float, float, float]:
        """Noise of the sound, length, noise of the durations: what Piper's graph calls ``scales``."""
        return self._noise, self._length, self._width

    def ids(self, symbols: Sequence[str]) -> list[int]:
        """What the network is given for a sentence."""
        return self._sequence(symbols)[0]

    def check(self) -> None:
        """Checks that the voice's language can be phonemised with symbols that it knows.

        Raises:
            ModelError: It cannot; the text names the language, and the phonemes.
        """
        check_symbols(self.language, self._ids)

    def check_speaker(self, speaker: str) -> int:
        """The number of a speaker.

        Args:
            speaker: Name or number; empty means number 0.

        Raises:
            InvalidInputError: The voice has no such speaker; the text names those that it has.
        """
        if (number := self._speakers.get(speaker or "0")) is None:
            raise InvalidInputError("speaker", speaker, f"one of {', '.join(self._speakers)}")
        return number

    def plan(self, symbols: Sequence[str], speed: float = 1.0, seed: int = 0, speaker: str = "") -> Utterance:
        """Decides how long each symbol of a sentence lasts; the same arguments always give the same audio.

        Args:
            symbols: See `taoxr_models.tts.phonemes`. Characters that the voice does not know are left out.
            speed: 2 is twice as fast.
            seed: Of the noise that varies intonation and rhythm.
            speaker: Name or number; empty means number 0.

        Raises:
            InvalidInputError: The voice has no such speaker.
            ModelError: The voice gave something else than durations.
        """
        speaker_id = self.check_speaker(speaker)
        ids, owners, names = self._sequence(symbols)
        random = np.random.default_rng(seed)
        several = [np.array([speaker_id], dtype=np.int32)] if len(set(self._speakers.values())) > 1 else []
        mean, log_scale, durations, *speaks = self._encoder.run(
            np.array([ids], dtype=np.int32),
            np.array([len(ids)], dtype=np.int32),
            *several,
            np.array([0.0, self._length / speed, self._width], dtype=np.float32),
            random.standard_normal((1, 2, len(ids)), dtype=np.float32),
        )
        if durations.size != len(ids) or not np.isfinite(durations).all() or (durations < 0).any():
            raise ModelError(f"the voice made {durations.size} durations for {len(ids)} ids")
        frames = np.rint(durations.reshape(-1)).astype(np.int64)
        deviation: Array = np.exp(log_scale) * np.float32(self._noise)
        mean, deviation = (np.repeat(values, frames, axis=-1) for values in (mean, deviation))
        noise: Array = random.standard_normal(mean.shape, dtype=np.float32)
        latents = Given(np.add(mean, deviation * noise, dtype=np.float32))
        stages = self._stages(latents, tuple(speaks))
        edges = [0, *(np.cumsum(frames) * stages[-1].rate).tolist()]
        spans = [(names[o], edges[i], edges[i + 1]) for i, o in enumerate(owners)]
        fade = round(_FADE_S * self.sample_rate_hz)
        return Utterance(_merged(spans, owners), stages, self._gain, fade)

    def speak(self, symbols: Sequence[str], speed: float = 1.0, seed: int = 0, speaker: str = "") -> Speech:
        """All of `plan` at once."""
        utterance = self.plan(symbols, speed, seed, speaker)
        return Speech(np.concatenate(list(utterance.pieces())), utterance.timing)

    def calibrate(self, symbols: Sequence[str]) -> None:
        """Speaks a sentence and sets the gain by it, since voices differ in loudness by many decibels.

        The gain is fixed from then on: one that followed the speech would pump, and could not be known
        when the first piece is there.

        Raises:
            ModelError: The voice is silent.
        """
        self._gain = 1.0
        heard = self.speak(symbols)
        voiced = [heard.pcm[t.start : t.end] / 32768.0 for t in heard.timing if t.symbol != SILENCE]
        level = float(np.sqrt(np.mean(np.concatenate(voiced) ** 2))) if voiced else 0.0
        if level == 0.0:
            raise ModelError("the voice is silent")
        self._gain = _LEVEL / level

    def _stages(self, latents: Given, speaker: tuple[Array, ...]) -> list[Computed]:
        flows = [net for net in self._nets if net.factor == 1]
        stages: list[Computed] = []
        source: Given | Computed = latents
        for i, net in enumerate(flows):
            # So much more that those after it need no run of this one in between.
            ahead = sum(later.margin for later in flows[i + 1 :])
            source = Computed(net, source, speaker, first=_FIRST_FLOW + ahead, least=_FLOW_FRAMES)
            stages.append(source)
        for net in self._nets[len(flows) :]:
            least = _COARSE_FRAMES if source.rate == 1 else 1
            most = max(1, _STEPS // (source.rate * net.factor))
            source = Computed(net, source, speaker, least=least, most=most)
            stages.append(source)
        return stages

    def _sequence(self, symbols: Sequence[str]) -> tuple[list[int], list[int], list[str]]:
        """Ids with Piper's blanks between, the symbol that each id's time belongs to, and these symbols.

        A blank carries a large part of the sound's length, and is heard as the beginning of the symbol
        after it. So is the gap between two words, unless punctuation makes it a pause.
        """
        names = [SILENCE]
        ids, owners = [*self._start], [0] * len(self._start)
        carried = 0  # ids of gaps whose time goes to the next symbol
        for before, symbol in zip(["", *symbols], symbols, strict=False):
            known = [self._ids[c] for c in known_parts(symbol, self._ids)]
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


def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read {path}: {error!r}") from error


def _ends(frames: int) -> Iterator[int]:
    """Where the pieces of an utterance end; what is left at the end joins the last."""
    end = 0
    for size in chain(_PIECES, repeat(_PIECES[-1])):
        if end >= frames:
            return
        end += size
        if frames - end < _PIECES[0] // 2:
            end = frames
        yield end


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
