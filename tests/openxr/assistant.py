"""A still person in front of another app, as `taoxr ar --overlay` shows the avatar.

python assistant.py

Says what it is told, and when a trigger is pulled or let go. Ends at Ctrl-C.
"""

import sys

from scenes import person

from taoxr_runtime.xr.app import Options, Still, run
from taoxr_runtime.xr.captions import Words
from taoxr_runtime.xr.controls import Wishes
from taoxr_runtime.xr.environment import Surroundings
from taoxr_runtime.xr.link import Pictures


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Hands:
    """Says what the hands do."""

    listening = False
    before = False

    def tick(self, wishes: Wishes) -> Words:
        if wishes.talk != self.before:
            self.before = wishes.talk
            say("talk" if wishes.talk else "quiet")
        return Words()


surroundings = Surroundings(overlay=True, on_main_app=lambda visible: say(f"main app visible: {visible}"))
options = Options(pictures=Pictures(size=(480, 540)), raster="tiles", surroundings=surroundings)
say(run(options, Still(person()), Hands(), say).summary()[0])
