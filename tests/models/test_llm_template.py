"""Prompt text from chat templates, with tools; the templates are the ones that models come with, in short."""

import json

import pytest

from taoxr.errors import ModelError
from taoxr_models.llm.template import Call, Message, Template, Tool

pytestmark = pytest.mark.unit

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
# The parts of Qwen2.5's template that matter here, in its own way to write calls and results.
WITH_TOOLS = (
    "{%- if tools %}{{- '<|im_start|>system\n' + messages[0].content }}"
    "{%- for tool in tools %}{{- '\n' }}{{- tool | tojson }}{%- endfor %}{{- '<|im_end|>\n' }}{%- endif %}"
    "{%- for message in messages %}"
    "{%- if message.tool_calls %}{{- '<|im_start|>assistant\n' + message.content }}"
    "{%- for call in message.tool_calls %}{%- set call = call.function %}"
    """{{- '<tool_call>\n{"name": "' + call.name + '", "arguments": ' }}{{- call.arguments | tojson }}"""
    "{{- '}\n</tool_call><|im_end|>\n' }}{%- endfor %}"
    "{%- elif message.role == 'tool' %}{{- '<tool_response>' + message.content + '</tool_response>\n' }}"
    "{%- elif message.role != 'system' %}{{- message.role + ': ' + message.content + '\n' }}{%- endif %}"
    "{%- endfor %}"
)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("get_weather", "Tells the weather <here> & now.", json.dumps(SCHEMA))
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Köln"}}\n</tool_call>'
TALK = [
    Message("system", "You are Joe."),
    Message("user", "How warm is it in Köln?"),
    Message("assistant", "Let me see.", Call("get_weather", '{"city": "Köln"}')),
    Message("tool", '{"degrees": 21}'),
]


def test_without_tools_a_template_gives_what_it_always_gave() -> None:
    text = Template(CHATML).render([Message("system", "Be kind."), Message("user", "Hi")])
    assert (
        text
        == "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_template_with_tools_gets_them_as_hugging_face_gives_them() -> None:
    template = Template(WITH_TOOLS)
    assert template.knows_tools
    text = template.render(TALK, [WEATHER])
    described = text.split("\n")[2].removesuffix("<|im_end|>")
    assert json.loads(described) == {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Tells the weather <here> & now.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
    assert "<here> & now" in described  # not escaped for HTML
    assert (
        'Let me see.<tool_call>\n{"name": "get_weather", "arguments": {"city": "Köln"}}\n</tool_call>' in text
    )
    assert text.endswith('<tool_response>{"degrees": 21}</tool_response>\n')


def test_a_template_without_tools_gets_them_in_words() -> None:
    template = Template(CHATML)
    assert not template.knows_tools
    text = template.render(TALK, [WEATHER])
    system, user, call, result, answer = text.split("<|im_start|>")[1:]
    assert system.startswith("system\nYou are Joe.")
    assert '"name": "get_weather"' in system
    assert user == "user\nHow warm is it in Köln?<|im_end|>\n"
    assert call == f"assistant\nLet me see.\n{CALL}<|im_end|>\n"
    assert result == 'user\n<tool_response>\n{"degrees": 21}\n</tool_response><|im_end|>\n'
    assert answer == "assistant\n"


def test_tools_in_words_need_no_system_message() -> None:
    text = Template(CHATML).render([Message("user", "Hi")], [WEATHER])
    assert text.startswith("<|im_start|>system\nYou can call functions.")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{% for", "cannot be read"),
        ("{{ raise_exception('roles must alternate') }}", "roles must alternate"),
        ("{{ messages.__class__.__mro__ }}", "refuses"),
        ("{{ 1 / 0 }}", "refuses"),
    ],
)
def test_broken_and_wicked_templates_are_errors(source: str, text: str) -> None:
    with pytest.raises(ModelError, match=text):
        Template(source).render([Message("user", "Hi")])
