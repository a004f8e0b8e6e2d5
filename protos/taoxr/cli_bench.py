"""``taoxr bench``: one command for each thing that can be measured, each brought by the part it measures."""

from typing import Final

import click

from taoxr.cli import LazyGroup

_SUMMARIES: Final = {
    "a2bs": "Lips from any voice: real-time factor.",
    "all": "All workers at once: listening, speaking, memory.",
    "asr": "The ear beside faster-whisper: time and word errors.",
    "bridge": "What the bridge adds to each message.",
    "llm": "The language model beside llama.cpp.",
    "render": "Splats, pass by pass.",
    "tts": "The voice beside onnxruntime.",
    "turn": "Spoken turns, stage by stage, and interruptions.",
    "xr": "The headset's frame loop, alone and beside a conversation; lips against voice.",
}


@click.group(
    cls=LazyGroup,
    points="taoxr.bench",
    summaries=_SUMMARIES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
def app() -> None:
    """Measures how fast this machine runs taoxr's parts.

    Example: `taoxr bench turn --json`
    """
