"""A minute of speech from the real voice and the real lips: nothing drifts, nothing is missing."""

from itertools import pairwise

import numpy as np
import pytest

from taoxr.client import MediaChunk, connect

pytestmark = pytest.mark.process

MONOLOGUE = (
    "Once upon a time, there was a little boat that sailed on a very wide sea. "
    "Its captain was an old woman, and she knew the name of every star. "
    "At night she told stories to the crew, and in the day she slept. "
    "One morning the wind was gone; the sea lay still, like a mirror. "
) * 4
FRAME_RATE = 30


async def test_audio_and_frames_stay_together_over_a_minute(real_bridge: str) -> None:
    async with connect(real_bridge) as client:
        said = [e async for e in client.stream_say(MONOLOGUE, frame_rate=FRAME_RATE)]
    chunks = [e for e in said if isinstance(e, MediaChunk)]
    seconds = sum(len(c.pcm) for c in chunks) / chunks[0].sample_rate_hz
    assert seconds > 55
    assert chunks[0].start_us == 0
    assert all(b.start_us == a.end_us for a, b in pairwise(chunks))
    assert [c.last for c in chunks] == [False] * (len(chunks) - 1) + [True]
    times = np.concatenate([c.frame_times_us for c in chunks])
    # Every frame of the even grid, none twice, whatever clause it is in.
    assert times.tolist() == [round(k * 1e6 / FRAME_RATE) for k in range(len(times))]
    assert seconds * 1e6 - times[-1] <= 1e6 / FRAME_RATE + 1
    for chunk in chunks:
        assert all(chunk.start_us <= t < chunk.end_us for t in chunk.frame_times_us)
    assert sum(bool(c.clause_text) for c in chunks) >= 16
