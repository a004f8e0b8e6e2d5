"""Voices that say when each phoneme sounds.

Every engine tells its own truth: Piper and Kokoro predict durations, flite and Festival place units,
espeak-ng reports events. None of them is part of taoxr; ``docs/lips.md`` says where they come from.
"""

import ctypes
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_models.a2bs.articulation import BY_SYMBOL
from taoxr_models.a2bs.phonemes import Phoneme, segments
from taoxr_models.a2bs.training.phones import ipa_of_cmu
from taoxr_models.a2bs.training.utterances import Utterance
from taoxr_models.catalog import verified
from taoxr_models.dsp.resample import RATE
from taoxr_models.tts.phonemes import PUNCTUATION, WORD_GAP, Phonemizer
from taoxr_models.tts.voice import Voice

Speak = Callable[[str, np.random.Generator], Utterance | None]
"""Speaks a sentence at a random speed; None if the engine cannot say it."""

_MARKS: Final = "ˈˌː"


def at_16k(samples: NDArray[Any], rate: int) -> NDArray[np.float32]:
    """Resamples to 16 kHz."""
    x = samples.astype(np.float32)
    return x if rate == RATE else np.asarray(soxr.resample(x, rate, RATE), np.float32)


def piper() -> Speak:
    """The catalogue's own voice."""
    voice, phonemizer = Voice(verified("piper-en-us-joe")), Phonemizer()

    def speak(text: str, rng: np.random.Generator) -> Utterance | None:
        pieces = phonemizer(text)
        if len(pieces) != 1:
            return None
        said = voice.speak(pieces[0], float(rng.uniform(0.8, 1.3)))
        rate = voice.sample_rate_hz
        rows = tuple(Phoneme(t.symbol, t.start / rate, t.end / rate) for t in said.timing)
        return Utterance(at_16k(said.pcm / 32768.0, rate), rows, text)

    return speak


# gruut's symbols to Kokoro's (misaki's): diphthongs and affricates are letters of their own.
_MISAKI: Final = {"eɪ": "A", "aɪ": "I", "aʊ": "W", "oʊ": "O", "ɔɪ": "Y", "dʒ": "ʤ", "tʃ": "ʧ", "ɜː": "ɜɹ",
                  "ɝ": "ɜɹ", "ɚ": "əɹ", "r": "ɹ", "g": "ɡ", "ɐ": "ə"}  # fmt: skip
_PLAIN: Final = {"A": "eɪ", "I": "aɪ", "W": "aʊ", "O": "oʊ", "Y": "ɔɪ", "ʤ": "dʒ", "ʧ": "tʃ"}
_KOKORO_FRAME: Final = 600
_KOKORO_RATE: Final = 24_000
# Its durations say later than is heard, by this much: found with `align` on two of its voices.
_KOKORO_LATE_S: Final = 0.045
_KOKORO_DURATIONS: Final = "/encoder/Clip_output_0"


