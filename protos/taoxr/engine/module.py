"""An MNN model through the expression API."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from taoxr.engine._mnn import mnn
from taoxr.errors import ModelError

Precision = Literal["normal", "high", "low"]
Memory = Literal["normal", "high", "low"]
Array = NDArray[np.float32] | NDArray[np.int32]

# The wheel ignores strings for this key without a word; integers work (MNN 3.6.1).
_MEMORY: Final[dict[Memory, int]] = {"normal": 0, "high": 1, "low": 2}


class Variable:
    """A tensor inside MNN, to hand from one call to the next without a copy."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @classmethod
    def of(cls, array: Array) -> "Variable":
        """Copies a float32 or int32 array into MNN."""
        F = mnn().expr
        if array.dtype == np.float32:
            kind = F.float
        elif array.dtype == np.int32:
            kind = F.int
        else:
            raise ModelError(f"MNN takes float32 or int32, not {array.dtype}")
        # Zero-length tensors crash some kernels.
        if array.size == 0:
            raise ModelError(f"MNN does not take empty tensors, shape {array.shape}")
        return cls(F.const(np.ascontiguousarray(array), list(array.shape), F.NCHW, kind))

    @property
    def raw(self) -> Any:
        """The ``MNN.expr.Var``."""
        return self._raw

    def numpy(self) -> NDArray[np.float32]:
        """A copy: the view that MNN returns dangles once the variable dies."""
        return np.array(self._raw.read(), copy=True)


class Module:
    """One ``.mnn`` file on the CPU with one thread by default.

    A call holds the GIL. Two threads that share the cores with other work make MNN's spinning
    thread pool tens of times slower, hence the default.

    Args:
        path: The ``.mnn`` file. Verify its sha256 first: MNN crashes on some damaged files.
        inputs: Input names in the order of the arguments of `run`.
        outputs: Output names in the order of its results.
        precision: MNN's precision mode.
        memory: ``"low"`` runs int8-weight linears in int8.
        threads: Threads for one call.

    Raises:
        ModelError: The file is missing or MNN cannot load it.
    """

    def __init__(
        self,
        path: Path,
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        precision: Precision = "normal",
        memory: Memory = "normal",
        threads: int = 1,
    ) -> None:
        if not path.is_file():
            raise ModelError(f"model file {path} is missing")
        config = {"backend": "CPU", "precision": precision, "memory": _MEMORY[memory], "numThread": threads}
        self._path = path
        self._outputs = len(outputs)
        try:
            self._runtime = mnn().nn.create_runtime_manager((config,))
            self._module = mnn().nn.load_module_from_file(
                str(path), list(inputs), list(outputs), runtime_manager=self._runtime
            )
        except Exception as error:  # MNN raises SystemError, RuntimeError or bare Exception
            raise ModelError(f"MNN cannot load {path}: {error}") from error

    def forward(self, *inputs: Variable) -> list[Variable]:
        """Runs the model on variables and returns variables.

        Raises:
            ModelError: MNN returned fewer outputs than named, which is how it reports wrong shapes.
        """
        results = self._module.forward([v.raw for v in inputs])
        if len(results) != self._outputs:
            raise ModelError(f"{self._path.name}: MNN refused the input shapes")
        return [Variable(r) for r in results]

    def run(self, *inputs: Array) -> list[NDArray[np.float32]]:
        """Runs the model on arrays and returns copies of its outputs."""
        return [v.numpy() for v in self.forward(*(Variable.of(a) for a in inputs))]
