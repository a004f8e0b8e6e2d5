"""Face frames as files: JSON, or CSV with the names as header."""

import csv
import json
from pathlib import Path
from typing import Any, Final

from taoxr.client.client import FaceTrack
from taoxr.client.out_file import replacing

_DIGITS: Final = 5
SUFFIXES: Final = (".json", ".csv")


def write(path: Path, face: FaceTrack, *, field: str, **more: Any) -> None:
    """Writes a track, in place of the file that was there.

    JSON holds {"space", "names", "frame_rate", "frames": [{"time_us", "weights"}]} and what is in `more`;
    CSV has a column "time_us" and one for each name, a line for each frame.

    Args:
        path: ``.csv``, or anything else for JSON.
        face: The track.
        field: Name of the option, for errors.
        more: Further members of the JSON.

    Raises:
        InvalidInputError: The file cannot be written.
    """
    with replacing(path, field=field) as file:
        if path.suffix.lower() == ".csv":
            _write_csv(file, face)
        else:
            file.write_text(json.dumps(as_json(face) | more), encoding="utf-8")


def as_json(face: FaceTrack) -> dict[str, Any]:
    """The content of a JSON file; see `write`."""
    return {
        "space": face.rig.space,
        "names": list(face.rig.names),
        "frame_rate": face.rig.frame_rate,
        "frames": [{"time_us": time_us, "weights": weights} for time_us, weights in _rows(face)],
    }


def _write_csv(path: Path, face: FaceTrack) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time_us", *face.rig.names])
        writer.writerows([time_us, *weights] for time_us, weights in _rows(face))


def _rows(face: FaceTrack) -> list[tuple[int, list[float]]]:
    return [
        (int(time_us), [round(float(w), _DIGITS) for w in weights])
        for time_us, weights in zip(face.times_us, face.weights, strict=True)
    ]
