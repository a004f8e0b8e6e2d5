"""Log-mel features of a stream, Kaldi's way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import kaldi_native_fbank as knf
import numpy as np
import soxr  # pyright: ignore[reportMissingTypeStubs]  the extension behind it is typed
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError

FRAME_SHIFT_S = 0.01


@dataclass(frozen=True, slots=True)
class FeatureOptions:
    """How features are made; names and defaults as in sherpa-onnx.

    Attributes:
        sample_rate: Rate that the model was trained on, in Hz.
        feature_dim: Mel bins.
        low_freq: Lower edge of the first bin in Hz.
        high_freq: Upper edge of the last bin in Hz; zero or less counts from half the rate.
        dither: Noise added to the samples; 0 keeps results reproducible.
        normalize_samples: Take samples in [-1, 1] as they are; false scales them to 16 bits.
        snip_edges: Leave out frames that the audio's ends do not fill; false mirrors the audio there.
    """

    sample_rate: float = 16000
    feature_dim: int = 80
    low_freq: float = 20.0
    high_freq: float = -400.0
    dither: float = 0.0
    normalize_samples: bool = True
    snip_edges: bool = False


SILENCE = float(np.log(np.finfo(np.float32).eps))
"""Every number of a frame without sound."""


class Features:
    """Frames of one stream, 10 ms apart.

    Args:
        options: How to make them.
    """

    def __init__(self, options: FeatureOptions) -> None:
        wanted = knf.FbankOptions()
        wanted.frame_opts.dither = options.dither
        wanted.frame_opts.snip_edges = options.snip_edges
        wanted.frame_opts.samp_freq = options.sample_rate
        wanted.mel_opts.num_bins = options.feature_dim
        wanted.mel_opts.low_freq = options.low_freq
        wanted.mel_opts.high_freq = options.high_freq
        self._options = options
        self._fbank = knf.OnlineFbank(wanted)
        self._resampler: soxr.ResampleStream | None = None
        self._input_rate: float | None = None
        self._dropped = 0
        self._finished = False

    @property
    def ready(self) -> int:
        """Frames there are since the stream's start."""
        return int(self._fbank.num_frames_ready)

    def accept(self, sample_rate: float, samples: NDArray[np.float32]) -> None:
        """Takes the next samples, [n] in [-1, 1].

        Raises:
            InvalidInputError: The rate is another than before, or the input was finished.
        """
        if self._finished:
            raise InvalidInputError("waveform", f"{len(samples)} samples", "none after `input_finished`")
        if self._input_rate is None:
            self._input_rate = sample_rate
            if sample_rate != self._options.sample_rate:
                self._resampler = soxr.ResampleStream(
                    sample_rate, self._options.sample_rate, 1, dtype="float32"
                )
        if sample_rate != self._input_rate:
            raise InvalidInputError(
                "sample_rate", sample_rate, f"{self._input_rate:g}, as before in this stream"
            )
        self._push(samples, last=False)

    def finish(self) -> None:
        """The audio is over: the last frames come out."""
        if self._finished:
            return
        self._push(np.zeros(0, np.float32), last=True)
        self._finished = True
        self._fbank.input_finished()

    def frames(self, start: int, count: int) -> NDArray[np.float32]:
        """Frames by their place in the stream, [count, bins]; those before ``start`` are forgotten."""
        self._fbank.pop(start - self._dropped)
        self._dropped = start
        if not count:
            return np.zeros((0, self._options.feature_dim), np.float32)
        # What get_frame returns belongs to the extractor; stack copies it.
        return np.stack([self._fbank.get_frame(start + i) for i in range(count)])

    def _push(self, samples: NDArray[np.float32], *, last: bool) -> None:
        if self._resampler is not None:
            samples = np.asarray(self._resampler.resample_chunk(samples, last=last), np.float32)
        if len(samples):
            scaled = samples if self._options.normalize_samples else samples * np.float32(32768)
            self._fbank.accept_waveform(self._options.sample_rate, cast(Sequence[float], scaled))
