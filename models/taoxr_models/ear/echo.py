"""The avatar must not hear itself: how much of the microphone's sound the loudspeaker explains.

No waveform is subtracted, as an echo canceller would do: device clocks drift apart, and the path from the
bridge to the loudspeaker has an unknown delay of up to a second. Instead, energies in bands are compared:

1. The delay is where the normalised cross-correlation of the log energies of microphone and playback is
   highest. Below a threshold there is no echo (headphones).
2. The gain of each band is the median ratio of the two. It may fall at any time (the microphone holds at
   least the echo), but rises only while the correlation is high.
3. What the playback explains (delayed, with its gain, a margin, and an exponential tail for the room) is no
   speech of the user. The share of energy that is left lets the voice detector through.

Compare Gustafsson et al., "A psychoacoustic approach to combined acoustic echo cancellation and noise
reduction", 2002, for residual echo in bands, and Polack's exponential model of reverberation, 1988.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_models.dsp.mel import mel_filters
from taoxr_models.dsp.resample import RATE

HOP: Final = 256
"""Samples of one step at 16 kHz: 16 ms."""
_WINDOW: Final = 512
_BANDS: Final = 16
# The mean of a band, not its integral in Hz.
_FILTERS: Final = mel_filters(_BANDS, _WINDOW, RATE, 150.0, 7000.0) * np.float32(RATE / _WINDOW)
_HANN: Final = np.hanning(_WINDOW + 1)[:-1].astype(np.float32)
# Energies below this are silence; about -66 dBFS.
_FLOOR: Final = 1e-7
# Playback is told up to 0.2 s too late or 1 s too early.
_EARLIEST: Final = -round(0.2 * RATE / HOP)
_LATEST: Final = round(1.0 * RATE / HOP)
# The past that is compared, and the least of it that allows a verdict.
_HISTORY: Final = round(1.6 * RATE / HOP)
_ENOUGH: Final = round(0.45 * RATE / HOP)
_ECHO: Final = 0.55
# Playback within 30 dB of its loudest band energy is compared; its pauses say nothing.
_ACTIVE: Final = 1e-3
_TAIL: Final = 0.75
_MARGIN: Final = 4.0
# The quietest part of the past is the room's noise, which varies about its mean.
_NOISE_PERCENTILE: Final = 15
_NOISE: Final = 4.0
# Shares of unexplained energy between which the detector is let through more and more.
_CLOSED, _OPEN = 0.15, 0.45
# Looking for the delay is most of the work (about 1 ms): not with every frame.
_LEARN_EVERY: Final = 4
# A piece that begins this near to the end of the last one follows it without a gap.
_JOIN: Final = round(0.3 * RATE)
# Playback that was cut off is heard a little longer.
_AFTER_STOP: Final = round(0.25 * RATE)


class EchoGate:
    """Says for each step of the microphone how much of it the playback does not explain.

    All positions are in samples at 16 kHz on the microphone's clock.
    """

    def __init__(self) -> None:
        # Playback from sample `_start` on, and its steps' energies from step 0 of that.
        self._start = 0
        self._playback = np.zeros(0, np.float32)
        self._reference = np.zeros((0, _BANDS), np.float32)
        self._microphone = np.full((_HISTORY, _BANDS), _FLOOR, np.float32)
        self._step = 0  # steps of the microphone so far
        self._before = np.zeros(_WINDOW - HOP, np.float32)
        self._frames = 0
        self._noise = np.zeros(_BANDS, np.float32)
        self._lag = 0
        self._gain: NDArray[np.float32] | None = None

    @property
    def echo_found(self) -> bool:
        """True when the microphone is known to hear the loudspeaker."""
        return self._gain is not None and bool(self._gain.any())

    def play(self, samples: NDArray[np.float32], at: int) -> None:
        """The loudspeaker will play these samples, [n], about from position `at`."""
        self._forget()
        end = self._start + len(self._playback)
        if len(self._playback) and abs(at - end) <= _JOIN:
            at = end
        if at < end:  # cannot be: it speaks with one voice. What is told later is true.
            self._cut(at)
            end = self._start + len(self._playback)
        if not len(self._playback):
            self._start, end = at // HOP * HOP, at // HOP * HOP
        gap = np.zeros(max(0, at - end), np.float32)
        self._playback = np.concatenate([self._playback, gap, samples])
        self._reference = _energies(self._playback)

    def stop(self, at: int) -> None:
        """Playback was cut off at position `at`."""
        if at + _AFTER_STOP < self._start + len(self._playback):
            self._cut(at + _AFTER_STOP)
            self._reference = _energies(self._playback)

    def unexplained(self, frame: NDArray[np.float32]) -> float:
        """Takes the next samples of the microphone, [n * HOP].

        Returns:
            0 (nothing but echo) to 1 (no echo): what the detector's probability is to be scaled by.
        """
        joined = np.concatenate([self._before, frame])
        self._before = joined[len(joined) - (_WINDOW - HOP) :]
        new = _spectra(joined)
        self._microphone = np.concatenate([self._microphone, new])[-_HISTORY:]
        self._step += len(new)
        reference = self._around(_HISTORY - _EARLIEST + _LATEST)
        # The steps that may be heard now, the room's tail included.
        if reference[-(_LATEST - _EARLIEST + len(new)) - _LATEST // 4 :].max(initial=0.0) <= _FLOOR:
            return 1.0
        self._frames += 1
        if self._frames % _LEARN_EVERY == 0:
            self._learn(reference)
        return 0.0 if self._gain is None else self._share(self._gain, reference, new)

    def _learn(self, reference: NDArray[np.float32]) -> None:
        """Compares the past with the playback."""
        self._noise = np.percentile(self._microphone, _NOISE_PERCENTILE, axis=0).astype(np.float32)
        logs = np.log10(reference + _FLOOR)
        shifted = np.lib.stride_tricks.sliding_window_view(logs, _HISTORY, axis=0)  # [lags, bands, time]
        loud = reference.mean(axis=1)
        active = np.lib.stride_tricks.sliding_window_view(loud > max(_FLOOR, _ACTIVE * loud.max()), _HISTORY)
        mask = active.astype(np.float32)  # [lags, time]
        counts = mask.sum(axis=1)
        microphone = np.log10(self._microphone + _FLOOR).T  # [bands, time]
        n = np.maximum(counts, 1.0)[:, None]
        x = shifted - (np.einsum("lbt,lt->lb", shifted, mask) / n)[:, :, None]
        y = microphone[None] - (np.einsum("bt,lt->lb", microphone, mask) / n)[:, :, None]
        xm = x * mask[:, None]
        norms = np.sqrt((xm * x).sum(axis=(1, 2)) * (y * y * mask[:, None]).sum(axis=(1, 2)))
        scores = np.where(counts >= _ENOUGH, (xm * y).sum(axis=(1, 2)) / np.maximum(norms, 1e-9), 0.0)
        best = int(scores.argmax())
        if scores[best] >= _ECHO:
            # Row 0 is the oldest shift, which is the greatest delay.
            self._lag = _LATEST - best
            self._gain = self._ratios(reference, self._lag)
        elif self._gain is None:
            # Only when an echo of any delay would have been found by now.
            if counts.min() >= _ENOUGH:
                self._gain = np.zeros(_BANDS, np.float32)
        elif counts[_LATEST - self._lag] >= _ENOUGH:
            self._gain = np.minimum(self._gain, self._ratios(reference, self._lag))

    def _ratios(self, reference: NDArray[np.float32], lag: int) -> NDArray[np.float32]:
        """Median ratio of microphone and playback in each band, where the playback is loud in it."""
        first = _LATEST - lag
        heard = reference[first : first + _HISTORY]
        loud = heard > np.maximum(_FLOOR, 0.03 * heard.max(axis=0))
        ratios = np.where(loud, self._microphone / np.maximum(heard, _FLOOR), np.nan)
        ratios[0, ~loud.any(axis=0)] = 0.0
        return np.nanmedian(ratios, axis=0).astype(np.float32)

    def _share(
        self, gain: NDArray[np.float32], reference: NDArray[np.float32], new: NDArray[np.float32]
    ) -> float:
        """How far the microphone's newest steps let the detector through."""
        end = _LATEST - self._lag + _HISTORY
        heard = reference[max(0, end - _LATEST) : end + 1]  # one step later: the delay is rounded
        tailed = np.empty_like(heard)
        level = np.zeros(_BANDS, np.float32)
        for i, energies in enumerate(heard):
            level = np.maximum(energies, level * _TAIL)
            tailed[i] = level
        # One step earlier and later, for the same reason.
        n = len(new)
        near = np.lib.stride_tricks.sliding_window_view(tailed, 3, axis=0).max(axis=2)[-n:]
        left = np.maximum(0.0, new - _MARGIN * gain * near - _NOISE * self._noise).sum()
        share = float(left / max(float(new.sum()), _FLOOR))
        return float(np.clip((share - _CLOSED) / (_OPEN - _CLOSED), 0.0, 1.0))

    def _around(self, steps: int) -> NDArray[np.float32]:
        """Playback's energies for `steps` steps, the last of which is `-_EARLIEST` after the newest."""
        out = np.zeros((steps, _BANDS), np.float32)
        first = self._step - _EARLIEST - steps - self._start // HOP  # in steps of the reference
        begin, end = max(0, first), min(len(self._reference), first + steps)
        if end > begin:
            out[begin - first : end - first] = self._reference[begin:end]
        return out

    def _cut(self, at: int) -> None:
        self._playback = self._playback[: max(0, at - self._start)]

    def _forget(self) -> None:
        """Drops playback that is too old to be heard."""
        old = (self._step - _HISTORY - _LATEST - 2) * HOP - self._start
        if old > 0:
            self._playback = self._playback[old:]
            self._start += old


def _energies(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Band energies of a signal's steps, [k, bands]; the first step ends with its first `HOP` samples."""
    return _spectra(np.concatenate([np.zeros(_WINDOW - HOP, np.float32), samples]))


def _spectra(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Band energies of each window, [k, bands]; full scale is about 1."""
    if len(samples) < _WINDOW:
        return np.zeros((0, _BANDS), np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(samples, _WINDOW)[::HOP]
    power = np.abs(np.fft.rfft(windows * _HANN, axis=1)) ** 2 / _WINDOW
    return (power @ _FILTERS.T).astype(np.float32)
