"""Scores lips on voices and people never trained on: ``python -m ...evaluate CORPUS [--peer FOLDER]``.

CORPUS holds the held-out voices of `speak` and the aligned recordings of `people`. Everything runs as in the
product: MNN, streaming in 40 ms chunks, automatic gain.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
import numpy as np
from numpy.typing import NDArray

from taoxr.arkit import INDEX
from taoxr_models.a2bs.any_voice import AudioAnimator
from taoxr_models.a2bs.articulation import TABLE
from taoxr_models.a2bs.coarticulation import target_vector
from taoxr_models.a2bs.listener import Listener
from taoxr_models.a2bs.network import Heard, Network
from taoxr_models.a2bs.phonemes import segments
from taoxr_models.a2bs.rig import lip_gap
from taoxr_models.a2bs.training import metrics, utterances
from taoxr_models.a2bs.training.metrics import TO_VISEME, VISEMES, Closures, Reference
from taoxr_models.a2bs.training.targets import FRAME
from taoxr_models.a2bs.training.utterances import Utterance
from taoxr_models.dsp.resample import RATE

_CHUNK: Final = 640
SHUT: Final = 0.02
"""Lips nearer than this (0.7 mm) are closed."""
_AT_TEETH: Final = 0.4
_JAW: Final = INDEX["jawOpen"]


@dataclass(frozen=True)
class Said:
    """What a system made of a clip.

    Attributes:
        visemes: [n] indices into `VISEMES`.
        jaw: [n] opening.
        shut: [n] closed lips.
        at_teeth: [n] lower lip at the teeth.
        weights: [n, 52] or None.
    """

    visemes: NDArray[np.int64]
    jaw: NDArray[np.float64]
    shut: NDArray[np.bool_]
    at_teeth: NDArray[np.bool_]
    weights: NDArray[np.float32] | None = None


class _Recorded(Listener):
    """Keeps what the network said of the sounds."""

    def __init__(self, network: Network) -> None:
        super().__init__(network)
        self.sounds: list[NDArray[np.float32]] = []

    def push(self, samples: NDArray[np.float32]) -> Heard:
        heard = super().push(samples)
        self.sounds.append(heard.sounds)
        return heard

    def finish(self, frames: int) -> Heard:
        heard = super().finish(frames)
        self.sounds.append(heard.sounds)
        return heard


def ours(network: Network, clip: NDArray[np.float32]) -> Said:
    """The product, streaming."""
    listener = _Recorded(network)
    animator = AudioAnimator(listener, RATE, 1.0 / metrics.FRAME_S)
    pcm = np.rint(np.clip(clip, -1.0, 1.0) * 32767.0).astype(np.int16)
    tracks = [animator.push(pcm[at : at + _CHUNK]) for at in range(0, len(pcm), _CHUNK)]
    w = np.concatenate([t.weights for t in [*tracks, animator.finish()]])
    p = np.concatenate(listener.sounds)
    n = min(len(w), len(p))
    w, p = w[:n], p[:n]
    jaw = w[:, _JAW].astype(np.float64)
    at_teeth = w[:, INDEX["mouthRollLower"]] > _AT_TEETH
    return Said(TO_VISEME[p.argmax(axis=1)], jaw, lip_gap(w) < SHUT, at_teeth, w)


def of_visemes(visemes: NDArray[np.int64]) -> Said:
    """A system that only names visemes, given the teacher's mean jaw of each."""
    jaw = np.array([
        np.mean([target_vector(row)[0] for row, v in zip(TABLE, TO_VISEME, strict=True) if v == i] or [0.1])
        for i in range(len(VISEMES))
    ])  # fmt: skip
    return Said(
        visemes, smoothed(jaw[visemes]), visemes == VISEMES.index("PP"), visemes == VISEMES.index("FF")
    )


