"""Silero VAD: the 16 kHz variant whose LSTM is written out, which MNN converts right.

The variants with an `LSTM` node that takes its state as input (``silero_vad_16k_sequence``) convert
without a word and give wrong probabilities.
"""

from pathlib import Path

from taoxr.engine import convert_onnx


def convert_silero(model: Path, target: Path) -> None:
    """Writes ``vad.mnn``: ``input`` [1, 576], ``state`` [2, 1, 128] to ``output`` [1, 1], ``stateN``.

    Args:
        model: ``silero_vad_openvino_16k.onnx``.
        target: Existing folder to write into.

    Raises:
        ModelError: MNN refused it.
    """
    convert_onnx(model, target / "vad.mnn")
