"""The voice comes from the avatar's mouth, wherever the headset's head turns."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from monado import Monado, Placed
from output import Output

pytestmark = pytest.mark.e2e

HEARER = Path(__file__).with_name("hearer.py")
QUARTER_TURN = (0.0, -math.sqrt(0.5), 0.0, math.sqrt(0.5))
"""To the right: what was ahead is at the left then."""


def test_the_voice_stays_where_the_avatar_stands_when_the_head_turns(tmp_path: Path) -> None:
    path = tmp_path / "heard.wav"
    with Monado() as monado:
        process = monado.start([sys.executable, HEARER, path])
        try:
            app = Output(process)
            # The middle of the ears is 3 cm below that of the eyes at 1.60 m and 9 cm behind; the avatar is
            # 1.50 m before the eyes, its mouth 10 cm nearer.
            app.wait_for(r"mouth -?0\.00 -0\.02 -1\.49")
            monado.remote.state.head = Placed(QUARTER_TURN, (0.0, 1.6, 0.0))
            monado.remote.send()
            app.wait_for(r"mouth -1\.40 -0\.02 -0\.09")
            assert process.wait(60) == 0, app.text
        finally:
            process.kill()
            process.wait()
    sound, rate = soundfile.read(path)
    ahead, left = sound[rate // 10 : rate // 5], sound[-rate // 5 :]
    ears = np.sqrt(np.mean(np.square(ahead), axis=0))
    assert ears[0] == pytest.approx(ears[1], rel=0.01)
    ears = np.sqrt(np.mean(np.square(left), axis=0))
    assert 20 * math.log10(ears[0] / ears[1]) > 6


@pytest.mark.slow
@pytest.mark.parametrize(("option", "channels"), [((), 2), (("--flat-sound",), 1)])
def test_the_command_writes_what_two_ears_hear_or_one_channel(
    option: tuple[str, ...], channels: int, real_bridge: str, tmp_path: Path
) -> None:
    path = tmp_path / "heard.wav"
    taoxr = ["-c", "from taoxr.cli import main; main()", "xr", "--target", real_bridge, "--mic", "null"]
    wishes = ["--text", "Hello.", "--scale", "0.1", "--frames", "40", "--sound", str(path), *option]
    with Monado() as monado:
        done = monado.run([sys.executable, *taoxr, *wishes], timeout=240)
    assert done.returncode == 0, done.stdout
    sound, rate = soundfile.read(path, always_2d=True)
    assert (sound.shape[1], rate) == (channels, 24_000)
    assert len(sound) > rate
    if channels == 2:
        # The voice is ahead: if it has begun by now, both ears hear it alike.
        assert np.abs(sound[:, 0] - sound[:, 1]).max() < 0.01
