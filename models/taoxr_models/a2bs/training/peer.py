"""What ``@met4citizen/headaudio`` (npm, MIT) says of the same audio, in its own code under Node."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import soxr
from numpy.typing import NDArray

from taoxr_models.a2bs.training.metrics import VISEMES
from taoxr_models.a2bs.training.targets import FRAME_S
from taoxr_models.dsp.resample import RATE

# Browsers play at 48 kHz; its filter and pre-emphasis are made for that.
_RATE: Final = 48_000
_ITS_VISEMES: Final = "aa E ih oh ou PP SS TH DD FF kk nn RR CH sil"
_ITS_INDEX: Final = np.array([VISEMES.index(name) for name in _ITS_VISEMES.split()])


def visemes(package: Path, clips: Sequence[NDArray[np.float32]]) -> list[NDArray[np.int64]]:
    """Visemes of each 20 ms of each clip, indices into `VISEMES`.

    Args:
        package: Folder of the npm package.
        clips: [n] at 16 kHz each; levelled here to what its gate expects.
    """
    data = bytearray()
    for clip in clips:
        loud = clip[np.abs(clip) > 0.01]
        x = soxr.resample(clip * (0.1 / max(float(loud.std()), 1e-4)), RATE, _RATE).astype("<f4")
        data += np.uint32(len(x)).tobytes() + x.tobytes()
    script = Path(__file__).with_name("headaudio.mjs")
    done = subprocess.run(
        ["node", str(script), str(package)], input=bytes(data), capture_output=True, check=True
    )
    lines = done.stdout.decode().splitlines()
    return [
        _frames(json.loads(line), len(clip) // round(FRAME_S * RATE))
        for line, clip in zip(lines, clips, strict=True)
    ]


def _frames(events: list[tuple[float, int]], count: int) -> NDArray[np.int64]:
    out = np.zeros(count, np.int64)
    for (start, viseme), (end, _) in zip(events, [*events[1:], (count * FRAME_S, -1)], strict=False):
        first, last = round(start / FRAME_S), round(end / FRAME_S)
        out[max(0, first) : last] = 0 if viseme < 0 else _ITS_INDEX[viseme]
    return out
