"""The film of a conversation, rendered offline from its record."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from taoxr_runtime.animation import Skeleton
from taoxr_runtime.demo import sheet
from taoxr_runtime.demo.captions import draw_caption
from taoxr_runtime.demo.record import Record
from taoxr_runtime.demo.shots import Framing
from taoxr_runtime.demo.stage import Stage
from taoxr_runtime.demo.story import Moment, tell
from taoxr_runtime.demo.video import open_video
from taoxr_runtime.demo.voices import FILM_HZ, film_sound

Picture = NDArray[np.uint8]


@dataclass
class Film:
    """What was filmed so far.

    Attributes:
        pictures: How many pictures are in the film.
        render_s: Seconds spent on them, encoding included.
        moments: All moments of the film.
    """

    pictures: int = 0
    render_s: float = 0.0
    moments: list[Moment] = field(default_factory=list[Moment])


def shoot(
    record: Record,
    stage: Stage,
    size: tuple[int, int],
    folder: Path,
    progress: Callable[[int, int, Picture], None],
    film: Film,
) -> None:
    """Writes ``demo.mp4`` and ``demo.png``.

    Args:
        record: What happened.
        stage: Where the avatar stands.
        size: Width and height of the film in pixels.
        folder: Where the files go.
        progress: Called with pictures done, pictures in all and the picture.
        film: Filled while filming, so that it holds what is finished when this is interrupted.
    """
    framing = Framing(stage.scene.landmarks, *size)
    film.moments = moments = list(tell(record, Skeleton.of(stage.scene), framing))
    keep = set(sheet.choose(moments))
    kept: dict[int, Picture] = {}
    closer: list[Picture] = []
    duration_us = round(len(moments) * 1e6 / record.fps)
    start = time.perf_counter()
    try:
        with open_video(
            folder / "demo.mp4", *size, record.fps, film_sound(record, duration_us), FILM_HZ
        ) as video:
            drawn = stage.draw_all((m.motion, m.view) for m in moments)
            for moment, bare in zip(moments, drawn, strict=True):
                picture = draw_caption(bare, moment.caption, moment.note)
                video.add(picture)
                if moment.number in keep:
                    kept[moment.number] = picture
                film.pictures, film.render_s = video.frames, time.perf_counter() - start
                progress(film.pictures, len(moments), picture)
        near = sheet.close_ups(moments)
        shots = ((m.motion, framing.view(framing.face.turned(8.0))) for m in near)
        closer = [draw_caption(p, m.caption) for m, p in zip(near, stage.draw_all(shots), strict=True)]
    finally:
        if kept:
            tiles = [picture for _, picture in sorted(kept.items())]
            save_picture(folder / "demo.png", sheet.compose([*tiles, *closer]))


def save_picture(path: Path, picture: Picture) -> None:
    """Writes a PNG, complete or not at all."""
    partial = path.with_suffix(".partial.png")
    Image.fromarray(picture).save(partial, compress_level=6)
    partial.replace(path)
