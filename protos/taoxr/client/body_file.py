"""A body track with its cues as a JSON file."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from taoxr.client.clips import Speech
from taoxr.client.out_file import replacing
from taoxr.errors import InvalidInputError

SUFFIXES: Final = (".json",)
_DIGITS: Final = 6


def write(path: Path, speech: Speech, *, field: str) -> None:
    """Writes the body of a speech, in place of the file that was there.

    JSON holds bone_names, frame_rate, frames, each with time_us (microseconds from the first sample),
    rotations (x, y, z, w for each bone) and hips_translation (metres), and cues; see docs/body.md.

    Raises:
        InvalidInputError: The file cannot be written, or the speech has no body.
    """
    if speech.bones is None:
        raise InvalidInputError(field, str(path), "a server that sends a body; this one has none")
    content = {
        "bone_names": list(speech.bones.names),
        "frame_rate": speech.bones.frame_rate,
        "frames": _frames(speech),
        "cues": [asdict(cue) for cue in speech.cues],
    }
    with replacing(path, field=field) as file:
        file.write_text(json.dumps(content), encoding="utf-8")


def _frames(speech: Speech) -> list[dict[str, Any]]:
    body = speech.body
    return [
        {
            "time_us": int(time_us),
            "rotations": [[round(float(value), _DIGITS) for value in turn] for turn in turns],
            "hips_translation": [round(float(value), _DIGITS) for value in hips],
        }
        for time_us, turns, hips in zip(body.times_us, body.rotations, body.hips, strict=True)
    ]
