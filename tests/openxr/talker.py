"""A client that converses as `taoxr xr` does, in front of a still scene, and says what its captions say.

python talker.py QUESTION...
"""

import os
import signal
import sys

from scenes import person

from taoxr.client import ConversationOptions
from taoxr_runtime.audio import NullSink, NullSource
from taoxr_runtime.live import Companion
from taoxr_runtime.xr.app import Options, Still, run
from taoxr_runtime.xr.captions import Words
from taoxr_runtime.xr.conversation import Conversation
from taoxr_runtime.xr.link import Pictures


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Telling(Conversation):
    """Says every new caption, and ends the program when all is answered."""

    before = Words()

    def tick(self, pressed: bool) -> Words:
        words = super().tick(pressed)
        if words != self.before:
            self.before = words
            say(f"caption user={words.user!r} avatar={words.avatar!r} note={words.note!r}")
        if self.over:
            os.kill(os.getpid(), signal.SIGINT)
        return words


options = ConversationOptions(temperature=0.0)  # the likeliest words, so that a test repeats
with Companion(None, NullSink(), NullSource(), options=options) as companion:
    partner = Telling(companion, sys.argv[1:], False, say)
    timing = run(Options(pictures=Pictures(size=(96, 96))), Still(person(300)), partner, say)
say(timing.summary()[0])
