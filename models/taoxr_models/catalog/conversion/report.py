"""How far a converted model's outputs are from the reference's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import ModelError

Outputs = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One output beside its reference.

    Attributes:
        output: Its name.
        largest: Largest absolute difference.
        rms: Root mean square of the difference.
        reference_rms: That of the reference, to compare with.
        cosine: Of the angle between the two as vectors; 1 where both are zero.
    """

    output: str
    largest: float
    rms: float
    reference_rms: float
    cosine: float


@dataclass(frozen=True, slots=True)
class Report:
    """What a conversion cost.

    Attributes:
        source_bytes: Size of the source.
        target_bytes: Size of the result.
        reference: What the outputs are compared with, such as ``"onnxruntime"``; ``"none"`` where nothing
            could be.
        inputs: Where the inputs came from.
        differences: Per output.
    """

    source_bytes: int
    target_bytes: int
    reference: str
    inputs: str
    differences: tuple[Difference, ...]


def compare(reference: Outputs, got: Outputs) -> tuple[Difference, ...]:
    """Compares outputs by name.

    Raises:
        ModelError: An output is missing, has another size, or holds values that are no finite numbers.
    """
    return tuple(_differences(reference, got))


def _differences(reference: Outputs, got: Outputs) -> Iterable[Difference]:
    for name, expected in reference.items():
        if name not in got:
            raise ModelError(f"the result has no output {name!r}; it has {', '.join(got)}")
        a, b = expected.astype(np.float64).ravel(), got[name].astype(np.float64).ravel()
        if a.size != b.size:
            raise ModelError(f"output {name!r} has shape {got[name].shape}, the reference {expected.shape}")
        if not np.isfinite(b).all() and np.isfinite(a).all():
            raise ModelError(f"output {name!r} holds values that are no finite numbers, the reference none")
        norms = float(np.linalg.norm(a) * np.linalg.norm(b))
        both_zero = not a.any() and not b.any()
        cosine = 1.0 if both_zero else float(a @ b) / norms if norms else 0.0
        yield Difference(
            name,
            float(np.abs(a - b).max(initial=0.0)),
            float(np.sqrt(np.mean((a - b) ** 2))) if a.size else 0.0,
            float(np.sqrt(np.mean(a**2))) if a.size else 0.0,
            cosine,
        )
