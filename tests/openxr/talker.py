"""A client that converses as `taoxr xr` does, and says what its captions say.

python talker.py HOW TARGET QUESTION...
"""

import os
import signal
import sys
from contextlib import closing

import numpy as np
from scenes import person

from taoxr.client import ConversationOptions
from taoxr_runtime.audio import NullSink, NullSource
from taoxr_runtime.demo.stage import load_avatar
from taoxr_runtime.live import Actor, Companion
from taoxr_runtime.xr.app import Figure, Options, Still, run
from taoxr_runtime.xr.captions import Words
from taoxr_runtime.xr.controls import Wishes
from taoxr_runtime.xr.conversation import Conversation
from taoxr_runtime.xr.floor import OnFloor, floor
from taoxr_runtime.xr.link import Pictures
from taoxr_runtime.xr.muting import MutableSource

MICROPHONE = MutableSource(NullSource())


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Telling(Conversation):
    """Says every new caption, and ends the program when all is answered."""

    before = Words()

    def tick(self, wishes: Wishes) -> Words:
        words = super().tick(wishes)
        if words != self.before:
            self.before = words
            say(f"caption user={words.user!r} avatar={words.avatar!r} note={words.note!r}")
        if self.over:
            os.kill(os.getpid(), signal.SIGINT)
        return words


def converse(companion: Companion, figure: Figure, size: int) -> None:
    partner = Telling(companion, MICROPHONE, questions, False, say)
    timing = run(Options(pictures=Pictures(size=(size, size)), eye_height=1.68), figure, partner, say)
    say(timing.summary()[0])


options = ConversationOptions(temperature=0.0)  # the likeliest words, so that a test repeats
how, target, *questions = sys.argv[1:]
with Companion(target or None, NullSink(), MICROPHONE, options=options) as talker:
    if how == "still":
        converse(talker, Still(person(300)), 96)
    else:
        scene = load_avatar(None)
        with closing(scene), Actor(scene, talker) as actor:
            converse(talker, OnFloor(actor, floor(np.array([[-0.12, 0, 0.08], [0.12, 0, 0.08]]))), 1000)
