"""A streaming zipformer transducer on MNN: encoder, decoder and joiner."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Module, Variable
from taoxr.engine.probe import Input, ModelInfo, probe
from taoxr.errors import ModelError
from taoxr_models.ear.online.metadata import Metadata, parse, read_sidecar

Floats = NDArray[np.float32]
States = Sequence[Variable]

_PARTS: Final = ("encoder", "decoder", "joiner")


class Transducer:
    """The three networks.

    MNN's Python API gives no metadata and takes ONNX's int64 tensors as int32; both are seen to here. Streams
    do not share calls: with one conversation per process a batch would always be one.

    Args:
        files: ``.mnn`` file of ``encoder``, ``decoder`` and ``joiner``. Each is probed before its first load.
        threads: Threads for one call.

    Raises:
        ModelError: A file is missing, damaged, or not of such a transducer.
    """

    def __init__(self, files: Mapping[str, Path], *, threads: int = 1) -> None:
        found = {part: probe(files[part]) for part in _PARTS}
        where = str(files["encoder"].parent)
        sidecar = read_sidecar(files["encoder"].parent)
        strings = {part: {**found[part].metadata, **sidecar.get(part, {})} for part in _PARTS}
        self.metadata: Metadata = parse(strings["encoder"], strings["decoder"], where)
        self._state_inputs = _checked(found, self.metadata, where)
        self._feature_dim = found["encoder"].inputs[0].shape[2]
        encoder, decoder, joiner = (
            Module(
                files[part],
                [i.name for i in found[part].inputs],
                found[part].outputs,
                memory="low",  # int8 weights run as int8; float ones are not affected
                threads=threads,
            )
            for part in _PARTS
        )
        self._encoder, self._decoder, self._joiner = encoder, decoder, joiner

    @property
    def feature_dim(self) -> int:
        """Mel bins that the encoder takes."""
        return self._feature_dim

    def initial_states(self) -> States:
        """The encoder's states before any audio: zeros."""
        return [
            Variable.of(np.zeros(i.shape, np.int32))
            if i.kind == "int32"
            else Variable.of(np.zeros(i.shape, np.float32))
            for i in self._state_inputs
        ]

    def encode(self, features: Floats, states: States) -> tuple[Floats, States]:
        """Runs the encoder on one window.

        Args:
            features: [window, bins].
            states: From the window before.

        Returns:
            [frames, width], one row per 40 ms, and the next states.
        """
        out, *following = self._encoder.forward(Variable.of(features[None]), *states)
        return out.numpy()[0], following

    def decode(self, tokens: Sequence[Sequence[int]]) -> Floats:
        """Runs the decoder on the last tokens of hypotheses, [n, context] to [n, width]."""
        return self._decoder.run(np.array(tokens, np.int32))[0]

    def join(self, encoded: Floats, decoded: Floats) -> Floats:
        """Scores of all tokens after each hypothesis.

        Args:
            encoded: [width], one frame of the encoder.
            decoded: [n, width].

        Returns:
            Logits [n, vocabulary].
        """
        return self._joiner.run(np.tile(encoded, (len(decoded), 1)), decoded)[0]


def _checked(found: Mapping[str, ModelInfo], metadata: Metadata, where: str) -> Sequence[Input]:
    """The encoder's state inputs, after checking that the parts are what a transducer has."""
    encoder = found["encoder"]
    if len(encoder.inputs) < 2 or len(encoder.inputs) != len(encoder.outputs):
        raise ModelError(
            f"{where}: the encoder has {len(encoder.inputs)} inputs and {len(encoder.outputs)} outputs, "
            "expected features and states in, as many out: it is no streaming model"
        )
    for part, inputs in (("decoder", 1), ("joiner", 2)):
        if len(found[part].inputs) != inputs or len(found[part].outputs) != 1:
            raise ModelError(f"{where}: the {part} does not have {inputs} inputs and one output")
    window = encoder.inputs[0].shape
    if len(window) != 3 or window[1] != metadata.window:
        raise ModelError(
            f"{where}: the encoder takes features {list(window)}, its `T` says {metadata.window}"
        )
    states = encoder.inputs[1:]
    return [Input(i.name, tuple(abs(d) for d in i.shape), i.kind) for i in states]  # -1: any batch, so 1
