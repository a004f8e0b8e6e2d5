"""Scores lips on voices and people never trained on: ``python -m ...evaluate CORPUS [--peer FOLDER]``.

CORPUS holds the held-out voices of `speak` and the aligned recordings of `people`. Everything runs as in the
product: MNN, streaming in 40 ms chunks, automatic gain. Last comes the sum over all people.
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
PERSON: Final = "human-"
"""What names of sets of people begin with."""
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


def systems(network: Network, said: list[Utterance], peer: Path | None) -> dict[str, list[Said]]:
    """What we and the peer make of a set."""
    clips = [u.samples for u in said]
    out = {"ours": [ours(network, c) for c in clips]}
    if peer is not None:
        from taoxr_models.a2bs.training.peer import visemes

        out["headaudio"] = [of_visemes(v) for v in visemes(peer, clips)]
    return out


def show_aligner(name: str, said: list[Utterance]) -> None:
    """Prints how far the aligner's word can be trusted as truth, on speech with exact times."""
    from taoxr_models.a2bs.training.align import align

    found = [(u, phonemes) for u in said if (phonemes := align(u.samples, u.text)) is not None]
    rows: list[Said] = []
    for u, phonemes in found:
        times = np.arange(len(u.samples) // FRAME) * metrics.FRAME_S
        rows.append(of_visemes(TO_VISEME[metrics.classes_at(segments(phonemes), times)]))
    show(f"{name}, what could be aligned", [u for u, _ in found], {"pocketsphinx": rows})


def delayed(said: list[Said], frames: int) -> list[Said]:
    """The same, earlier by ``frames``: a system's delay taken off."""
    moved = [np.concatenate([s.visemes[frames:], np.zeros(frames, np.int64)]) for s in said]
    return [of_visemes(v) for v in moved]


def show(name: str, said: list[Utterance], made: dict[str, list[Said]]) -> None:
    """Prints the figures of a set."""
    references = [Reference.of(segments(u.phonemes), len(u.samples) // FRAME) for u in said]
    minutes = sum(len(u.samples) for u in said) / RATE / 60
    table = {system: scores(rows, references) for system, rows in made.items()}
    if "headaudio" in made:
        # The delay that suits it best, up to 160 ms.
        shifted = [
            scores(delayed(made["headaudio"], k), references) | {"shift_ms": 20.0 * k} for k in range(9)
        ]
        table["headaudio"] = min(shifted, key=lambda figures: figures["error"])
    loudness = [energy(u.samples) for u in said]
    table["loudness"] = {"jaw_r": metrics.spoken_correlation(loudness, references)}
    for system, figures in table.items():
        row = " ".join(f"{k}={v:.3f}" for k, v in figures.items())
        click.echo(f"{name} ({minutes:.1f} min) {system}: {row}")


def _noisy(u: Utterance, snr: float) -> Utterance:
    loud = u.samples[np.abs(u.samples) > 0.01]
    hiss = np.random.default_rng(len(u.samples)).standard_normal(len(u.samples))
    noise = hiss * float(loud.std()) * 10.0 ** (-snr / 20.0)
    return Utterance((u.samples + noise).astype(np.float32), u.phonemes, u.text)


def show_silence(network: Network) -> None:
    """Prints how still the face is in 10 s each of silence, hiss and hum."""
    rng = np.random.default_rng(1)
    t = np.arange(10 * RATE) / RATE
    hiss = rng.standard_normal(len(t))
    brown = np.cumsum(hiss) - np.convolve(np.cumsum(hiss), np.ones(400) / 400, "same")
    kinds = {
        "silence": np.zeros(len(t)),
        "hiss -60 dBFS": 0.001 * hiss,
        "hiss -30 dBFS": 0.03 * hiss,
        "rumble -30 dBFS": 0.03 * brown / brown.std(),
        "hum -30 dBFS": 0.03 * (np.sin(2 * np.pi * 100 * t) + 0.5 * np.sin(2 * np.pi * 200 * t)),
    }
    for name, x in kinds.items():
        weights = ours(network, x.astype(np.float32)).weights
        assert weights is not None
        click.echo(f"{name}: largest weight {weights.max():.3f}")


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("sets", nargs="*", help="default: the held-out voices, and people")
    parser.add_argument("--head", type=Path, help="default: the one in the package")
    parser.add_argument("--trunk", type=Path, help="default: the installed one")
    parser.add_argument("--peer", type=Path, help="folder of the npm package")
    parser.add_argument("--snr", type=float, help="add hiss this many dB below the speech")
    arguments = parser.parse_args()
    if arguments.head and arguments.trunk:
        network = Network(arguments.trunk, arguments.head)
    else:
        network = Network.installed()
    show_silence(network)
    names = arguments.sets or sorted(path.stem for path in arguments.corpus.glob("*.flac"))
    people: list[Utterance] = []
    made_of_people: dict[str, list[Said]] = {}
    for name in names:
        said = utterances.load(arguments.corpus, name)
        if arguments.snr is not None:
            said = [_noisy(u, arguments.snr) for u in said]
        person = name.startswith(PERSON)
        made = systems(network, said, arguments.peer)
        show(name, said, made)
        if not person:
            show_aligner(name, said)
        if person:
            people += said
            for system, rows in made.items():
                made_of_people.setdefault(system, []).extend(rows)
    if people:
        show("people", people, made_of_people)


if __name__ == "__main__":
    main()
