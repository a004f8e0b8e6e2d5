"""The mood of a clause on its face track."""

from collections.abc import Sequence

import numpy as np

from taoxr.errors import InvalidInputError
from taoxr_models.a2bs.animate import Track
from taoxr_models.mood import NAMES, Mood, mood_of
from taoxr_models.mood.expression import moods_over, with_mood


def in_mood(
    track: Track, text: str, before: Sequence[float], start_us: int, end_us: int
) -> tuple[Track, list[float]]:
    """A clause's track in the mood of its words.

    Args:
        track: The track without.
        text: The words; none have no mood.
        before: The mood that the clause before ended with, as this returned it; empty at the start.
        start_us: Start of the clause on the track's clock.
        end_us: Its end.

    Returns:
        The track, and the mood that it ends with, one number per name in `taoxr_models.mood.NAMES`.

    Raises:
        InvalidInputError: `before` is no mood.
    """
    if len(before) not in (0, len(NAMES)) or not all(0.0 <= value <= 1.0 for value in before):
        raise InvalidInputError("mood_before", list(before), f"nothing, or {len(NAMES)} numbers from 0 to 1")
    was, now = Mood(*before), mood_of(text)
    times = (np.append(track.times_us, end_us) - start_us) * 1e-6
    moods = moods_over(was, now, times)
    weights = with_mood(track.weights.astype(np.float64), moods[:-1]).astype(np.float32)
    return Track(track.times_us, weights), moods[-1].tolist()
