"""Makes ``prototypes.npz``: ``python -m taoxr_models.a2bs.fit_prototypes``.

Speaks the sentences below with the installed voice, whose phoneme times are exact, in variations that move
pitch, formants, tilt, level and noise, and fits one Gaussian to each class. About a minute; the same seed
and voice give the same file. Every fifth sentence is held out and only scored.
"""

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import soxr  # pyright: ignore[reportMissingTypeStubs]  the extension behind it is typed
from numpy.typing import NDArray

from taoxr_models import catalog
from taoxr_models.a2bs.articulation import TABLE
from taoxr_models.a2bs.features import COEFFICIENTS, FIRST_FRAME_S, FRAME_S, Features, Rows
from taoxr_models.a2bs.phonemes import Phoneme, segments
from taoxr_models.a2bs.prototypes import FILE, Listener, Prototypes
from taoxr_models.dsp.resample import RATE
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.voice import Voice

SEED: Final = 20
_SHRINK: Final = 0.2
_VARIATIONS: Final = 3
_HELD_OUT: Final = 5
_SILENCE_S: Final = 0.4

SENTENCES: Final = """\
The ferry to the island leaves at half past five every morning.
My mother baked a blueberry pie and put it on the balcony to cool.
We should choose a much cheaper machine for the kitchen.
Who would have thought that such a huge wolf could be so gentle?
A thick fog hung over the northern shore all through the month.
Please bring both of the blue bowls from the upper shelf.
The judge measured the usual distance between the two bridges.
Fifty-five violins filled the vast hall with a very fine sound.
Are you sure that the treasure is hidden under the old oak?
He poured a cup of warm milk for the small brown cat.
She sells fresh fish and salty chips beside the sea.
The young engineer argued that nothing was wrong with the engine.
How now, said the owl, and flew around the tower for an hour.
I hope the boat goes slowly through the narrow road of ice.
Your yellow yacht used to sail to Europe every year.
The boys enjoyed the noise and pointed at the oily coins.
Put the good book by the wooden hook, and look at the woods.
A girl with curly hair heard the first bird of the early morning.
The father parked the car far from the dark garden.
Hot coffee and soft cloth are not often lost in the office.
Think of three things that both the brother and the father loathe.
Whenever we wander west, the weather turns wet and windy.
Did the dentist tell Daniel to take the tablets twice a day?
The lazy lion lay along the long wall and looked at the lake.
Very few people believe the vivid fable of the five foxes.
Pepper, butter, and maple syrup made a superb supper.
Shall we measure the beige garage, or the large shed?
George just changed the orange cage for a bigger one.
Humming happily, he hurried home behind the big hill.
A quick cook keeps a clean kitchen and a good cake.
The ring on the king's long finger was stronger than it looked.
Rare red roses are really hard to grow around here.
Zoe's cousin was amazed by the buzzing of busy bees.
What a beautiful view of the moon over the cool blue pool.
Each teacher reached the beach and eats cheese with peas.
The fat cat sat back and had a nap on the black mat.
Let me get ten red pens from the desk next to the bed.
It is a pity that this big ship will sink in six minutes.
Some of us love nothing but sunny months in the south.
Four more doors were torn from the store in the storm.
Maybe I may pay for the train on the eighth of May.
My bright child might try to fly five kites at night.
Go home alone and open the old stone boat slowly.
The proud crowd was shouting loudly about our town house.
Perhaps problems appear whenever people stop reporting them.
A bumblebee bumped a bamboo pipe and disappeared behind a plum.
With a smooth movement, the mouse removed the mushroom from the room.
They breathe easily, although the feather rather bothers them.
Other mothers gather together in this southern weather.
Thirty thousand thirsty athletes thanked the author.
Vivian never voted for the invisible governor of Venice.
Half of the staff laughed at the rough giraffe's photograph.
We were always aware of the swift water below the wall.
Why was the white whale swimming around the quiet quay?
Sure enough, the shiny shoes were washed and brushed.
The vision of an unusual television gave him pleasure.
A child reached for a chocolate in the picture by the church.
The manager of the village college injured a pigeon.
Ask the clerk for a black backpack and a pack of crackers.
Eager goats again began to dig under the big garden gate.
Nine hundred and ninety-nine lemons were left on the lawn.
Tell Sally that silly little Billy fell into a shallow well.
The purple turtle never learned to work on her birthday.
Nurse Shirley observed the dirty shirt with some concern.
A pure cure for the poor tourist is surely on its tour.
Can you imagine a day when every robot has a human voice?
Open the window, close the door, and then begin to speak.
The computer answered politely, but it did not understand.
Nobody knows how many islands there are in this ocean.
Yesterday a young lawyer from New York used your yard.
""".splitlines()


@dataclass(frozen=True)
class Utterance:
    """A spoken sentence.

    Attributes:
        samples: [n] at 16 kHz.
        starts: [k] seconds, where each class begins.
        classes: [k] rows of the table.
    """

    samples: Rows
    starts: Rows
    classes: NDArray[np.int64]


