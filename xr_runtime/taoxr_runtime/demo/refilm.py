"""Another film, sheet or picture of a conversation that was recorded before."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from taoxr.errors import InvalidInputError
from taoxr_runtime.animation import Skeleton
from taoxr_runtime.demo import sheet
from taoxr_runtime.demo.captions import draw_caption
from taoxr_runtime.demo.film import save_picture
from taoxr_runtime.demo.replay import Conversation
from taoxr_runtime.demo.shots import Framing, Shot
from taoxr_runtime.demo.stage import Stage
from taoxr_runtime.demo.story import Moment, tell
from taoxr_runtime.demo.video import open_video
from taoxr_runtime.demo.voices import FILM_HZ

Picture = NDArray[np.uint8]


class Refilm:
    """Draws a conversation.

    Args:
        conversation: What happened.
        stage: Where the avatar stands.
        framing: Its shots.
        shot: Where the camera stays; None moves it as in the demo's film.

    Raises:
        InvalidInputError: The face's coefficients are no ARKit weights.
    """

    def __init__(
        self, conversation: Conversation, stage: Stage, framing: Framing, shot: Shot | None = None
    ) -> None:
        self._conversation, self._stage = conversation, stage
        self._moments = list(tell(conversation.record, Skeleton.of(stage.scene), framing, shot=shot))

    def film(self, out: Path) -> None:
        """Writes a film with captions and both voices."""
        view, fps = self._moments[0].view, self._conversation.record.fps
        length = round(len(self._moments) * FILM_HZ / fps)
        sound = np.zeros((2, length), np.int16)
        heard = self._conversation.sound[:, :length]
        sound[:, : heard.shape[1]] = heard
        across = view.width * self._stage.eyes_across
        with open_video(out, across, view.height, fps, sound, FILM_HZ) as video:
            for picture in self._draw(self._moments, "filming"):
                video.add(picture)

    def sheet(self, out: Path, count: int) -> None:
        """Writes so many telling moments on one picture, or all of a film that has no more."""
        chosen = [self._moments[n] for n in sheet.choose(self._moments, count)]
        save_picture(out, sheet.compose(list(self._draw(chosen, "drawing"))))

    def picture(self, out: Path, at: float | None) -> None:
        """Writes the picture at a time in seconds, by default the one in which it speaks the most clearly.

        Raises:
            InvalidInputError: The film has no such time.
        """
        length = len(self._moments) / self._conversation.record.fps
        if at is None:
            moment = max(self._moments, key=sheet.telling)
        elif 0.0 <= at < length:
            moment = self._moments[int(at * self._conversation.record.fps)]
        else:
            raise InvalidInputError("--at", at, f"seconds from 0 to {length:.2f}, the length of the film")
        save_picture(out, next(self._draw([moment], "drawing")))

    def _draw(self, moments: Sequence[Moment], doing: str) -> Iterator[Picture]:
        """Each with what is said; side by side, for each eye."""
        drawn = track(
            self._stage.draw_all((m.motion, m.view) for m in moments),
            doing, total=len(moments), console=Console(stderr=True), transient=True,
        )  # fmt: skip
        for moment, picture in zip(moments, drawn, strict=True):
            eyes = np.split(picture, self._stage.eyes_across, axis=1)
            yield np.concatenate([draw_caption(eye, moment.caption, moment.note) for eye in eyes], axis=1)
