"""A conversation longer than what the model keeps, as the client of a bridge sees it."""

import pytest

from taoxr.client import ConversationOptions, MediaChunk, Notice, TurnMetrics, TurnState

pytestmark = pytest.mark.process

QUESTION = "Tell me about number {}, which is a rather long question with many words in it."
TOLD = "HISTORY_DROPPED"


async def ask(conversation, text: str) -> list:
    events = []
    await conversation.send_text(text)
    async for event in conversation:
        events.append(event)
        if isinstance(event, TurnMetrics):
            await conversation.report_playback(event.turn_id, 60_000_000)
        if isinstance(event, TurnState) and event.state.ended:
            return events
    raise AssertionError("the stream ended")


def notices(events: list) -> list[Notice]:
    return [e for e in events if isinstance(e, Notice)]


async def test_turns_that_the_bridge_drops_are_told(fake_bridge):
    async with fake_bridge(history_chars=400) as (client, fakes):
        fakes.llm.answer = lambda _prompt: "Yes."
        async with client.converse() as conversation:
            turns = [await ask(conversation, QUESTION.format(i)) for i in range(8)]
        sent = [[m.content for m in r.messages] for r in fakes.llm.requests]
    told = [notices(events) for events in turns]
    assert all(len(n) <= 1 for n in told)
    # It comes with the first request that lacks them, and with none that lacks no more than the one before.
    lost = [QUESTION.format(0) not in contents for contents in sent]
    firsts = [next(i for i in range(8) if QUESTION.format(i) in contents) for contents in sent]
    more = [now > before for before, now in zip([0, *firsts], firsts, strict=False)]
    assert any(lost)
    assert [bool(n) for n in told] == more
    shown = next(n[0] for n in told if n)
    assert shown.reason == TOLD
    assert f"its {2 * firsts[told.index([shown])]} oldest messages are forgotten" in str(shown.error)


async def test_turns_that_the_model_drops_are_told(fake_bridge):
    async with fake_bridge() as (client, fakes):
        fakes.llm.answer = lambda _prompt: "Yes."
        async with client.converse(ConversationOptions(system_prompt="Be brief.")) as conversation:
            first = await ask(conversation, "Hello.")
            fakes.llm.dropped = 4
            second = await ask(conversation, "How are you?")
            third = await ask(conversation, "Good.")
            fakes.llm.dropped = 8
            fourth = await ask(conversation, "Bye.")
    assert [len(notices(events)) for events in (first, second, third, fourth)] == [0, 1, 0, 1]
    assert "its 4 oldest messages are forgotten" in str(notices(second)[0].error)
    assert [n.reason for n in notices(fourth)] == [TOLD]


async def test_a_turn_that_the_client_forgets_is_told_to_nobody(fake_bridge):
    """While it is spoken, and after it has ended; a resumed conversation lacks it, too."""
    async with fake_bridge() as (client, fakes):
        fakes.llm.answer = lambda _prompt: "One two three four five six seven eight nine ten. " * 8
        async with client.converse(ConversationOptions(system_prompt="Be brief.")) as conversation:
            token = conversation.started.resume_token
            await conversation.send_text("A secret.")
            async for event in conversation:
                if isinstance(event, MediaChunk):
                    await conversation.interrupt(10_000_000, forget=True)
                if isinstance(event, TurnState) and event.state.ended:
                    break
            fakes.llm.answer = lambda _prompt: "Yes."
            await ask(conversation, "Another secret.")
            await conversation.interrupt(0, forget=True)
            await ask(conversation, "Hello.")
        async with client.converse(ConversationOptions(resume_token=token)) as conversation:
            await ask(conversation, "Bye.")
        told = [[m.content for m in r.messages[1:] if m.content] for r in fakes.llm.requests]
    assert [said for said in told if said[-1] == "Bye."] == [["Hello.", "Yes.", "Bye."]]
    assert all("secret" not in " ".join(said) for said in told if "Hello." in said)
