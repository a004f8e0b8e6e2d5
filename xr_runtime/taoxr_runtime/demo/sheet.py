"""The contact sheet: the film's telling moments on one picture."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from taoxr import arkit
from taoxr_runtime.animation import Activity
from taoxr_runtime.demo.story import Moment, jaw

Picture = NDArray[np.uint8]

MOST: Final = 12
_TILE_WIDTH: Final = 384
_GAP: Final = 6


def choose(moments: Sequence[Moment], count: int = MOST - 2) -> list[int]:
    """Numbers of the pictures to keep: the first, and of each turn listening, thinking and speaking.

    Where turns have fewer, moments far from those chosen are added.

    Args:
        moments: All of a film.
        count: How many; all of a film that has no more.
    """
    if not moments:
        return []
    chosen = {moments[0].number}
    turns = sorted({m.turn for m in moments if m.turn >= 0})
    each = max((count - 1) // max(len(turns), 1), 1)
    more: list[int] = []
    for turn in turns[: count - 1]:
        own = [m for m in moments if m.turn == turn]
        picks: list[int] = []
        for activity in (Activity.SPEAKING, Activity.LISTENING, Activity.THINKING):
            part = [m for m in own if m.activity is activity]
            if not part:
                continue
            if activity is Activity.SPEAKING:
                loudest = max(part, key=telling)
                other = [m for m in part if abs(m.number - loudest.number) > 10 and not _blinks(m)]
                picks += [loudest.number, *(m.number for m in other[len(other) * 2 // 3 :][:1])]
            else:
                late = part[len(part) * 3 // 4 :]
                picks.append(next((m for m in late if not _blinks(m)), late[0]).number)
        chosen.update(picks[:each])
        more += picks[each:]
    chosen.update(more[: count - len(chosen)])
    while len(chosen) < min(count, len(moments)):
        rest = [m for m in moments if m.number not in chosen]
        chosen.add(max(rest, key=lambda m: (not _blinks(m), min(abs(m.number - n) for n in chosen))).number)
    return sorted(chosen)


def close_ups(moments: Sequence[Moment]) -> list[Moment]:
    """Up to two speaking moments with the mouth wide open, of different turns, for a close look."""
    best: dict[int, Moment] = {}
    for moment in moments:
        if moment.activity is Activity.SPEAKING and (
            moment.turn not in best or telling(moment) > telling(best[moment.turn])
        ):
            best[moment.turn] = moment
    return sorted(best.values(), key=telling, reverse=True)[:2]


def telling(moment: Moment) -> float:
    """How well a picture shows that the avatar speaks to the viewer: mouth and eyes open, no glance aside."""
    aside = max(moment.motion.expression[arkit.INDEX[f"eyeLook{way}Left"]] for way in ("In", "Out"))
    return jaw(moment) - float(_blinks(moment)) - max(float(aside) - 0.35, 0.0)


def _blinks(moment: Moment) -> bool:
    return bool(moment.motion.expression[arkit.INDEX["eyeBlinkLeft"]] > 0.1)


def compose(tiles: Sequence[Picture]) -> Picture:
    """Tiles in reading order, as square a sheet as they allow: uint8 [height, width, 3]."""
    height, width = tiles[0].shape[:2]
    tile = (_TILE_WIDTH, round(_TILE_WIDTH * height / width))
    columns = min(range(1, len(tiles) + 1), key=lambda n: (_unevenness(n, len(tiles), tile), n))
    rows = -(-len(tiles) // columns)
    size = (columns * (tile[0] + _GAP) + _GAP, rows * (tile[1] + _GAP) + _GAP)
    sheet = Image.new("RGB", size, (24, 27, 33))
    for i, picture in enumerate(tiles):
        small = Image.fromarray(picture).resize(tile, Image.Resampling.LANCZOS)
        sheet.paste(small, (_GAP + i % columns * (tile[0] + _GAP), _GAP + i // columns * (tile[1] + _GAP)))
    return np.asarray(sheet)


def _unevenness(columns: int, count: int, tile: tuple[int, int]) -> float:
    rows = -(-count // columns)
    shape = columns * tile[0] / (rows * tile[1])
    return abs(np.log(shape / 1.5)) + 0.5 * (columns * rows - count)
