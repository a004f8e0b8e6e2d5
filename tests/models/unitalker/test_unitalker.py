"""UniTalker's adapter on a small network of its interface: rows, seams, times, jaw, FLAME to ARKit."""

from pathlib import Path

import numpy as np
import pytest
from tests.models.online.signals import babble
from tests.models.unitalker.small_model import make

from taoxr.arkit import INDEX
from taoxr.errors import ModelError
from taoxr_models.a2bs import flame
from taoxr_models.a2bs.animate import frame_times
from taoxr_models.a2bs.unitalker import Face, UniTalker, UniTalkerAnimator, animate_clause, whole

pytestmark = pytest.mark.models

RATE = 16_000


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> UniTalker:
    return UniTalker(make(tmp_path_factory.mktemp("unitalker")))


@pytest.fixture(scope="module")
def audio() -> np.ndarray:
    return babble(14, seed=2)


def pcm(audio: np.ndarray) -> np.ndarray:
    return (audio * 32767).astype(np.int16)


def test_one_window_is_what_the_network_gives(model: UniTalker, audio: np.ndarray) -> None:
    ten = audio[: 10 * RATE]
    rows = model.rows(ten)
    scaled = (ten - ten.mean()) / np.sqrt(ten.var() + 1e-7)
    raw = model._network.run(scaled[None])[0]
    assert raw.shape == (249, 53)
    assert rows.shape == (250, 53)
    np.testing.assert_array_equal(rows[:249], raw)
    np.testing.assert_array_equal(rows[249], raw[248])
    # A window's loudness does not matter: it is normalised.
    np.testing.assert_allclose(model.rows(ten * 0.3), rows, atol=1e-3)


def test_windows_join_without_a_seam(model: UniTalker, audio: np.ndarray) -> None:
    # A loud sound in the first window only: the two windows are normalised differently.
    loud = audio * np.where(np.arange(len(audio)) < 2 * RATE, 1.0, 0.05).astype(np.float32)
    rows = whole(model, loud)
    assert rows.shape == (14 * 25, 53)
    chunks = np.concatenate([model.rows(loud[i : i + 5 * RATE]) for i in range(0, len(loud), 5 * RATE)])

    def step(rows: np.ndarray, at: int) -> float:
        return float(np.abs(rows[at] - rows[at - 1]).max())

    assert step(chunks, 125) > 1.5 * max(step(chunks, 124), step(chunks, 126))
    assert max(step(rows, i) for i in range(104, 127)) < 0.8 * step(chunks, 125)


def test_a_short_clause_is_one_window(model: UniTalker, audio: np.ndarray) -> None:
    short = audio[: 3 * RATE]
    np.testing.assert_array_equal(whole(model, short), model.rows(short))


