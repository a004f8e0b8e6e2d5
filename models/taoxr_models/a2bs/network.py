"""The network that hears any voice: Whisper's first layers, and a small head trained on what they say.

The *trunk* is the catalogue's Whisper up to its second block, frozen: what it makes of speech hardly depends
on who speaks. The *head* (0.25 million parameters, `taoxr_models.a2bs.training`) reads from it which sound is
heard and where the teacher of `taoxr_models.a2bs.coarticulation` would move the mouth.
"""

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Module, Variable
from taoxr_models.a2bs.articulation import CONTROLS, TABLE
from taoxr_models.catalog import verified
from taoxr_models.ear.window import Window

FRAME: Final = 320
"""Samples per frame: frame k is centred on sample 320 k."""
FRAME_S: Final = 0.02
HEAD: Final = "head.mnn"
TRUNK: Final = "trunk.mnn"
MODEL: Final = "whisper-tiny.en"
"""Catalogue id of the model that holds the trunk."""

WIDTH: Final = 384
"""Of what the trunk makes."""

Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Heard:
    """What the network says, frame by frame.

    Attributes:
        sounds: [n, rows of the table] probabilities.
        controls: [n, controls] in [0, 1].
        brow: [n] lift of the inner brows.
    """

    sounds: Rows
    controls: Rows
    brow: Rows

    def __getitem__(self, span: slice) -> "Heard":
        return Heard(self.sounds[span], self.controls[span], self.brow[span])


class Network:
    """Trunk and head; for one thread at a time.

    Args:
        trunk: ``mel`` [1, 80, 2 n] to ``x`` [1, n, 384]; see the recipe ``whisper-ct2``.
        head: ``x`` to ``sounds`` [1, n, rows of the table] and ``curves`` [1, n, controls + 1].

    Raises:
        ModelError: A file is missing or broken.
    """

    def __init__(self, trunk: Path, head: Path) -> None:
        self._trunk = Module(trunk, ("mel", "source", "position", "log_count"), ("x",))
        self._head = Module(head, ("x",), ("sounds", "curves"))

    @classmethod
    def installed(cls) -> Self:
        """With the installed trunk and the head that comes with the package.

        Raises:
            ModelError: The model with the trunk is not installed or damaged.
        """
        trunk = verified(MODEL) / TRUNK
        with as_file(files("taoxr_models.a2bs") / HEAD) as head:
            return cls(trunk, head)

    def features(self, mel: Rows) -> Variable:
        """The trunk alone: [1, 80, 2 n] to [1, n, 384]."""
        window = Window.whole(np.asarray(mel[0], np.float32), WIDTH)
        return self._trunk.forward(window.mel, window.source, window.position, window.log_count)[0]

    def __call__(self, mel: Rows) -> Heard:
        """Listens to a window, [80, 2 n]: 75 frames take about 10 ms."""
        sounds, curves = (v.numpy() for v in self._head.forward(self.features(mel[None])))
        curves = curves.reshape(-1, len(CONTROLS) + 1)
        return Heard(sounds.reshape(-1, len(TABLE)), curves[:, :-1], curves[:, -1])
