"""Properties of the sampler."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.llm.sampling import Sampler, Sampling

pytestmark = pytest.mark.unit

SIZE = 50
LOGITS = hnp.arrays(np.float32, SIZE, elements=st.floats(-40, 40, width=32))
TEMPERATURES = st.floats(0.05, 3.0)


@given(LOGITS)
def test_greedy_takes_the_likeliest(logits: NDArray[np.float32]) -> None:
    assert Sampler(Sampling(temperature=0)).pick(logits) == int(np.argmax(logits))


@given(LOGITS, TEMPERATURES, st.integers(1, SIZE), st.integers(-(2**63), 2**63 - 1))
def test_top_k(logits: NDArray[np.float32], temperature: float, k: int, seed: int) -> None:
    token = Sampler(Sampling(temperature=temperature, top_k=k, top_p=1.0, seed=seed)).pick(logits)
    assert np.sum(logits > logits[token]) < k


@given(LOGITS, TEMPERATURES, st.floats(0.05, 1.0), st.integers(0, 1000))
def test_top_p(logits: NDArray[np.float32], temperature: float, p: float, seed: int) -> None:
    token = Sampler(Sampling(temperature=temperature, top_k=SIZE, top_p=p, seed=seed)).pick(logits)
    weights = np.exp((logits.astype(np.float64) - logits.max()) / temperature)
    # What is likelier than the token drawn does not fill the nucleus alone.
    assert weights[logits > logits[token]].sum() / weights.sum() < p + 1e-9


@given(LOGITS, st.integers(0, 2**40))
def test_the_seed_decides(logits: NDArray[np.float32], seed: int) -> None:
    options = Sampling(temperature=1.0, seed=seed)
    a, b = Sampler(options), Sampler(options)
    assert [a.pick(logits) for _ in range(20)] == [b.pick(logits) for _ in range(20)]


@given(LOGITS, st.sets(st.integers(0, SIZE - 1), max_size=SIZE - 1), st.integers(0, 100))
def test_banned_tokens_are_never_drawn(logits: NDArray[np.float32], banned: set[int], seed: int) -> None:
    for temperature in (0.0, 1.5):
        options = Sampling(temperature=temperature, top_k=SIZE, top_p=1.0, seed=seed)
        sampler = Sampler(options, sorted(banned))
        assert not banned & {sampler.pick(logits) for _ in range(10)}


@given(LOGITS)
def test_the_logits_are_left_alone(logits: NDArray[np.float32]) -> None:
    before = logits.copy()
    sampler = Sampler(Sampling(temperature=1.0), [3])
    for _ in range(5):
        sampler.pick(logits)
    assert np.array_equal(logits, before)


def test_frequencies_follow_the_probabilities() -> None:
    probabilities = np.array([0.5, 0.3, 0.15, 0.05])
    options = Sampling(temperature=1.0, top_k=4, top_p=1.0, repetition_penalty=1.0, seed=1)
    sampler = Sampler(options)
    logits = np.log(probabilities).astype(np.float32)
    counts = np.bincount([sampler.pick(logits) for _ in range(4000)], minlength=4) / 4000
    assert np.abs(counts - probabilities).max() < 0.025  # 3 sigma of the largest


def test_the_penalty_breaks_a_loop() -> None:
    logits = np.array([1.0, 1.05, -1.0], dtype=np.float32)
    sampler = Sampler(Sampling(temperature=0.0, repetition_penalty=1.1))
    assert [sampler.pick(logits) for _ in range(2)] == [1, 0]
    plain = Sampler(Sampling(temperature=0.0, repetition_penalty=1.0))
    assert [plain.pick(logits) for _ in range(2)] == [1, 1]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_logits_that_are_not_finite(bad: float) -> None:
    logits = np.zeros(8, dtype=np.float32)
    logits[3] = bad
    with pytest.raises(ModelError):
        Sampler(Sampling()).pick(logits)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", -0.1),
        ("temperature", float("nan")),
        ("top_k", 0),
        ("top_k", -1),
        ("top_p", 0.0),
        ("top_p", 1.5),
        ("repetition_penalty", 0.0),
        ("repetition_penalty", float("inf")),
    ],
)
def test_options_out_of_range(field: str, value: float) -> None:
    with pytest.raises(InvalidInputError, match=field):
        Sampling(**{field: value})


def test_earlier_answers_are_not_given_again() -> None:
    # A model that wants to say 1 2 3 4 5 6 7 8 whatever was said before, and 9 a little less.
    def wanted(at: int) -> NDArray[np.float32]:
        logits = np.full(12, -9.0, dtype=np.float32)
        logits[at + 1], logits[9] = 5.0, 4.5
        return logits

    def say(*earlier: list[int], penalty: float = 1.01) -> list[int]:
        sampler = Sampler(Sampling(repetition_penalty=penalty), earlier=earlier)
        return [sampler.pick(wanted(at)) for at in range(8)]

    assert say() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert say([1, 2, 3, 4, 5, 6, 7, 8])[0] == 9  # another opening
    assert say([7, 1, 2, 3, 4, 5, 6, 7, 8])[:5] == [1, 2, 3, 4, 9]  # four equal tokens are a coincidence
    assert say([1, 2, 3, 4, 5, 6, 7, 8], penalty=1.0) == [1, 2, 3, 4, 5, 6, 7, 8]
