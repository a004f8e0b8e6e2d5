"""The recogniser beside sherpa-onnx on the same transducers: same features, states, tokens and times."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import sherpa_onnx
from tests.models.online.signals import RATE, babble
from tests.models.online.zipformers import make

from taoxr.engine import Variable
from taoxr_models.ear.online import OnlineRecognizer, Options
from taoxr_models.ear.online.features import FeatureOptions, Features
from taoxr_models.ear.online.transducer import Transducer

pytestmark = pytest.mark.parity

PARTS = ("encoder", "decoder", "joiner")
RULES = {
    "enable_endpoint_detection": True,
    "rule1_min_trailing_silence": 1.0,
    "rule2_min_trailing_silence": 0.6,
    "rule3_min_utterance_length": 5.0,
}


@pytest.fixture(scope="module", params=["zipformer", "zipformer2"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp(request.param), request.param)


def build(factory: Callable[..., Any], folder: Path, suffix: str, **options: object) -> Any:
    files = {part: str(folder / f"{part}.{suffix}") for part in PARTS}
    return factory(tokens=str(folder / "tokens.txt"), num_threads=1, **files, **options)


def listen(recognizer: Any, audio: np.ndarray, hotwords: str | None = None) -> tuple[list[Any], list[str]]:
    """Utterances, and the text after each 100 ms."""
    stream = recognizer.create_stream(hotwords) if hotwords else recognizer.create_stream()
    utterances, partials = [], []
    for i in range(0, len(audio), RATE // 10):
        stream.accept_waveform(RATE, audio[i : i + RATE // 10])
        while recognizer.is_ready(stream):
            recognizer.decode_stream(stream)
        partials.append(recognizer.get_result(stream))
        if recognizer.is_endpoint(stream):
            utterances.append(recognizer.get_result_all(stream))
            recognizer.reset(stream)
    stream.input_finished()
    while recognizer.is_ready(stream):
        recognizer.decode_stream(stream)
    return [*utterances, recognizer.get_result_all(stream)], partials


@pytest.mark.parametrize(
    ("options", "stream_hotwords"),
    [
        ({}, None),
        ({"blank_penalty": 1.0, "temperature_scale": 1.5}, None),
        ({"decoding_method": "modified_beam_search"}, None),
        ({"decoding_method": "modified_beam_search", "max_active_paths": 6, "hotwords": True}, "F D/S D"),
    ],
    ids=["greedy", "greedy-penalty", "beam", "beam-hotwords"],
)
def test_hears_what_sherpa_onnx_hears(
    folder: Path, tmp_path: Path, options: dict[str, Any], stream_hotwords: str | None
) -> None:
    options = RULES | options
    if options.pop("hotwords", False):
        options["hotwords_file"] = str(tmp_path / "hotwords.txt")
        (tmp_path / "hotwords.txt").write_text("H G F :3.0\n世 界\nD E\nD E F :2\n", encoding="utf-8")
    audio = babble(18, seed=3, pause=(11, 14))
    theirs = build(sherpa_onnx.OnlineRecognizer.from_transducer, folder, "onnx", **options)
    ours = build(OnlineRecognizer.from_transducer, folder, "mnn", **options)

    expected, expected_partials = listen(theirs, audio, stream_hotwords)
    got, got_partials = listen(ours, audio, stream_hotwords)

    assert got_partials == expected_partials
    assert [r.tokens for r in got] == [r.tokens for r in expected]
    assert [r.text for r in got] == [r.text for r in expected]
    assert [r.segment for r in got] == [r.segment for r in expected]
    for ours_, theirs_ in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours_.timestamps, theirs_.timestamps, atol=1e-5)
        np.testing.assert_allclose(ours_.ys_probs, theirs_.ys_probs, atol=1e-3)
        np.testing.assert_allclose(ours_.context_scores, theirs_.context_scores, atol=1e-5)
        assert ours_.start_time == pytest.approx(theirs_.start_time, abs=1e-5)
    # Else the comparison would mean nothing.
    assert len(got) >= 4
    assert sum(len(r.tokens) for r in got) >= 40
    assert len({t for r in got for t in r.tokens}) >= 3
    assert not stream_hotwords or any(any(r.context_scores) for r in got)


def test_encoder_states_agree_over_50_windows(folder: Path) -> None:
    session = onnxruntime.InferenceSession(folder / "encoder.onnx")
    model = Transducer({part: folder / f"{part}.mnn" for part in PARTS})
    names = [i.name for i in session.get_inputs()]
    theirs = [
        np.zeros(i.shape, np.int64 if "int64" in i.type else np.float32) for i in session.get_inputs()[1:]
    ]
    ours = model.initial_states()
    random = np.random.default_rng(0)
    for _ in range(50):
        window = (random.standard_normal((model.metadata.window, 80)) * 3 - 8).astype(np.float32)
        expected, *theirs = session.run(None, dict(zip(names, [window[None], *theirs], strict=True)))
        got, ours = model.encode(window, ours)
        np.testing.assert_allclose(got, expected[0], atol=1e-4)
        for name, a, b in zip(names[1:], ours, theirs, strict=True):
            np.testing.assert_allclose(_array(a, b), b, atol=1e-4, err_msg=name)
    assert any(np.abs(s).max() > 0.1 for s in theirs)


def _array(state: Variable, like: np.ndarray) -> np.ndarray:
    return state.numpy().reshape(like.shape)


@pytest.mark.parametrize(
    "options", [FeatureOptions(), FeatureOptions(normalize_samples=False, snip_edges=True)]
)
def test_features_agree(folder: Path, options: FeatureOptions) -> None:
    audio = babble(3, seed=1)
    wanted = {"normalize_samples": options.normalize_samples, "snip_edges": options.snip_edges}
    stream = build(sherpa_onnx.OnlineRecognizer.from_transducer, folder, "onnx", **wanted).create_stream()
    features = Features(options)
    for i in range(0, len(audio), 1234):
        stream.accept_waveform(RATE, audio[i : i + 1234])
        features.accept(RATE, audio[i : i + 1234])
    stream.input_finished()
    features.finish()
    assert features.ready == (298 if options.snip_edges else 300)
    got = np.concatenate([features.frames(0, 100), features.frames(100, features.ready - 100)])
    np.testing.assert_array_equal(got.ravel(), np.asarray(stream.get_frames(0, features.ready)).ravel())


def test_streams_do_not_disturb_each_other(folder: Path) -> None:
    recognizer = OnlineRecognizer.from_folder(folder, Options(method="modified_beam_search"))
    first, second = babble(4, seed=5), babble(4, seed=6)
    alone = [listen(recognizer, audio)[0][-1] for audio in (first, second)]
    streams = [recognizer.create_stream(), recognizer.create_stream()]
    for stream, audio in zip(streams, (first, second), strict=True):
        stream.accept_waveform(RATE, audio)
        stream.input_finished()
    while all(recognizer.is_ready(s) for s in streams):
        recognizer.decode_streams(streams)
    assert [recognizer.get_result_all(s) for s in streams] == alone
    assert all(r.tokens for r in alone)
