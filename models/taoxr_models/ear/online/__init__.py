"""Streaming speech recognition with the transducers of sherpa-mnn and sherpa-onnx, on MNN.

`OnlineRecognizer` has the names and the behaviour of the class of that name in sherpa-onnx's Python package
(https://github.com/k2-fsa/sherpa-onnx, Apache-2.0), for streaming zipformers of the first and second version.
"""

from taoxr_models.ear.online.recognizer import OnlineRecognizer, Options
from taoxr_models.ear.online.result import OnlineRecognizerResult
from taoxr_models.ear.online.stream import OnlineStream

__all__ = ["OnlineRecognizer", "OnlineRecognizerResult", "OnlineStream", "Options"]
