"""How often a model of 135 million parameters decides right which tool a request is for."""

import pytest

from taoxr_bridge.settings import EXAMPLES, PERSONA
from taoxr_models.catalog import default_model, verified
from taoxr_models.llm.chat import ChatModel
from taoxr_models.llm.reader import ModelCall
from taoxr_models.llm.sampling import Sampling
from taoxr_models.llm.template import Message, Tool

pytestmark = [pytest.mark.models, pytest.mark.slow]

PERSONAL = [
    Message("system", PERSONA),
    *(Message(r, t) for said, answer in EXAMPLES for r, t in (("user", said), ("assistant", answer))),
]
# The wording of the decision was found with these,
HOUSE = {
    "get_time": "Tells the current time of day.",
    "set_timer": "Starts a timer that rings after some minutes.",
    "switch_light": "Switches the light in a room on or off.",
    "get_weather": "Tells the weather in a city.",
}
HOUSE_REQUESTS = (
    ("What time is it?", "get_time"),
    ("Can you tell me the time please?", "get_time"),
    ("Is it already past noon?", "get_time"),
    ("How late is it?", "get_time"),
    ("Do you know what time it is now?", "get_time"),
    ("Set a timer for ten minutes.", "set_timer"),
    ("Remind me in five minutes.", "set_timer"),
    ("Start a three minute timer for my eggs.", "set_timer"),
    ("Please wake me in half an hour.", "set_timer"),
    ("Count down from sixty seconds.", "set_timer"),
    ("Turn on the light.", "switch_light"),
    ("Turn off the lamp in the kitchen.", "switch_light"),
    ("It is too dark in here.", "switch_light"),
    ("Switch the lights off, please.", "switch_light"),
    ("Could you turn the bedroom light on?", "switch_light"),
    ("What is the weather like in Paris?", "get_weather"),
    ("Will it rain today in London?", "get_weather"),
    ("How warm is it in Berlin?", "get_weather"),
    ("Do I need an umbrella in Madrid?", "get_weather"),
    ("Tell me the weather forecast for Rome.", "get_weather"),
    ("Hello, how are you?", ""),
    ("What is your name?", ""),
    ("Tell me a joke.", ""),
    ("What is the capital of France?", ""),
    ("Who wrote Romeo and Juliet?", ""),
    ("I feel tired today.", ""),
    ("Thank you very much.", ""),
    ("Why is the sky blue?", ""),
    ("What do you like to eat?", ""),
    ("Goodbye!", ""),
    ("How many legs does a spider have?", ""),
    ("Can you sing?", ""),
)
# and looked at again with these.
OTHER = {
    "play_music": "Plays music or a song.",
    "send_message": "Sends a text message to a person.",
    "calculate": "Computes with numbers.",
    "open_door": "Opens or unlocks a door.",
}
OTHER_REQUESTS = (
    ("Play some jazz.", "play_music"),
    ("I want to hear a song by the Beatles.", "play_music"),
    ("Put on some music, please.", "play_music"),
    ("Could you play Mozart?", "play_music"),
    ("Let us listen to something.", "play_music"),
    ("Send a message to Ann that I am late.", "send_message"),
    ("Tell Bob that dinner is ready.", "send_message"),
    ("Text my mother that I love her.", "send_message"),
    ("Write to Peter.", "send_message"),
    ("Can you message John for me?", "send_message"),
    ("What is seven times eight?", "calculate"),
    ("How much is twelve plus thirty?", "calculate"),
    ("Add fifteen and twenty.", "calculate"),
    ("What is twenty percent of ninety?", "calculate"),
    ("Divide a hundred by four.", "calculate"),
    ("Open the door.", "open_door"),
    ("Let me in, please.", "open_door"),
    ("Somebody is at the door, let them in.", "open_door"),
    ("Unlock the front door.", "open_door"),
    ("Can you open the garage?", "open_door"),
    ("Hi there!", ""),
    ("Who are you?", ""),
    ("Tell me a story.", ""),
    ("What is the capital of Italy?", ""),
    ("Who painted the Mona Lisa?", ""),
    ("I am so happy.", ""),
    ("Thanks!", ""),
    ("Why do cats purr?", ""),
    ("What is your favourite colour?", ""),
    ("See you tomorrow.", ""),
    ("How old is the moon?", ""),
    ("Do you like me?", ""),
)


@pytest.mark.parametrize(("offered", "requests"), [(HOUSE, HOUSE_REQUESTS), (OTHER, OTHER_REQUESTS)])
def test_decisions(offered: dict[str, str], requests: tuple[tuple[str, str], ...]) -> None:
    chat = ChatModel(verified(default_model("llm")))
    tools = [Tool(name, description) for name, description in offered.items()]
    called: list[str] = []
    for request, _ in requests:
        steps = chat.answer(chat.prompt([*PERSONAL, Message("user", request)], 8, tools), Sampling(), 1)
        called.append(next((step.name for step in steps if isinstance(step, ModelCall)), ""))
    wrong = [(*pair, name) for pair, name in zip(requests, called, strict=True) if pair[1] != name]
    assert len(requests) - len(wrong) >= 27, wrong
    assert sum(not wanted for _, wanted, _ in wrong) <= 2, wrong  # called without need
