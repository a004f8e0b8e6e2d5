"""Times the streaming recogniser beside sherpa-onnx: ``python tests/models/online/speed.py FOLDER``.

The folder holds a transducer as ``.onnx`` and ``.mnn`` (`zipformers`), and the encoder in int8 as
``encoder8.mnn`` if that shall be timed too. One thread each, the same audio, greedy search; prints seconds
of work per second of audio, the median of five runs.
"""

import statistics
import sys
import time
from pathlib import Path
from typing import Any

import sherpa_onnx
from signals import RATE, babble

from taoxr_models.ear.online import OnlineRecognizer

_SECONDS = 10
_RUNS = 5


def real_time_factor(recognizer: Any) -> float:
    """Median of `_RUNS` after one to warm up."""
    audio, times = babble(_SECONDS, seed=1), []
    for _ in range(_RUNS + 1):
        stream = recognizer.create_stream()
        began = time.perf_counter()
        for i in range(0, len(audio), RATE // 10):
            stream.accept_waveform(RATE, audio[i : i + RATE // 10])
            while recognizer.is_ready(stream):
                recognizer.decode_stream(stream)
        times.append((time.perf_counter() - began) / _SECONDS)
    return statistics.median(times[1:])


def main(folder: Path) -> None:
    """Prints one line per engine."""
    parts, tokens = ("encoder", "decoder", "joiner"), str(folder / "tokens.txt")
    onnx = {part: str(folder / f"{part}.onnx") for part in parts}
    mnn = {part: str(folder / f"{part}.mnn") for part in parts}
    theirs = sherpa_onnx.OnlineRecognizer.from_transducer(tokens=tokens, num_threads=1, **onnx)
    rows = {
        "sherpa-onnx float32": theirs,
        "MNN float32": OnlineRecognizer.from_transducer(tokens=tokens, **mnn),
    }
    if (folder / "encoder8.mnn").is_file():
        small = mnn | {"encoder": str(folder / "encoder8.mnn")}
        rows["MNN int8 encoder"] = OnlineRecognizer.from_transducer(tokens=tokens, **small)
    for name, recognizer in rows.items():
        sys.stdout.write(f"{name:22} RTF {real_time_factor(recognizer):.3f}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