def kokoro(model: Path, vocabulary: Path, voices: Path, voice: str) -> Speak:
    """Kokoro-82M (Apache-2.0): its Japanese voices read English phonemes.

    Args:
        model: ``kokoro-v1.0.int8.onnx``.
        vocabulary: ``vocab.json``.
        voices: ``voices_ja.npz``.
        voice: A name in it.
    """
    import onnx
    import onnxruntime

    graph = onnx.load(model)
    graph.graph.output.append(onnx.helper.make_tensor_value_info(_KOKORO_DURATIONS, 1, None))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options)
    ids: dict[str, int] = json.loads(vocabulary.read_text(encoding="utf-8"))["vocab"]
    styles = np.load(voices)[voice]
    phonemizer = Phonemizer()

    def speak(text: str, rng: np.random.Generator) -> Utterance | None:
        pieces = phonemizer(text)
        letters = _misaki(pieces[0], ids) if len(pieces) == 1 else []
        if not letters:
            return None
        tokens = [0, *(ids[c] for c in letters), 0]
        audio, frames = session.run(
            None,
            {
                "tokens": np.array([tokens]),
                "style": styles[len(letters)].reshape(1, 256).astype(np.float32),
                "speed": np.array([rng.uniform(1.0, 1.4)], np.float32),
            },
        )
        edges = np.concatenate([[0], np.cumsum(frames.reshape(-1))]) * _KOKORO_FRAME / _KOKORO_RATE
        rows = [
            Phoneme(_PLAIN.get(c, c if c in _MARKS + WORD_GAP or c in BY_SYMBOL else ""), a, b)
            for c, a, b in zip(["", *letters, ""], edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        ]
        said = _trimmed(Utterance(at_16k(audio, _KOKORO_RATE), tuple(rows), text))
        return None if said is None else with_pauses(_earlier(said, _KOKORO_LATE_S))

    return speak


def _misaki(symbols: Iterable[str], known: dict[str, int]) -> list[str]:
    out: list[str] = []
    for symbol in symbols:
        if symbol in PUNCTUATION or symbol == WORD_GAP:
            out.append(symbol)
            continue
        bare = symbol.strip("ˈˌ")
        stress = symbol[: len(symbol) - len(symbol.lstrip("ˈˌ"))]
        out.extend(stress + _MISAKI.get(bare, _MISAKI.get(bare.rstrip("ː"), bare.rstrip("ː"))))
    return [c for c in out if c in known]


def flite(voice: str) -> Speak:
    """CMU flite (BSD) with one of its voices: kal16 (diphones), awb, rms or slt (clustered units)."""

    def speak(text: str, rng: np.random.Generator) -> Utterance | None:
        with tempfile.TemporaryDirectory() as folder:
            wav = Path(folder) / "said.wav"
            stretch = f"duration_stretch={rng.uniform(0.8, 1.25):.3f}"
            command = ["flite", "-voice", voice, "--setf", stretch, "-psdur", "-t", text, "-o", str(wav)]
            told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            samples, rate = soundfile.read(wav, dtype="float32")
        rows: list[Phoneme] = []
        at = 0.0
        for token in told.split():
            name, end = token.rsplit(":", 1)
            if float(end) < at:
                return None  # cut into two utterances, with times that start again
            rows.append(Phoneme(ipa_of_cmu(name), at, float(end)))
            at = float(end)
        return Utterance(at_16k(samples, rate), tuple(rows), text)

    return speak


class _EspeakEvent(ctypes.Structure):
    """``espeak_EVENT`` of ``speak_lib.h``."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    ]


_PHONEME_EVENT: Final = 7
_RATE_PARAMETER, _PITCH_PARAMETER = 1, 3


def espeak(voice: str) -> Speak:
    """espeak-ng (a program of its own; formants) with a voice such as ``en-us+f2``."""
    library = ctypes.CDLL("libespeak-ng.so.1")
    sample_rate = library.espeak_Initialize(2, 0, None, 1 | 2)  # synchronous, phoneme events in IPA
    blocks: list[NDArray[np.int16]] = []
    events: list[tuple[float, str]] = []
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_EspeakEvent)
    )

    def take(wave: Any, count: int, told: Any) -> int:
        if count > 0 and wave:
            blocks.append(np.ctypeslib.as_array(wave, (count,)).copy())
        i = 0
        while told[i].type != 0:
            if told[i].type == _PHONEME_EVENT:
                events.append((told[i].audio_position / 1000.0, told[i].id.decode("utf-8", "ignore")))
            i += 1
        return 0

    callback = kind(take)
    library.espeak_SetSynthCallback(callback)

    def speak(text: str, rng: np.random.Generator) -> Utterance | None:
        if library.espeak_SetVoiceByName(voice.encode()) != 0:
            raise InvalidInputError("voice", voice, "a voice that espeak-ng has")
        _ = callback  # must outlive the call
        blocks.clear()
        events.clear()
        library.espeak_SetParameter(_RATE_PARAMETER, int(rng.uniform(130, 190)), 0)
        library.espeak_SetParameter(_PITCH_PARAMETER, int(rng.uniform(30, 70)), 0)
        data = text.encode()
        library.espeak_Synth(data, len(data) + 1, 0, 1, 0, 1, None, None)
        library.espeak_Synchronize()
        samples = np.concatenate(blocks) / 32768.0
        ends = [t for t, _ in events[1:]] + [len(samples) / sample_rate]
        rows = [
            Phoneme("".join(c for c in name if c in BY_SYMBOL or c in _MARKS), start, end)
            for (start, name), end in zip(events, ends, strict=True)
        ]
        return _trimmed(Utterance(at_16k(samples, sample_rate), tuple(rows), text))

    return speak


def festival(voice: str, texts: Iterable[str]) -> Iterator[Utterance]:
    """Festival (BSD-like) with a voice such as ``ked_diphone`` or ``cmu_us_slt_arctic_hts``."""
    lines = list(texts)
    with tempfile.TemporaryDirectory() as folder:
        script = [f"(voice_{voice})"]
        for i, text in enumerate(lines):
            quoted = text.replace('"', "")
            script += [
                f'(set! said (SynthText "{quoted}"))',
                f'(utt.save.wave said "{folder}/{i}.wav")',
                f'(utt.save.segs said "{folder}/{i}.lab")',
            ]
        path = Path(folder) / "say.scm"
        path.write_text("\n".join(script), encoding="utf-8")
        subprocess.run(["festival", "-b", str(path)], check=True, capture_output=True)
        for i, text in enumerate(lines):
            samples, rate = soundfile.read(Path(folder) / f"{i}.wav", dtype="float32")
            rows: list[Phoneme] = []
            at = 0.0
            for line in (Path(folder) / f"{i}.lab").read_text().splitlines()[1:]:
                end, _, name = line.split()
                rows.append(Phoneme(ipa_of_cmu(name), at, float(end)))
                at = float(end)
            yield Utterance(at_16k(samples, rate), tuple(rows), text)


def _earlier(said: Utterance, seconds: float) -> Utterance:
    rows = (Phoneme(p.symbol, p.start - seconds, p.end - seconds) for p in said.phonemes)
    return Utterance(said.samples, tuple(rows), said.text)


# Quieter than the loud parts by this factor for this long is a pause, not a stop's closure.
_QUIET: Final = 0.02
_PAUSE_FRAMES: Final = 12


def with_pauses(said: Utterance) -> Utterance:
    """Cuts phonemes where nothing is heard: Kokoro's last one before a pause lasts into it."""
    hop = RATE // 100
    count = len(said.samples) // hop
    rms = np.sqrt((said.samples[: count * hop].reshape(count, hop) ** 2).mean(axis=1))
    quiet = np.concatenate([[False], rms < _QUIET * np.quantile(rms, 0.9), [False]])
    edges = np.flatnonzero(np.diff(quiet.astype(np.int8))).reshape(-1, 2)
    pauses = [(a / 100, b / 100) for a, b in edges.tolist() if b - a >= _PAUSE_FRAMES]
    rows = [Phoneme("", a, b) for a, b in pauses]
    for p in said.phonemes:
        start, end = p.start, p.end
        for a, b in pauses:
            if a <= start < b:
                start = min(b, end)
            elif start < a < end:
                end = a
        if end > start:
            rows.append(Phoneme(p.symbol, start, end))
    return Utterance(said.samples, tuple(sorted(rows, key=lambda p: p.start)), said.text)


_EDGE_S: Final = 0.15


def _trimmed(said: Utterance) -> Utterance | None:
    """Without long silence at the edges."""
    row = segments(said.phonemes)
    spoken = [s for s in row if not s.silent]
    if not spoken:
        return None
    start = max(0.0, spoken[0].start - _EDGE_S)
    end = min(len(said.samples) / RATE, spoken[-1].end + _EDGE_S)
    rows = tuple(
        Phoneme(p.symbol, max(p.start, start) - start, min(p.end, end) - start)
        for p in said.phonemes
        if p.end > start and p.start < end
    )
    return Utterance(said.samples[round(start * RATE) : round(end * RATE)], rows, said.text)
