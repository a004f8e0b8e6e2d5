"""Pacing against a clock that only moves when told."""

import asyncio

import pytest

from taoxr_bridge.pacing import Pacer

pytestmark = pytest.mark.unit


class Clock:
    """Seconds that only move when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pacer(clock: Clock) -> Pacer:
    return Pacer(1_200_000, silence_us=10_000_000, clock=clock)


def send(pacer: Pacer, count: int) -> int:
    """Sends chunks of 160 ms until one must wait, at most `count`; how many went out."""
    sent = 0
    while sent < count and pacer.delay_s(pacer.sent_us) == 0:
        pacer.sent(pacer.sent_us + 160_000)
        sent += 1
    return sent


def test_without_reports_the_wall_clock_counts_from_the_first_chunk(pacer: Pacer, clock: Clock):
    clock.now += 50
    assert pacer.position_us() == 0
    assert send(pacer, 100) == 8  # starts at 0, 160 .. 1120 ms; 1280 is over the lead
    assert pacer.delay_s(pacer.sent_us) == pytest.approx(0.08)
    clock.now += 0.08
    assert send(pacer, 100) == 1
    assert pacer.position_us() == pytest.approx(80_000, abs=2)


def test_reports_rule_once_they_come(pacer: Pacer, clock: Clock):
    send(pacer, 100)
    clock.now += 1.0
    pacer.report(0)  # the client has only just begun
    assert pacer.position_us() == 0
    assert send(pacer, 100) == 0
    pacer.report(500_000)
    assert send(pacer, 100) == 3
    assert pacer.sent_us - pacer.position_us() <= 1_200_000 + 160_000


def test_reports_do_not_go_back_and_not_beyond_what_was_sent(pacer: Pacer):
    send(pacer, 2)
    pacer.report(100_000)
    pacer.report(50_000)
    assert pacer.position_us() == 100_000
    pacer.report(99_000_000)
    assert pacer.position_us() == 320_000


def test_a_client_that_stops_reporting_is_taken_to_play_on(pacer: Pacer, clock: Clock):
    send(pacer, 8)
    pacer.report(100_000)
    clock.now += 10.0
    assert pacer.position_us() == 100_000
    assert pacer.delay_s(pacer.sent_us) == 0.0
    clock.now += 0.5
    assert pacer.position_us() == pytest.approx(600_000, abs=2)


async def test_a_report_wakes_the_sender(pacer: Pacer):
    send(pacer, 8)
    pacer.report(0)
    waiting = asyncio.create_task(pacer.wait_to_send(1_280_000))
    await asyncio.sleep(0)
    assert not waiting.done()
    pacer.report(200_000)
    async with asyncio.timeout(30):
        await waiting


async def test_all_heard_at_once_when_nothing_was_sent(pacer: Pacer):
    async with asyncio.timeout(30):
        await pacer.wait_until_heard()
