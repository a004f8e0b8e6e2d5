"""What a stream has been heard to say."""

import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class OnlineRecognizerResult:
    """The words of the utterance so far; attributes as in sherpa-onnx.

    Attributes:
        text: The text.
        tokens: Its tokens.
        timestamps: Seconds from the utterance's start to each token.
        ys_probs: Log probability of each token.
        lm_probs: Empty: no language model is used.
        context_scores: What hotwords added for each token; empty without any.
        start_time: Seconds from the stream's start to the utterance's.
        segment: Number of the utterance in the stream.
    """

    text: str
    tokens: list[str]
    timestamps: list[float]
    ys_probs: list[float]
    context_scores: list[float]
    start_time: float
    segment: int
    lm_probs: list[float] = field(default_factory=list[float])

    def as_json_string(self) -> str:
        """The attributes as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)
