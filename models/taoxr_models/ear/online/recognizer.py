"""The recogniser: makes streams and decodes them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np

from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.ear.online.beam import BeamSearch
from taoxr_models.ear.online.endpoint import EndpointRules
from taoxr_models.ear.online.features import FRAME_SHIFT_S, SILENCE, FeatureOptions
from taoxr_models.ear.online.hotwords import ContextGraph, Hotword, HotwordEncoder
from taoxr_models.ear.online.result import OnlineRecognizerResult
from taoxr_models.ear.online.search import Found, GreedySearch, Search, SearchOptions
from taoxr_models.ear.online.stream import OnlineStream
from taoxr_models.ear.online.tokens import Tokens
from taoxr_models.ear.online.transducer import Transducer

Method = Literal["greedy_search", "modified_beam_search"]

# Feature frames per encoder frame.
_SUBSAMPLING: Final = 4


@dataclass(frozen=True, slots=True)
class Options:
    """Everything but the model's files; see the parts for the meaning.

    Attributes:
        features: How features are made.
        endpoint: When an utterance is over; None never.
        method: How to search.
        search: Its options.
        hotwords: Phrases to boost, one per line; only with ``modified_beam_search``.
        hotwords_score: Boost per token of phrases that have none of their own.
        modeling_unit: What a token is, to split hotwords.
        bpe_vocab: The pieces with their log probabilities, where the unit has ``bpe`` in it.
        threads: Threads for one call of a network.
    """

    features: FeatureOptions = field(default_factory=FeatureOptions)
    endpoint: EndpointRules | None = None
    method: Method = "greedy_search"
    search: SearchOptions = field(default_factory=SearchOptions)
    hotwords: tuple[str, ...] = ()
    hotwords_score: float = 1.5
    modeling_unit: str = "cjkchar"
    bpe_vocab: Path | None = None
    threads: int = 1


class OnlineRecognizer:
    """Streaming speech recognition; `from_transducer` takes sherpa-onnx's arguments, `from_folder` a folder.

    Args:
        files: ``encoder``, ``decoder``, ``joiner`` (``.mnn``) and ``tokens`` (``.txt``).
        options: How.

    Raises:
        ModelError: A file is missing, damaged or not of a streaming zipformer transducer.
        InvalidInputError: An option is wrong.
    """

    def __init__(self, files: Mapping[str, Path], options: Options = Options()) -> None:
        if options.method not in get_args(Method):
            raise InvalidInputError("decoding_method", options.method, " or ".join(get_args(Method)))
        if options.search.max_active_paths < 1:
            raise InvalidInputError("max_active_paths", options.search.max_active_paths, "1 or more")
        if options.hotwords and options.method != "modified_beam_search":
            raise InvalidInputError("hotwords", options.hotwords, "modified_beam_search as decoding_method")
        self._options = options
        self._model = Transducer(files, threads=options.threads)
        self._tokens = Tokens(files["tokens"])
        size = self._model.metadata.vocab_size
        if len(self._tokens) < size:
            raise ModelError(f"{files['tokens']} has {len(self._tokens)} tokens, the model {size}")
        if self._model.feature_dim != options.features.feature_dim:
            raise InvalidInputError("feature_dim", options.features.feature_dim, f"{self._model.feature_dim}")
        self._encoder = HotwordEncoder(self._tokens, options.modeling_unit, _pieces(options.bpe_vocab))
        self._hotwords = self._encoder.encode(options.hotwords, options.hotwords_score)
        self._graph = ContextGraph(self._hotwords) if self._hotwords else None

    @classmethod
    def from_folder(cls, folder: Path, options: Options = Options()) -> "OnlineRecognizer":
        """A recogniser from a folder as sherpa-mnn publishes them.

        Args:
            folder: Holds one ``encoder*.mnn``, ``decoder*.mnn``, ``joiner*.mnn`` and ``tokens.txt``.
            options: How.

        Raises:
            ModelError: A file is missing, damaged or not of such a model, or there are two of a kind.
            InvalidInputError: An option is wrong.
        """
        return cls(cls.files_of(folder), options)

    @staticmethod
    def files_of(folder: Path) -> dict[str, Path]:
        """The files in a folder by the names that the constructor takes.

        Raises:
            ModelError: One is missing, or there are two of a kind.
        """
        files = {"tokens": folder / "tokens.txt"}
        for part in ("encoder", "decoder", "joiner"):
            found = sorted(folder.glob(f"{part}*.mnn"))
            if len(found) != 1:
                names = ", ".join(f.name for f in found) or "none"
                raise ModelError(f"{folder} must hold one {part}*.mnn, there is: {names}")
            files[part] = found[0]
        return files

    @classmethod
    def from_transducer(
        cls,
        tokens: str,
        encoder: str,
        decoder: str,
        joiner: str,
        num_threads: int = 1,
        sample_rate: float = 16000,
        feature_dim: int = 80,
        low_freq: float = 20.0,
        high_freq: float = -400.0,
        dither: float = 0.0,
        normalize_samples: bool = True,
        snip_edges: bool = False,
        enable_endpoint_detection: bool = False,
        rule1_min_trailing_silence: float = 2.4,
        rule2_min_trailing_silence: float = 1.2,
        rule3_min_utterance_length: float = 20.0,
        decoding_method: Method = "greedy_search",
        max_active_paths: int = 4,
        hotwords_score: float = 1.5,
        blank_penalty: float = 0.0,
        hotwords_file: str = "",
        modeling_unit: str = "cjkchar",
        bpe_vocab: str = "",
        temperature_scale: float = 2.0,
    ) -> "OnlineRecognizer":
        """A recogniser with the arguments of sherpa-onnx's method of that name, but no language model.

        ``num_threads`` is 1 by default, for MNN's threads spin (see `taoxr.engine.Module`).
        """
        files = {"tokens": tokens, "encoder": encoder, "decoder": decoder, "joiner": joiner}
        rules = EndpointRules(
            rule1_min_trailing_silence, rule2_min_trailing_silence, rule3_min_utterance_length
        )
        hotwords: tuple[str, ...] = ()
        if hotwords_file:
            if not Path(hotwords_file).is_file():
                raise InvalidInputError("hotwords_file", hotwords_file, "a file")
            hotwords = tuple(Path(hotwords_file).read_text(encoding="utf-8").splitlines())
        options = Options(
            FeatureOptions(
                sample_rate, feature_dim, low_freq, high_freq, dither, normalize_samples, snip_edges
            ),
            rules if enable_endpoint_detection else None,
            decoding_method,
            SearchOptions(max_active_paths, blank_penalty, temperature_scale),
            hotwords,
            hotwords_score,
            modeling_unit,
            Path(bpe_vocab) if bpe_vocab else None,
            num_threads,
        )
        return cls({name: Path(path) for name, path in files.items()}, options)

    def create_stream(self, hotwords: str | None = None) -> OnlineStream:
        """A new stream.

        Args:
            hotwords: Phrases for this stream beside the recogniser's, apart by ``/``.

        Raises:
            InvalidInputError: Hotwords with greedy search, or with tokens that the model lacks.
        """
        graph = self._graph
        if hotwords:
            if self._options.method != "modified_beam_search":
                raise InvalidInputError("hotwords", hotwords, "modified_beam_search as decoding_method")
            own = self._encoder.encode(hotwords.split("/"), self._options.hotwords_score)
            graph = ContextGraph([*own, *self._hotwords])
        return OnlineStream(self._options.features, self._search(graph), self._model.initial_states())

    def is_ready(self, s: OnlineStream) -> bool:
        """Whether `decode_stream` has enough audio."""
        return s.processed + self._model.metadata.window < s.frames_ready

    def decode_stream(self, s: OnlineStream) -> None:
        """Decodes one window; only when `is_ready`.

        Raises:
            InvalidInputError: The stream is not ready.
        """
        if not self.is_ready(s):
            raise InvalidInputError("stream", f"{s.frames_ready - s.processed} frames", "one that is_ready")
        window = s.window(self._model.metadata.window)
        s.processed += self._model.metadata.shift
        encoded, s.states = self._model.encode(window, s.states)
        s.search.push(encoded)

    def decode_streams(self, ss: Iterable[OnlineStream]) -> None:
        """Decodes one window of each stream."""
        for s in ss:
            self.decode_stream(s)

    def get_result(self, s: OnlineStream) -> str:
        """The text of the utterance so far."""
        return self.get_result_all(s).text.rstrip()

    def get_result_all(self, s: OnlineStream) -> OnlineRecognizerResult:
        """The utterance so far with its tokens and times."""
        return self._result(s, s.search.found)

    def foresee(self, s: OnlineStream) -> OnlineRecognizerResult:
        """The utterance if nothing but silence followed; the stream stays as it is.

        Not in sherpa-onnx. A text is 0.3 to 0.8 s late: the encoder takes windows with look-ahead.
        """
        size, shift = self._model.metadata.window, self._model.metadata.shift
        rest = s.rest()
        windows = -(-len(rest) // shift)
        padded = np.full((windows * shift + size, rest.shape[1]), SILENCE, np.float32)
        padded[: len(rest)] = rest
        search, states = s.search.copy(), s.states
        for i in range(windows):
            encoded, states = self._model.encode(padded[i * shift : i * shift + size], states)
            search.push(encoded)
        return self._result(s, search.found)

    def _result(self, s: OnlineStream, found: Found) -> OnlineRecognizerResult:
        return OnlineRecognizerResult(
            text=self._tokens.text(found.tokens).lstrip(),
            tokens=self._tokens.names(found.tokens),
            timestamps=[f * _SUBSAMPLING * FRAME_SHIFT_S for f in found.frames],
            ys_probs=list(found.log_probs),
            context_scores=list(found.context_scores),
            start_time=s.start * FRAME_SHIFT_S,
            segment=s.segment,
        )

    def is_endpoint(self, s: OnlineStream) -> bool:
        """Whether the utterance is over; always false without endpoint detection."""
        if self._options.endpoint is None:
            return False
        return self._options.endpoint.reached(s.processed, s.search.found.trailing_blanks * _SUBSAMPLING)

    def reset(self, s: OnlineStream) -> None:
        """Begins the stream's next utterance: the encoder and the last tokens go on, the text is empty."""
        if s.search.reset():
            s.segment += 1
        s.start += s.processed
        s.processed = 0

    def _search(self, graph: ContextGraph | None) -> Search:
        if self._options.method == "greedy_search":
            return GreedySearch(self._model, self._tokens.unknown, self._options.search)
        return BeamSearch(self._model, self._tokens.unknown, self._options.search, graph)


def _pieces(path: Path | None) -> dict[str, float] | None:
    """Reads ``piece<TAB>log probability`` lines, as sentencepiece writes its vocabulary."""
    if path is None:
        return None
    if not path.is_file():
        raise InvalidInputError("bpe_vocab", str(path), "a file")
    pieces: dict[str, float] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        try:
            piece, score = fields
            pieces[piece] = float(score)
        except ValueError as error:
            raise InvalidInputError(
                "bpe_vocab", f"{path}:{number}: {line!r}", "a piece and its log probability"
            ) from error
    return pieces


__all__ = ["Hotword", "Method", "OnlineRecognizer", "Options"]
