"""The window that Whisper hears: few places stand for much silence, and nothing else changes."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from taoxr_models.catalog import default_model, verified
from taoxr_models.ear.decoder import Cross
from taoxr_models.ear.whisper import Whisper
from taoxr_models.ear.window import COARSE, FINER, PLACES, WHOLE, Pieces, Window, positions

pytestmark = pytest.mark.models

WIDTH = 384


def audio(seconds: float) -> NDArray[np.float32]:
    t = np.arange(round(seconds * 16000)) / 16000
    return (0.3 * np.sin(2 * np.pi * (200 + 300 * np.sin(6 * t)) * t)).astype(np.float32)


@pytest.mark.parametrize("seconds", [0.01, 0.5, 2.99, 14.0, 25.0])
@pytest.mark.parametrize(("pieces", "most"), [(COARSE, 140), (FINER, 240), (WHOLE, PLACES)])
def test_the_places_stand_for_the_whole_window(seconds: float, pieces: Pieces, most: int) -> None:
    samples = audio(seconds)
    window = Window.of(samples, WIDTH, pieces)
    counts = np.exp(window.log_count.numpy())
    speech = -(-len(samples) // 320)
    np.testing.assert_allclose(counts[:speech], 1.0)
    np.testing.assert_allclose(counts.sum(), PLACES, rtol=1e-5)
    assert len(counts) < speech + most
    # Each piece of silence lies at the mean of its positions.
    table, position = positions(WIDTH), window.position.numpy()
    np.testing.assert_array_equal(position[:speech], table[:speech])
    edges = speech + np.concatenate([[0], np.cumsum(np.rint(counts[speech:]))]).astype(int)
    means = [table[a:b].mean(axis=0) for a, b in pairwise(edges)]
    np.testing.assert_allclose(position[speech:], means, atol=1e-5)
    source = np.array(window.source.raw.read())
    assert source.max() < window.mel.numpy().shape[2] // 2
    np.testing.assert_array_equal(source[:speech], np.arange(speech))


def test_a_place_that_counts_twice_is_two() -> None:
    """With equal places in its stead nothing changes: the counts mean what they say."""
    whisper = Whisper(verified(default_model("asr")))
    rng = np.random.default_rng(0)
    mel = rng.normal(0, 0.3, (80, 200)).astype(np.float32)
    plain = Window.whole(mel, WIDTH)
    twice = np.concatenate([np.arange(100), [40]]).astype(np.int32)
    position = positions(WIDTH)[:100]
    once_counted = np.zeros(100, np.float32)
    once_counted[40] = np.log(2)

    def encoded(
        source: NDArray[np.int32], place: NDArray[np.float32], log_count: NDArray[np.float32]
    ) -> Cross:
        of = type(plain.mel).of
        steps = whisper.encode(Window(plain.mel, of(source), of(place), of(log_count)))
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value

    counted = encoded(twice[:100], position, once_counted)
    doubled = encoded(twice, position[twice], np.zeros(101, np.float32))
    alone = encoded(twice[:100], position, np.zeros(100, np.float32))
    for a, b, c in zip(counted[:2], doubled[:2], alone[:2], strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy()[:, :, :100], atol=2e-4)
        assert np.abs(a.numpy() - c.numpy()).max() > 1e-2
