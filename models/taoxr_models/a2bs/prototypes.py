"""Which sound is it: one Gaussian for each row of the articulation table.

The simplest method that works at all on live audio, as in headaudio and uLipSync (MFCC prototypes);
fitted on our own voice by `taoxr_models.a2bs.fit_prototypes`. Other voices are recognised worse; see
`taoxr_models.a2bs.audio`.
"""

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import ModelError
from taoxr_models.a2bs.articulation import TABLE
from taoxr_models.a2bs.features import DIMENSIONS, Rows

FILE: Final = "prototypes.npz"
# Chance that a sound goes on for another frame.
_STAY: Final = 0.8


@dataclass(frozen=True)
class Prototypes:
    """Class densities over projected feature rows, in the order of the articulation table.

    Attributes:
        projection: [k, DIMENSIONS] linear discriminants; within classes the projected rows have unit
            covariance on average (Fisher, 1936; Rao, 1948).
        means: [classes, k].
        factors: [classes, k, k] inverse Cholesky factors of the covariances: for a difference d,
            |factor d|² is the squared Mahalanobis distance.
        priors: [classes] sum 1.
        cepstral_mean: [12] where running cepstral means start.
    """

    projection: Rows
    means: Rows
    factors: Rows
    priors: Rows
    cepstral_mean: Rows

    @classmethod
    def fit(cls, rows: Rows, labels: NDArray[np.int64], cepstral_mean: Rows, shrink: float) -> "Prototypes":
        """Fits discriminants and Gaussians; covariances are pulled to the common one by ``shrink`` (0 to 1).

        Raises:
            ModelError: A class has too few rows.
        """
        classes = range(len(TABLE))
        counts = np.array([(labels == c).sum() for c in classes])
        if counts.min() < DIMENSIONS:
            missing = [TABLE[c].name for c in classes if counts[c] < DIMENSIONS]
            raise ModelError(f"too few frames of {missing} to fit; add sentences that contain them")
        centres = np.stack([rows[labels == c].mean(axis=0) for c in classes])
        projection = _discriminants(centres, np.cov((rows - centres[labels]).T), np.sqrt(counts))
        projected = rows @ projection.T
        common = np.eye(len(projection))
        covariances = [(1 - shrink) * np.cov(projected[labels == c].T) + shrink * common for c in classes]
        factors = np.stack([np.linalg.inv(np.linalg.cholesky(c)) for c in covariances])
        priors = np.asarray(counts / counts.sum(), dtype=np.float64)
        return cls(projection, centres @ projection.T, np.asarray(factors, np.float64), priors, cepstral_mean)

    @classmethod
    def load(cls, path: Path) -> "Prototypes":
        """Reads what `save` wrote.

        Raises:
            ModelError: The file does not fit this version of the table.
        """
        with np.load(path) as data:
            names = tuple(str(n) for n in data["names"])
            if names != tuple(row.name for row in TABLE):
                raise ModelError(f"{path.name} is for other classes; run taoxr_models.a2bs.fit_prototypes")
            projection = data["projection"].astype(np.float64)
            size = len(projection)
            lower = np.tril_indices(size)
            factors = np.zeros((len(TABLE), size, size))
            factors[:, lower[0], lower[1]] = data["factors"]
            means = data["means"].astype(np.float64)
            return cls(projection, means, factors, data["priors"], data["cepstral_mean"])

    @classmethod
    def bundled(cls) -> "Prototypes":
        """Those that come with the package."""
        with as_file(files("taoxr_models.a2bs") / FILE) as path:
            return cls.load(path)

    def save(self, path: Path) -> None:
        """Writes a small ``.npz``, the same bytes for the same numbers."""
        lower = np.tril_indices(len(self.projection))
        np.savez(
            path,
            projection=self.projection.astype(np.float32),
            names=np.array([row.name for row in TABLE]),
            means=self.means.astype(np.float32),
            factors=self.factors[:, lower[0], lower[1]].astype(np.float32),
            priors=self.priors,
            cepstral_mean=self.cepstral_mean,
        )

    def log_likelihoods(self, rows: Rows) -> Rows:
        """Log density of each row in each class, up to a constant, [n, classes]."""
        difference = (rows @ self.projection.T)[:, None, :] - self.means
        scaled = np.einsum("cij,ncj->nci", self.factors, difference)
        volume = np.log(np.diagonal(self.factors, axis1=1, axis2=2)).sum(axis=1)
        return volume - 0.5 * (scaled**2).sum(axis=2)


def _discriminants(centres: Rows, within: Rows, weights: Rows) -> Rows:
    """Directions in which class centres differ most against the spread within classes, [classes - 1, d]."""
    share = weights / weights.sum()
    offset = centres - share @ centres
    whiten = np.linalg.inv(np.linalg.cholesky(within + 1e-6 * np.eye(len(within))))
    between = whiten @ (offset * share[:, None]).T @ offset @ whiten.T
    _, directions = np.linalg.eigh(between)
    found = directions[:, ::-1][:, : len(centres) - 1].T @ whiten
    return np.asarray(found, dtype=np.float64)


class Listener:
    """Posteriors of the classes over time, by the forward recursion of a hidden Markov model.

    Args:
        prototypes: The classes.
    """

    def __init__(self, prototypes: Prototypes) -> None:
        self._prototypes = prototypes
        self._posterior = np.zeros(len(TABLE))
        self._posterior[0] = 1.0

    def push(self, rows: Rows) -> Rows:
        """Takes feature rows in order; returns posteriors, [n, classes], each row sums to 1."""
        if len(rows) == 0:
            return np.zeros((0, len(TABLE)))
        evidence = self._prototypes.log_likelihoods(rows)
        evidence = np.exp(evidence - evidence.max(axis=1, keepdims=True))
        out = np.empty_like(evidence)
        p = self._posterior
        for i, e in enumerate(evidence):
            p = e * (_STAY * p + (1.0 - _STAY) * self._prototypes.priors)
            p = p / p.sum()
            out[i] = p
        self._posterior = p
        return out
