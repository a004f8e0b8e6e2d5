"""An MNN model with fixed shapes through Interpreter and Session, which release the GIL."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taoxr.engine._mnn import mnn
from taoxr.errors import InvalidInputError, ModelError


class Session:
    """One ``.mnn`` file with fixed shapes. `run` releases the GIL; one thread at a time may call it.

    Args:
        path: The ``.mnn`` file.
        shapes: Shape of each input, by name (float32).
        threads: Threads for one call.

    Raises:
        ModelError: The file is missing, or MNN cannot make a session of it.
    """

    def __init__(self, path: Path, shapes: Mapping[str, tuple[int, ...]], *, threads: int = 1) -> None:
        if not path.is_file():
            raise ModelError(f"model file {path} is missing")
        M = mnn()
        try:
            self._net: Any = M.Interpreter(str(path))
            self._session: Any = self._net.createSession({"backend": "CPU", "numThread": threads})
            inputs: dict[str, Any] = self._net.getSessionInputAll(self._session)
            if set(inputs) != set(shapes):
                raise ModelError(f"{path.name} has inputs {sorted(inputs)}, expected {sorted(shapes)}")
            for name, shape in shapes.items():
                self._net.resizeTensor(inputs[name], shape)
            self._net.resizeSession(self._session)
        except ModelError:
            raise
        except Exception as error:  # MNN raises SystemError, RuntimeError or bare Exception
            raise ModelError(f"MNN cannot make a session of {path}: {error}") from error
        self._inputs: dict[str, Any] = self._net.getSessionInputAll(self._session)
        self._shapes = dict(shapes)

    def run(self, inputs: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
        """Runs the model.

        Args:
            inputs: One float32 array per input, of the shape given at construction.

        Returns:
            A copy of every output, by name.

        Raises:
            InvalidInputError: An input is missing or has a wrong shape.
        """
        M = mnn()
        for name, shape in self._shapes.items():
            array = inputs.get(name)
            if array is None or array.shape != shape:
                raise InvalidInputError(name, None if array is None else array.shape, f"shape {shape}")
            data = np.ascontiguousarray(array, dtype=np.float32)
            host = M.Tensor(shape, M.Halide_Type_Float, data, M.Tensor_DimensionType_Caffe)
            self._inputs[name].copyFrom(host)
        self._net.runSession(self._session)
        outputs: dict[str, Any] = self._net.getSessionOutputAll(self._session)
        return {name: _read(tensor) for name, tensor in outputs.items()}


def _read(tensor: Any) -> NDArray[np.float32]:
    M = mnn()
    shape = tuple(tensor.getShape())
    host = M.Tensor(shape, M.Halide_Type_Float, np.empty(shape, np.float32), M.Tensor_DimensionType_Caffe)
    tensor.copyToHostTensor(host)
    return np.array(host.getNumpyData(), dtype=np.float32, copy=True).reshape(shape)