def smoothed(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Over 7 frames."""
    window = np.hanning(9)[1:-1]
    return np.convolve(np.pad(x, 3, mode="edge"), window / window.sum(), "valid")


def energy(clip: NDArray[np.float32]) -> NDArray[np.float64]:
    """Loudness in dB, the plainest jaw there is."""
    n = len(clip) // FRAME
    blocks = clip[: n * FRAME].reshape(n, FRAME).astype(np.float64)
    return smoothed(10.0 * np.log10((blocks**2).mean(axis=1) + 1e-7))


def scores(said: list[Said], references: list[Reference]) -> dict[str, float]:
    """All figures of one system on one set."""
    right: list[NDArray[np.bool_]] = []
    shuffled: list[NDArray[np.bool_]] = []
    spoken: list[NDArray[np.bool_]] = []
    lips, teeth = Closures(0, 0, 0, 0), Closures(0, 0, 0, 0)
    for s, r in zip(said, references, strict=True):
        n = min(len(s.visemes), len(r.classes))
        right.append(metrics.viseme_right(s.visemes[:n], r.classes[:n]))
        shuffled.append(metrics.viseme_right(np.roll(s.visemes[:n], n // 2), r.classes[:n]))
        spoken.append(r.classes[:n] != 0)
        lips += metrics.closures(s.shut, r)
        teeth += metrics.closures(s.at_teeth, r, "f")
    ok, speech = np.concatenate(right), np.concatenate(spoken)
    jaws = [s.jaw for s in said]
    out = {
        "error": 1.0 - float(ok.mean()),
        "error_speech": 1.0 - float(ok[speech].mean()),
        "error_shuffled": 1.0 - float(np.concatenate(shuffled).mean()),
        "jaw_r": metrics.spoken_correlation(jaws, references),
        "lag_ms": metrics.lag_ms(jaws, references),
        "bilabials": lips.wanted,
        "closed": lips.closed / max(lips.wanted, 1),
        "false": lips.false / max(lips.made, 1),
        "labiodentals": teeth.wanted,
        "at_teeth": teeth.closed / max(teeth.wanted, 1),
        "teeth_false": teeth.false / max(teeth.made, 1),
    }
    if all(s.weights is not None for s in said):
        out["still"] = stillness(said, references)
    return out


def stillness(said: list[Said], references: list[Reference]) -> float:
    """Share of frames at least 0.3 s inside pauses in which no weight is above 0.05."""
    quiet: list[NDArray[np.bool_]] = []
    for s, r in zip(said, references, strict=True):
        assert s.weights is not None
        n = min(len(s.weights), len(r.classes))
        silent = np.convolve(np.pad(r.classes[:n] != 0, 15, constant_values=False), np.ones(31), "valid") == 0
        quiet.append(s.weights[:n].max(axis=1)[silent] <= 0.05)
    found = np.concatenate(quiet)
    return float(found.mean()) if len(found) else float("nan")


def evaluate(network: Network, said: list[Utterance], peer: Path | None) -> dict[str, dict[str, float]]:
    """Our figures, the peer's, and those of loudness alone, on one set."""
    clips = [u.samples for u in said]
    references = [Reference.of(segments(u.phonemes), len(u.samples) // FRAME) for u in said]
    table = {"ours": scores([ours(network, c) for c in clips], references)}
    if peer is not None:
        from taoxr_models.a2bs.training.peer import visemes

        table["headaudio"] = _at_best_shift(visemes(peer, clips), references)
    loudness = [energy(c) for c in clips]
    table["loudness"] = {"jaw_r": metrics.spoken_correlation(loudness, references)}
    return table


def _at_best_shift(visemes: list[NDArray[np.int64]], references: list[Reference]) -> dict[str, float]:
    """Scores with the delay taken off that suits the system best, up to 160 ms (``shift_ms``)."""
    tries: list[dict[str, float]] = []
    for k in range(9):
        moved = [np.concatenate([v[k:], np.zeros(k, np.int64)]) for v in visemes]
        said = [of_visemes(v) for v in moved]
        tries.append(scores(said, references) | {"shift_ms": k * metrics.FRAME_S * 1e3})
    return min(tries, key=lambda figures: figures["error"])


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("sets", nargs="*", help="default: the held-out voices, and people")
    parser.add_argument("--head", type=Path, help="default: the one in the package")
    parser.add_argument("--trunk", type=Path, help="default: the installed one")
    parser.add_argument("--peer", type=Path, help="folder of the npm package")
    parser.add_argument("--clips", type=int, default=10**6, help="at most this many of each set")
    arguments = parser.parse_args()
    if arguments.head and arguments.trunk:
        network = Network(arguments.trunk, arguments.head)
    else:
        network = Network.installed()
    names = arguments.sets or sorted(
        p.stem for p in arguments.corpus.glob("*.json") if p.with_suffix(".flac").exists()
    )
    for name in names:
        said = utterances.load(arguments.corpus, name)[: arguments.clips]
        minutes = sum(len(u.samples) for u in said) / RATE / 60
        for system, figures in evaluate(network, said, arguments.peer).items():
            row = " ".join(f"{k}={v:.3f}" for k, v in figures.items())
            click.echo(f"{name} ({minutes:.1f} min) {system}: {row}")


if __name__ == "__main__":
    main()
