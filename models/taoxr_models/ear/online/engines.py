"""Which program decodes: ours, or the ``sherpa_mnn`` module where it is installed and asked for."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import UnavailableError
from taoxr_models.ear.online.endpoint import EndpointRules
from taoxr_models.ear.online.recognizer import OnlineRecognizer, Options
from taoxr_models.ear.online.result import OnlineRecognizerResult


class Stream(Protocol):
    """A stream of audio."""

    def accept_waveform(self, sample_rate: float, waveform: NDArray[np.float32]) -> None:
        """Takes the next samples, [n] in [-1, 1]."""
        ...

    def input_finished(self) -> None:
        """The audio is over."""
        ...


class Recognizer(Protocol):
    """What `OnlineRecognizer` and sherpa-mnn's have in common."""

    def create_stream(self, hotwords: str | None = None) -> Any:
        """A new stream."""
        ...

    def is_ready(self, s: Any) -> bool:
        """Whether `decode_stream` has enough audio."""
        ...

    def decode_stream(self, s: Any) -> None:
        """Decodes one window."""
        ...

    def get_result(self, s: Any) -> str:
        """The text of the utterance so far."""
        ...

    def get_result_all(self, s: Any) -> Any:
        """The same with ``tokens`` and ``timestamps``."""
        ...

    def foresee(self, s: Any) -> OnlineRecognizerResult | None:
        """The utterance if nothing but silence followed; None if the engine cannot tell."""
        ...

    def is_endpoint(self, s: Any) -> bool:
        """Whether the utterance is over."""
        ...


def load_recognizer(folder: Path, engine: str = "mnn") -> Recognizer:
    """The recogniser of a conversation, with endpoint rules.

    Args:
        folder: As for `OnlineRecognizer.from_folder`.
        engine: ``"mnn"``, or ``"sherpa-mnn"`` for the module of that name.

    Raises:
        ModelError: The folder is not that of a streaming zipformer transducer.
        UnavailableError: ``sherpa_mnn`` is not installed.
    """
    if engine == "mnn":
        return OnlineRecognizer.from_folder(folder, Options(endpoint=EndpointRules()))
    files = OnlineRecognizer.files_of(folder)
    return _sherpa_mnn(files)


def _sherpa_mnn(files: Mapping[str, Path]) -> Recognizer:
    try:
        module: Any = importlib.import_module("sherpa_mnn")
    except ImportError as error:
        raise UnavailableError(
            "the module sherpa_mnn is not installed (it is built from MNN's apps/frameworks/sherpa-mnn); "
            'set `engine = "mnn"` in the model\'s catalogue entry to do without'
        ) from error
    paths = {name: str(path) for name, path in files.items()}
    recognizer: Any = module.OnlineRecognizer.from_transducer(
        num_threads=1, enable_endpoint_detection=True, **paths
    )
    recognizer.foresee = _cannot_tell
    return recognizer


def _cannot_tell(s: object) -> None:
    """In place of `OnlineRecognizer.foresee`, which sherpa-mnn lacks."""