@pytest.mark.parametrize("samples", [1, 100, 639, 641, 5000])
def test_any_length_gives_rows_for_all_of_it(model: UniTalker, audio: np.ndarray, samples: int) -> None:
    rows = whole(model, audio[:samples])
    assert rows.shape == (-(-samples // 640), 53)
    assert np.isfinite(rows).all()


def test_silence_keeps_the_face_at_rest(model: UniTalker) -> None:
    assert not model.rows(np.zeros(RATE, np.float32)).any()


@pytest.mark.parametrize("frame_rate", [25.0, 30.0, 60.0])
def test_clauses_have_times_of_their_own(model: UniTalker, audio: np.ndarray, frame_rate: float) -> None:
    """Frames of clauses of odd lengths make one even track; each clause's face fits its own sound."""
    face, offset, times = Face(None), 0, []
    for n in (9001, 12345, 7777, 20011, 8123):
        track = animate_clause(
            model, face, pcm(audio[:n]), RATE, frame_rate=frame_rate, clock_offset_us=offset
        )
        times += track.times_us.tolist()
        rows = whole(model, pcm(audio[:n]).astype(np.float32) / 32768)
        middle = (track.times_us > offset + 100_000) & (
            track.times_us < offset + n * 1_000_000 // RATE - 130_000
        )
        at = (track.times_us[middle] - offset) * 25e-6
        np.testing.assert_allclose(track.weights[middle], flame.between(rows, at), atol=1e-5)
        assert np.abs(track.weights[[0, -1]]).max() < 0.75 * np.abs(track.weights).max()
        offset += n * 1_000_000 // RATE
    assert times == frame_times(0, offset, frame_rate).tolist()


def test_live_frames_follow_the_whole_clause(model: UniTalker, audio: np.ndarray) -> None:
    clip = pcm(audio[: 6 * RATE + 333])
    tracks = {}
    for chunk in (777, 16_000):
        animator = UniTalkerAnimator(model, Face(None), RATE, 30.0)
        parts = [animator.push(clip[i : i + chunk]) for i in range(0, len(clip), chunk)]
        heard = np.concatenate([p.times_us for p in parts])
        assert np.all(np.diff(heard) > 0)
        parts.append(animator.finish())
        tracks[chunk] = (
            np.concatenate([p.times_us for p in parts]),
            np.concatenate([p.weights for p in parts]),
        )
    times, weights = tracks[777]
    np.testing.assert_array_equal(times, frame_times(0, len(clip) * 1_000_000 // RATE, 30.0))
    np.testing.assert_array_equal(times, tracks[16_000][0])
    np.testing.assert_allclose(weights, tracks[16_000][1], atol=1e-6)
    # The same face as with all the sound known; normalised over less of it.
    expected = flame.between(whole(model, clip.astype(np.float32) / 32768), times * 25e-6)
    jaw = np.corrcoef(weights[10:, 50], expected[10:, 50])[0, 1]
    assert jaw > 0.9
    assert np.abs(np.diff(weights, axis=0)).max() < 1.5 * np.abs(np.diff(expected, axis=0)).max()


def test_live_frames_come_within_the_look_ahead(model: UniTalker, audio: np.ndarray) -> None:
    animator = UniTalkerAnimator(model, Face(None), RATE, 30.0)
    told = 0
    for i in range(0, 5 * RATE, 1600):
        track = animator.push(pcm(audio[i : i + 1600]))
        told = int(track.times_us[-1]) if len(track.times_us) else told
        assert (i + 1600) / RATE - told * 1e-6 <= 1.0 + 0.04 + 0.1 + 1 / 30


def test_an_empty_clip_has_no_frames(model: UniTalker) -> None:
    animator = UniTalkerAnimator(model, Face(None), RATE, 30.0)
    assert len(animator.push(np.zeros(0, np.int16)).times_us) == 0
    assert len(animator.finish().times_us) == 0
    assert len(animate_clause(model, Face(None), np.zeros(0, np.int16), RATE, frame_rate=30.0).times_us) == 0


def test_the_jaw_maps_to_arkit_exactly() -> None:
    half, full = flame.JAW_OPEN_RAD / 2, flame.JAW_OPEN_RAD
    jaw = np.array([[0, 0, 0], [half, 0, 0], [full, 0, 0], [2 * full, 0, 0], [-half, 0, 0], [0, 0, 0.3]])
    weights = flame.jaw_weights(jaw)
    np.testing.assert_allclose(weights["jawOpen"], [0, 0.5, 1, 1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(weights["jawLeft"], 0, atol=1e-12)
    aside = flame.jaw_weights(np.array([[0, flame.JAW_ASIDE_RAD / 2, 0], [0, -flame.JAW_ASIDE_RAD, 0]]))
    np.testing.assert_allclose(aside["jawLeft"], [0.5, 0], atol=1e-12)
    np.testing.assert_allclose(aside["jawRight"], [0, 1], atol=1e-12)
    np.testing.assert_allclose(aside["jawOpen"], 0, atol=1e-12)


def test_the_jaw_turns_evenly_between_rows() -> None:
    rows = np.zeros((2, 53), np.float32)
    rows[0, 50:], rows[1, 50:] = (0.1, 0, 0), (1.5, 0, 0)
    rows[1, 0] = 2.0
    middle = flame.between(rows, np.array([-1.0, 0.25, 0.5, 1.0, 7.0]))
    np.testing.assert_allclose(middle[:, 50], [0.1, 0.45, 0.8, 1.5, 1.5], atol=1e-6)
    np.testing.assert_allclose(middle[:, 0], [0, 0.5, 1, 2, 2], atol=1e-6)
    # About two axes: half of the way is as far from either end.
    rows[0, 50:], rows[1, 50:] = (1.2, 0, 0), (0, 1.2, 0)
    (half,) = flame._quaternions(flame.between(rows, np.array([0.5]))[:, 50:])
    first, second = flame._quaternions(rows[:, 50:])
    assert half @ first == pytest.approx(half @ second, abs=1e-6)
    assert np.linalg.norm(half) == pytest.approx(1.0)


def test_expressions_map_by_the_users_matrix(tmp_path: Path) -> None:
    matrix = np.zeros((51, 52))
    matrix[3, INDEX["mouthPucker"]] = 0.5
    matrix[3, INDEX["jawOpen"]] = 9.0  # not used: the jaw's rotation counts
    matrix[50, INDEX["browInnerUp"]] = 0.1
    np.save(tmp_path / "arkit52.npy", matrix)
    to_arkit = flame.ToArkit.load(tmp_path / "arkit52.npy")
    row = np.zeros((1, 53), np.float32)
    row[0, 3], row[0, 50] = 1.2, flame.JAW_OPEN_RAD / 4
    (weights,) = to_arkit(row)
    assert weights[INDEX["mouthPucker"]] == pytest.approx(0.6)
    assert weights[INDEX["browInnerUp"]] == pytest.approx(0.1)
    assert weights[INDEX["jawOpen"]] == pytest.approx(0.25)
    assert np.count_nonzero(weights) == 3


def test_a_missing_or_wrong_matrix_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "arkit52.npy"
    with pytest.raises(ModelError, match=r"arkit52\.npy is missing: avatars that take arkit52 need a matrix"):
        flame.ToArkit.load(path)
    path.write_bytes(b"text")
    with pytest.raises(ModelError, match="is no numpy array"):
        flame.ToArkit.load(path)
    np.save(path, np.zeros((50, 51)))
    with pytest.raises(ModelError, match=r"shape \(50, 51\), expected \(50, 52\)"):
        flame.ToArkit.load(path)
    np.save(path, np.full((50, 52), np.nan))
    with pytest.raises(ModelError, match="no finite numbers"):
        flame.ToArkit.load(path)


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    from tests.models.online.zipformers import write_joiner

    from taoxr.engine import convert_onnx

    write_joiner(tmp_path / "joiner.onnx", 1, 0.0)
    convert_onnx(tmp_path / "joiner.onnx", tmp_path / "audio2verts.mnn")
    with pytest.raises(ModelError, match=r"has the inputs .*expected one, float32 audio"):
        UniTalker(tmp_path)
    with pytest.raises(ModelError, match="is missing"):
        UniTalker(tmp_path / "nowhere")
