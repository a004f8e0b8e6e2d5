"""When the user's voice over the avatar's is meant to stop it; docs/barge_in.md has the rule in words."""

import re
from typing import Final

# What listeners say without wanting the floor (Yngve, "On getting a word in edgewise", 1970), as the
# recogniser writes it; and what it makes of coughs and noise.
_BACK_CHANNELS: Final = frozenset(
    (
        *(
            "mm",
            "mmm",
            "hm",
            "hmm",
            "mhm",
            "mmhm",
            "mmhmm",
            "uhhuh",
            "uh",
            "um",
            "ah",
            "aha",
            "oh",
            "ooh",
            "wow",
        ),
        *("yeah", "yes", "yep", "yup", "okay", "ok", "right", "sure", "exactly", "really", "cool", "great"),
        *("nice", "i", "see", "good", "true", "thank", "thanks", "you", "huh", "ha", "haha"),
    )
)
_MOST_WORDS: Final = 3


def is_back_channel(text: str) -> bool:
    """True for words that only say "I am listening", such as "mm-hm", "okay" and "I see"."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])[-' ]+(?=h)", "", text.lower()))
    return len(words) <= _MOST_WORDS and all(word in _BACK_CHANNELS for word in words)
