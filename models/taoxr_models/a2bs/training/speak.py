"""Makes the corpus: ``python -m taoxr_models.a2bs.training.speak FOLDER [VOICE ...]``."""

import argparse
import itertools
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import numpy as np

from taoxr_models.a2bs.training import corpus, engines, utterances
from taoxr_models.a2bs.training.utterances import Utterance
from taoxr_models.a2bs.training.voices import HELD_OUT, TRAINED
from taoxr_models.dsp.resample import RATE


def main() -> None:
    """Speaks what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("voices", nargs="*", help="default: all")
    parser.add_argument("--kokoro", type=Path, help="folder with kokoro.onnx, vocab.json and voices_ja.npz")
    arguments = parser.parse_args()
    minutes = TRAINED | HELD_OUT
    for name in arguments.voices or minutes:
        if not (arguments.folder / f"{name}.json").exists():
            said = _until(_speech(name, arguments.kokoro), minutes[name] * 60.0)
            seconds = utterances.save(arguments.folder, name, said, lossless=name in HELD_OUT)
            click.echo(f"{name}: {seconds / 60:.1f} minutes")


def _speech(name: str, kokoro: Path | None) -> Iterator[Utterance]:
    engine, voice = name.split("-", 1)
    seed = zlib.crc32(name.encode())
    texts = corpus.sentences(seed)
    if engine == "festival":
        return engines.festival(voice, itertools.islice(texts, 60))
    makers: dict[str, Callable[[], engines.Speak]] = {
        "piper": engines.piper,
        "flite": lambda: engines.flite(voice),
        "espeak": lambda: engines.espeak(voice),
    }
    if engine == "kokoro":
        if kokoro is None:
            raise SystemExit("kokoro voices need --kokoro")
        speak = engines.kokoro(kokoro / "kokoro.onnx", kokoro / "vocab.json", kokoro / "voices_ja.npz", voice)
    else:
        speak = makers[engine]()
    rng = np.random.default_rng(seed)
    return (said for text in texts if (said := speak(text, rng)) is not None)


def _until(said: Iterator[Utterance], seconds: float) -> Iterator[Utterance]:
    total = 0.0
    for utterance in said:
        yield utterance
        total += len(utterance.samples) / RATE
        if total >= seconds:
            return


if __name__ == "__main__":
    main()
