"""A client that runs the loop of `taoxr xr` with a partner who says what the user wants.

python watcher.py [HERTZ]
"""

import sys

from scenes import person

from taoxr.errors import UnavailableError
from taoxr_runtime.xr.app import Options, Still, run
from taoxr_runtime.xr.captions import Words
from taoxr_runtime.xr.controls import Wishes
from taoxr_runtime.xr.inputs import Inputs
from taoxr_runtime.xr.link import Pictures


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Watcher:
    """Says what changes."""

    listening = False
    before = Wishes()

    def tick(self, wishes: Wishes) -> Words:
        for name in ("talk", "away", "muted"):
            if getattr(wishes, name) != getattr(self.before, name):
                say(f"{name} {getattr(wishes, name)}")
        self.before, self.listening = wishes, wishes.talk
        return Words(note="watching" if wishes.captions else "")


def felt(inputs: Inputs, side: int, pulse=Inputs.pulse) -> None:
    """Says which hand feels a pulse."""
    pulse(inputs, side)
    say(f"pulse {side}")


Inputs.pulse = felt
rate = float(sys.argv[1]) if sys.argv[1:] else None
options = Options(pictures=Pictures(size=(64, 64), smallest=0.5), refresh_rate=rate)
try:
    run(options, Still(person(50)), Watcher(), say)
except UnavailableError as error:
    sys.exit(str(error))
