"""When an utterance is over: Kaldi's endpoint rules 1 to 3."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from taoxr_models.ear.online.features import FRAME_SHIFT_S

_SHIFT_S: Final = np.float32(FRAME_SHIFT_S)


@dataclass(frozen=True, slots=True)
class EndpointRules:
    """Lengths in seconds; silence is what gave no token.

    Attributes:
        rule1_min_trailing_silence: So much silence ends it, whether anything was said or not.
        rule2_min_trailing_silence: So much silence ends it once something was said.
        rule3_min_utterance_length: It ends after so long in any case.
    """

    rule1_min_trailing_silence: float = 2.4
    rule2_min_trailing_silence: float = 1.2
    rule3_min_utterance_length: float = 20.0

    def reached(self, length: int, trailing_silence: int) -> bool:
        """Whether one of the rules holds.

        Args:
            length: Feature frames decoded since the utterance began.
            trailing_silence: Frames since the last token.
        """
        # In float32 like sherpa-onnx: 60 frames are then not quite 0.6 s.
        seconds, silence = np.float32(length) * _SHIFT_S, np.float32(trailing_silence) * _SHIFT_S
        return bool(
            silence >= np.float32(self.rule1_min_trailing_silence)
            or (length > trailing_silence and silence >= np.float32(self.rule2_min_trailing_silence))
            or seconds >= np.float32(self.rule3_min_utterance_length)
        )
