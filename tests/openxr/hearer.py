"""A client whose voice comes from the avatar's mouth, into a WAV. It says where the mouth is.

    python hearer.py FILE

It ends when the avatar has been on the left for half a second of sound.
"""

import os
import signal
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scenes import person

from taoxr_runtime.audio import FileSink, Listener
from taoxr_runtime.xr.app import Options, Silence, Still, run
from taoxr_runtime.xr.link import Pictures

MOUTH = np.array([0.0, 1.55, 0.1])
HEARD_US = 500_000


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Ears(Listener):
    """Says where it hears the mouth, and ends the program."""

    before = (0.0, 0.0, 0.0)
    since_us: int | None = None

    def look(self, head: NDArray[np.float64]) -> None:
        super().look(head)
        heard_us = sink.heard_us()  # a file is written up to now whenever it is asked
        if self.mouth[0] < -1 and self.since_us is None:
            self.since_us = heard_us
        if self.since_us is not None and heard_us - self.since_us > HEARD_US:
            os.kill(os.getpid(), signal.SIGINT)
        if np.abs(np.subtract(self.mouth, self.before)).max() > 0.01:
            self.before = self.mouth
            x, y, z = self.mouth
            say(f"mouth {x:.2f} {y:.2f} {z:.2f}")


ears = Ears(MOUTH)
sink = FileSink(Path(sys.argv[1]), listener=ears)
sink.write(np.random.default_rng(0).normal(0, 3000, 24_000 * 60).astype(np.int16), 24_000, last=True)
run(Options(pictures=Pictures(size=(96, 96))), Still(person(300)), Silence(), say, on_head=ears.look)
sink.close()
