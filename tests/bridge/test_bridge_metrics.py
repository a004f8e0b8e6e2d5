"""What Prometheus reads of a bridge."""

import asyncio
import socket
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from taoxr.client import State, TurnState
from taoxr.errors import InvalidInputError

pytestmark = pytest.mark.process

SECRET_WORDS = "my doctor is called Zebedee"


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


async def read(port: int) -> tuple[str, dict[tuple[str, ...], float]]:
    """The page, and its samples by name and label values."""
    url = f"http://127.0.0.1:{port}/metrics"
    page = await asyncio.to_thread(lambda: urllib.request.urlopen(url, timeout=60).read().decode())
    samples = [s for family in text_string_to_metric_families(page) for s in family.samples]
    return page, {(s.name, *s.labels.values()): s.value for s in samples}


async def test_calls_turns_and_workers_are_counted(quick_bridge, port):
    say, converse = "/taoxr.v1.ConversationService/Say", "/taoxr.v1.ConversationService/Converse"
    async with quick_bridge(metrics_port=port) as (client, fakes):
        await client.say("hello")
        with pytest.raises(InvalidInputError):
            await client.say("")
        async with client.converse() as conversation:
            await conversation.send_text(SECRET_WORDS)
            async for event in conversation:
                if isinstance(event, TurnState) and event.state is State.DONE:
                    break
            _, during = await read(port)
            await conversation.end()
            async for _ in conversation:
                pass
        page, after = await read(port)
    assert during["taoxr_conversations",] == 1
    assert during["taoxr_calls_running", converse] == 1
    assert after["taoxr_conversations",] == 0
    assert after["taoxr_calls_running", converse] == 0
    assert after["taoxr_calls_total", "OK", say] == 1
    assert after["taoxr_calls_total", "INVALID_ARGUMENT", say] == 1
    assert after["taoxr_calls_total", "OK", converse] == 1
    assert after["taoxr_turn_stage_seconds_count", "first_media"] == 1
    assert 0 < after["taoxr_turn_stage_seconds_sum", "first_media"] < 60
    assert {role: after["taoxr_worker_ready", role] for role in fakes.targets} == dict.fromkeys(
        fakes.targets, 1
    )
    assert "Zebedee" not in page


async def test_a_taken_port_is_named(quick_bridge, port):
    with socket.create_server(("127.0.0.1", port)), pytest.raises(InvalidInputError, match="--metrics-port"):
        async with quick_bridge(metrics_port=port):
            pass
    with pytest.raises(OSError, match="refused"):  # and none without being asked for
        await read(port)