def speak(phonemizer: Phonemizer, voice: Voice, text: str) -> Utterance:
    """Speaks a sentence with silence around it."""
    index = {row.name: i for i, row in enumerate(TABLE)}
    samples: list[Rows] = [np.zeros(round(_SILENCE_S * RATE))]
    starts, classes = [0.0], [0]
    for symbols in phonemizer(text):
        offset = sum(map(len, samples)) / RATE
        speech = voice.speak(symbols)
        rate = voice.sample_rate_hz
        for s in segments([Phoneme(t.symbol, t.start / rate, t.end / rate) for t in speech.timing]):
            starts.append(offset + s.start)
            classes.append(index[s.articulation.name])
        samples.append(soxr.resample(speech.pcm / 32768.0, rate, RATE))
    starts.append(sum(map(len, samples)) / RATE)
    classes.append(0)
    samples.append(np.zeros(round(_SILENCE_S * RATE)))
    return Utterance(np.concatenate(samples), np.array(starts), np.array(classes))


def vary(said: Utterance, rng: np.random.Generator) -> Utterance:
    """Another voice, room and microphone, roughly."""
    ratio = rng.uniform(0.85, 1.25)  # moves pitch, formants and speed together
    x = soxr.resample(said.samples, RATE, RATE / ratio)
    tilt = rng.uniform(-0.4, 0.4)
    x = x + tilt * np.concatenate([[0.0], x[:-1]])
    x = x * 10.0 ** (rng.uniform(-14.0, 6.0) / 20.0)
    noise = x.std() * 10.0 ** (-rng.uniform(22.0, 45.0) / 20.0)
    return Utterance(x + noise * rng.standard_normal(len(x)), said.starts / ratio, said.classes)


def labelled(said: Utterance, mean: Rows) -> tuple[Rows, NDArray[np.int64], Rows]:
    """Feature rows, their classes, and the cepstral mean at the end."""
    features = Features(mean)
    rows = np.concatenate([features.push(said.samples.astype(np.float32)), features.finish()])
    times = FIRST_FRAME_S + np.arange(len(rows)) * FRAME_S
    labels = said.classes[np.searchsorted(said.starts, times, side="right") - 1]
    return rows, labels, features.mean


def _varied(said: list[Utterance], rng: np.random.Generator) -> Iterator[Utterance]:
    for utterance in said:
        yield utterance
        for _ in range(_VARIATIONS):
            yield vary(utterance, rng)


def fit(said: list[Utterance], rng: np.random.Generator) -> Prototypes:
    """Fits the classes; a first pass finds the average voice, from which running means start."""
    train = list(_varied(said, rng))
    mean = np.mean([labelled(u, np.zeros(COEFFICIENTS))[2] for u in train], axis=0)
    pairs = [labelled(u, mean) for u in train]
    rows = np.concatenate([p[0] for p in pairs])
    return Prototypes.fit(rows, np.concatenate([p[1] for p in pairs]), mean, _SHRINK)


def score(prototypes: Prototypes, said: list[Utterance]) -> str:
    """Share of frames that are right, and how bilabials fare."""
    truth: list[NDArray[np.int64]] = []
    found: list[Rows] = []
    for u in said:
        rows, labels, _ = labelled(u, prototypes.cepstral_mean)
        truth.append(labels)
        found.append(Listener(prototypes).push(rows))
    t, p = np.concatenate(truth), np.concatenate(found)
    best = p.argmax(axis=1)
    lips = [row.name for row in TABLE].index("p")
    closed = p[:, lips] > 0.4
    return (
        f"frames right {np.mean(best == t):.3f}, in speech {np.mean(best[t > 0] == t[t > 0]):.3f}; "
        f"bilabial frames found {np.mean(closed[t == lips]):.3f}, "
        f"false {np.mean(t[closed] != lips):.3f}"
    )


def main() -> None:
    """Fits, scores and writes."""
    parser = argparse.ArgumentParser(description="Fits the class prototypes of AnimateAudio.")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name(FILE))
    out: Path = parser.parse_args().out
    voice = Voice(catalog.verified(catalog.default_model("tts")))
    phonemizer = Phonemizer()
    said = [speak(phonemizer, voice, text) for text in SENTENCES]
    rng = np.random.default_rng(SEED)
    held_out = said[::_HELD_OUT]
    prototypes = fit([u for i, u in enumerate(said) if i % _HELD_OUT], rng)
    print("held-out sentences:", score(prototypes, held_out))  # noqa: T201  a command
    print("the same, varied:  ", score(prototypes, [vary(u, rng) for u in held_out]))  # noqa: T201
    prototypes.save(out)
    os._exit(0)  # MNN may crash when the interpreter unloads it


if __name__ == "__main__":
    main()
