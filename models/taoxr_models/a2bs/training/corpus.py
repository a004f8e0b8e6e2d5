"""What the voices say: sentences of our own, and sentences of frequent words in random order.

Random words cover sounds and their neighbours far better than a text of the same length, and need no text
of anybody's.
"""

import json
import random
import re
from collections.abc import Iterator
from typing import Final

from taoxr_models.catalog import verified

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
What a beautiful view of the moon over the cool blue pool.
Each teacher reached the beach and eats cheese with peas.
The fat cat sat back and had a nap on the black mat.
Let me get ten red pens from the desk next to the bed.
Some of us love nothing but sunny months in the south.
Four more doors were torn from the store in the storm.
Maybe I may pay for the train on the eighth of May.
My bright child might try to fly five kites at night.
Perhaps problems appear whenever people stop reporting them.
With a smooth movement, the mouse removed the mushroom from the room.
They breathe easily, although the feather rather bothers them.
Thirty thousand thirsty athletes thanked the author.
Half of the staff laughed at the rough giraffe's photograph.
Why was the white whale swimming around the quiet quay?
The vision of an unusual television gave him pleasure.
A child reached for a chocolate in the picture by the church.
Ask the clerk for a black backpack and a pack of crackers.
Nurse Shirley observed the dirty shirt with some concern.
Can you imagine a day when every robot has a human voice?
Open the window, close the door, and then begin to speak.
Nobody knows how many islands there are in this ocean.
Yesterday a young lawyer from New York used your yard.
""".splitlines()

_FUNCTION_WORDS: Final = (
    "the a of and to in is was that for it with on be at by this have from or had but some what there we "
    "can out other were all your when up use how an each which their if will about many then them these "
    "my me you they could would should more been who now than first its over our who"
)
_FREQUENT: Final = 9000
_WORD: Final = re.compile(r"Ġ[a-z]{3,}")


def sentences(seed: int) -> Iterator[str]:
    """Endless sentences, the same for the same seed; every fourth is one of `SENTENCES`."""
    rng = random.Random(seed)
    words = _frequent_words()
    while True:
        for own in rng.sample(SENTENCES, len(SENTENCES)):
            yield own
            for _ in range(3):
                yield _random_sentence(words, rng)


def _random_sentence(words: list[str], rng: random.Random) -> str:
    function_words = _FUNCTION_WORDS.split()
    parts: list[str] = []
    for _ in range(rng.randint(4, 8)):
        if rng.random() < 0.4:
            parts.append(rng.choice(function_words))
        parts.append(rng.choice(words))
        if rng.random() < 0.08:
            parts[-1] += ","
    return " ".join(parts).rstrip(",").capitalize() + rng.choice("...?")


def _frequent_words() -> list[str]:
    """English words that Whisper's tokeniser keeps whole, the most frequent first."""
    tokenizer = json.loads((verified("whisper-tiny.en") / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary: dict[str, int] = tokenizer["model"]["vocab"]
    by_rank = sorted(vocabulary, key=vocabulary.__getitem__)
    return [token[1:] for token in by_rank if _WORD.fullmatch(token)][:_FREQUENT]
