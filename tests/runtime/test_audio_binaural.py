"""The avatar's voice at two ears: delays, levels, distance, moving heads; measured in what is rendered."""

import math
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from taoxr_runtime.audio import FileSink, Listener
from taoxr_runtime.audio import binaural_reference as twin
from taoxr_runtime.audio.binaural import KNEE, Binaural
from taoxr_runtime.audio.ears import HEAD_RADIUS_M, NEAR_M, SHADOW_HZ, SOUND_MS

pytestmark = pytest.mark.parity

RATE = 48_000
BLOCK = 480
ITD_TOLERANCE_S = 12e-6
"""What a listener just notices straight ahead is about 10 µs; a sample lasts 21 µs."""
ILD_TOLERANCE_DB = 0.3
TWIN_TOLERANCE = 1.0
"""In steps of int16: rounding is half of one."""

Mouth = tuple[float, float, float]


def at(azimuth: float, distance: float = 1.0, elevation: float = 0.0) -> Mouth:
    """A place in the head frame; degrees to the right, metres, degrees up."""
    a, e = math.radians(azimuth), math.radians(elevation)
    return (
        distance * math.sin(a) * math.cos(e),
        distance * math.sin(e),
        -distance * math.cos(a) * math.cos(e),
    )


def render(sound: NDArray[np.int16], mouths: list[Mouth], rate: int = RATE) -> NDArray[np.int16]:
    """Both ears' sound, in blocks of 10 ms; the last place stays."""
    listener = Listener(np.zeros(3))
    listener.mouth = mouths[0]
    ears = Binaural(rate, listener)
    out: list[NDArray[np.int16]] = []
    for k, start in enumerate(range(0, len(sound), rate // 100)):
        listener.mouth = mouths[min(k, len(mouths) - 1)]
        out.append(ears.render(sound[start : start + rate // 100]))
    return np.concatenate(out)


def noise(seconds: float = 1.0, seed: int = 0, loud: float = 3000) -> NDArray[np.int16]:
    return (
        np.random.default_rng(seed).normal(0, loud, round(seconds * RATE)).clip(-9000, 9000).astype(np.int16)
    )


def tone(hz: float, seconds: float = 1.0, loud: float = 8000) -> NDArray[np.int16]:
    return (loud * np.sin(2 * np.pi * hz * np.arange(round(seconds * RATE)) / RATE)).astype(np.int16)


def transfer(mouth: Mouth) -> tuple[NDArray[np.float64], NDArray[np.complex128]]:
    """Frequencies, and the response of both ears there, [F, 2], by one impulse."""
    click = np.zeros(RATE // 10, np.int16)
    click[BLOCK] = 10_000
    spectrum = np.fft.rfft(render(click, [mouth])[BLOCK:] / 10_000, axis=0)
    return np.fft.rfftfreq(len(click) - BLOCK, 1 / RATE), spectrum


def db(ratio: float) -> float:
    return 20 * math.log10(abs(ratio))


def level(sound: NDArray[np.int16]) -> float:
    """Root mean square, decibels against full scale."""
    return db(float(np.sqrt(np.mean(np.square(sound[RATE // 10 :] / 32_767)))))


def woodworth_s(lateral: float) -> float:
    """How much sooner the right ear hears a source so many radians to the right."""
    return HEAD_RADIUS_M / SOUND_MS * (lateral + math.sin(lateral))


AZIMUTHS = [*range(-90, 91, 15), 120, 150, 180, -120, -150]


@pytest.mark.parametrize("azimuth", AZIMUTHS)
def test_the_ear_farther_away_hears_later_as_woodworth_says(azimuth: int) -> None:
    hz, response = transfer(at(azimuth))
    # Above the shadow's corner, where its filter adds no delay of its own that counts.
    band = (hz > 6000) & (hz < 10_000)
    phase = np.unwrap(np.angle(response[band, 0] / response[band, 1]))
    measured = -np.polyfit(2 * np.pi * hz[band], phase, 1)[0]
    lateral = math.asin(math.sin(math.radians(azimuth)))  # behind as before: the cone of confusion
    assert measured == pytest.approx(woodworth_s(lateral), abs=ITD_TOLERANCE_S)


@pytest.mark.parametrize("azimuth", AZIMUTHS)
def test_the_ear_in_the_shadow_hears_less_treble_as_brown_and_duda_say(azimuth: int) -> None:
    hz, response = transfer(at(azimuth))
    for wanted in (200.0, 1000.0, 4000.0, 8000.0):
        i = int(np.argmin(np.abs(hz - wanted)))
        # Frequencies as the bilinear transform bends them.
        s = 1j * math.tan(math.pi * hz[i] / RATE) / math.tan(math.pi * SHADOW_HZ / RATE)
        left, right = (
            (1 + alpha(math.degrees(math.acos(side * math.sin(math.radians(azimuth))))) * s) / (1 + s)
            for side in (-1, 1)
        )
        measured = db(abs(response[i, 1]) / abs(response[i, 0]))
        assert measured == pytest.approx(db(abs(right) / abs(left)), abs=ILD_TOLERANCE_DB), wanted
    if azimuth in (45, 60, 75, 90):
        near, far = abs(response[hz > 3000, 1]), abs(response[hz > 3000, 0])
        assert db(float(np.mean(near) / np.mean(far))) > 8, "people hear 10 to 20 dB"


def alpha(degrees: float) -> float:
    """Formula 5 of the paper."""
    return 1.05 + 0.95 * math.cos(math.radians(degrees / 150 * 180))


def test_sides_are_mirrored_and_straight_ahead_both_ears_are_alike() -> None:
    sound = noise(0.3)
    assert np.array_equal(render(sound, [at(40)])[:, ::-1], render(sound, [at(-40)]))
    for azimuth in (0, 180):
        ears = render(sound, [at(azimuth)])
        assert np.abs(ears[:, 0].astype(int) - ears[:, 1]).max() <= 1


def test_a_voice_from_behind_or_above_is_not_one_from_ahead() -> None:
    ahead, behind = tone(6000), tone(300)
    assert level(render(ahead, [at(180)])) - level(render(ahead, [at(0)])) == pytest.approx(-6.4, abs=1.5)
    assert level(render(behind, [at(180)])) - level(render(behind, [at(0)])) == pytest.approx(0, abs=0.2)
    above = render(noise(), [at(90, elevation=90)])
    assert np.abs(above[:, 0].astype(int) - above[:, 1]).max() <= 1


def test_twice_as_far_is_6_db_less_and_near_it_gets_no_louder() -> None:
    sound = tone(200)
    levels = {d: level(render(sound, [at(20, d)])) for d in (0.3, NEAR_M, 1.0, 2.0, 4.0, 8.0)}
    for near, far in ((0.5, 1.0), (1.0, 2.0), (2.0, 4.0), (4.0, 8.0)):
        assert levels[near] - levels[far] == pytest.approx(20 * math.log10(2), abs=0.1)
    assert levels[0.3] == pytest.approx(levels[NEAR_M], abs=0.1)
    assert levels[1.0] == pytest.approx(level(sound[:, None]), abs=0.2), "as written, a metre away"


def test_silence_stays_silence_and_sound_leaves_no_trace() -> None:
    quiet = np.zeros(RATE, np.int16)
    walk = [at(3.6 * k, 0.5 + 0.03 * k) for k in range(100)]
    assert not render(quiet, walk).any()
    ended = render(np.concatenate([noise(0.2), quiet]), walk)
    assert not ended[round(0.21 * RATE) :].any()


def test_both_ears_in_one_channel_keep_the_voice() -> None:
    """In mono the delays comb the treble, but no more is lost than of two sounds without a common phase."""
    for azimuth in (0, 30, 60, 90, 135, 180):
        hz, response = transfer(at(azimuth))
        voice, body = (hz > 100) & (hz < 8000), (hz > 100) & (hz < 350)
        mono, ears = np.abs(response.mean(axis=1)) ** 2, np.mean(np.abs(response) ** 2, axis=1)
        assert 10 * math.log10(mono[voice].mean() / ears[voice].mean()) > -3.5, azimuth
        assert 10 * math.log10((mono[body] / ears[body]).min()) > -6, azimuth
        if azimuth in (0, 180):
            assert mono[voice] == pytest.approx(ears[voice], rel=1e-2)


@pytest.mark.parametrize("hz", [300.0, 2000.0])
@pytest.mark.parametrize("frames", [1, 5], ids=["100 Hz", "20 Hz"])
def test_a_moving_head_clicks_nowhere(hz: float, frames: int) -> None:
    """A head that turns by 300 degrees a second, with poses as often as pictures come, and one that jumps."""
    turning = [at(3.0 * (k // frames * frames)) for k in range(100)]
    jumping = [at(0), *[at(90, 0.6)] * 40, *[at(-90, 2.0)] * 40, *[at(180)] * 20]
    for path in (turning, jumping):
        sound = render(tone(hz, loud=6000), path).astype(np.float64)
        window = np.hanning(1024)
        for ear in (0, 1):
            for start in range(RATE // 10, len(sound) - 1024, 256):
                spectrum = np.abs(np.fft.rfft(sound[start : start + 1024, ear] * window))
                bins = np.fft.rfftfreq(1024, 1 / RATE)
                apart = np.abs(bins - hz) > 1500 if hz > 1000 else bins > 1800
                # A click is a line through the whole spectrum; -60 dB is below what the tone masks.
                assert 20 * np.log10(spectrum[apart].max() / spectrum.max()) < -60, (ear, start)


def test_a_loud_voice_at_the_ear_is_bent_and_not_cut() -> None:
    loud = tone(3000, 0.3, loud=25_000)
    ears = render(loud, [at(90, 0.3)])[RATE // 10 :].astype(np.float64)
    assert KNEE * 32_767 < ears[:, 1].max() <= 32_767
    assert np.count_nonzero(ears[:, 1] == 32_767) < len(ears) // 3
    assert np.abs(np.diff(ears[:, 1], 2)).max() < 32_767, "no corners"


@pytest.mark.parametrize("rate", [24_000, 44_100, 48_000])
def test_it_is_its_twin(rate: int) -> None:
    rng = np.random.default_rng(4)
    blocks = [rng.integers(-9000, 9000, rate // 100).astype(np.int16) for _ in range(12)]
    mouths = [at(37.0 * k, 0.4 + 0.2 * k, 11.0 * k) for k in range(12)]
    fast = render(np.concatenate(blocks), mouths, rate)
    slow = twin.render(blocks, mouths, rate) * 32_767
    assert np.abs(slow).max() > 5000
    assert np.abs(fast - slow).max() <= TWIN_TOLERANCE


def test_the_listener_hears_where_the_mouth_is() -> None:
    listener = Listener(np.array([0.0, 1.6, 0.1]))
    head = np.eye(4)
    head[:3, 3] = (0.0, 1.6, 1.6)  # before the avatar, facing −Z: it
    listener.look(head)
    assert listener.mouth == pytest.approx((0.0, 0.03, -1.59))
    head[:3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]  # a quarter turn to the left
    listener.look(head)
    assert listener.mouth == pytest.approx((1.5, 0.03, -0.09)), "it is at the right now"


def test_somebody_walks_around_the_listener(tmp_path: Path) -> None:
    """A recorded walk: 4 s, 1.5 m away, from ahead over the right, and 3 m away when behind."""
    now_us, listener, path = 0, Listener(np.zeros(3)), tmp_path / "walk.wav"
    sink = FileSink(path, lambda: now_us, listener)
    speech = noise(2.0, loud=4000)
    sink.write(speech, RATE // 2, last=True)
    for step in range(401):
        around = 0.9 * step
        listener.mouth = at(around, 1.5 + 1.5 * max(-math.cos(math.radians(around)), 0))
        now_us = step * 10_000
        sink.heard_us()
    sink.close()
    heard, rate = soundfile.read(path)
    assert (heard.shape[1], len(heard)) == (2, pytest.approx(4 * rate, abs=rate // 50))

    def levels(azimuth: float) -> tuple[float, float]:
        middle = round(azimuth / 360 * 4 * rate)
        piece = heard[max(middle - rate // 10, rate // 20) : middle + rate // 10]
        left, right = np.sqrt(np.mean(np.square(piece), axis=0))
        return db(left), db(right)

    quiet = db(float(np.sqrt(np.mean(np.square(speech / 32_768)))))
    for azimuth in (10, 350):
        assert np.mean(levels(azimuth)) == pytest.approx(
            quiet - 20 * math.log10(1.5) + db(alpha(90)), abs=0.8
        )
    assert levels(90)[1] - levels(90)[0] > 8
    assert levels(270)[0] - levels(270)[1] > 8
    behind = np.mean(levels(180)) - np.mean(levels(5))
    assert -14 < behind < -6, "twice as far, and duller"
    assert abs(levels(180)[0] - levels(180)[1]) < 1.5
