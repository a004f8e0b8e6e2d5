"""A folder as MNN's exporter writes it, of a Qwen2-shaped model with random weights: no ``vocab.bin``."""

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from taoxr.errors import ModelError
from taoxr_models.catalog import verified
from taoxr_models.catalog.add import add
from taoxr_models.catalog.recipes.llama import convert_llama
from taoxr_models.llm.chat import ChatModel, Finished, Started, Step, Text
from taoxr_models.llm.reader import ModelCall
from taoxr_models.llm.sampling import Sampling
from taoxr_models.llm.template import Message, Tool

pytestmark = pytest.mark.models

TEMPLATE = (
    "{% if tools %}{{ '<|im_start|>' }}{% for tool in tools %}{{ tool.function.name }}{% endfor %}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + m.content + '<|im_end|>' }}{% endfor %}"
    "{{ '<|im_start|>assistant' }}"
)
TALK = [Message("system", "Be brief"), Message("user", "Hello there")]
GREEDY = Sampling(temperature=0.0, repetition_penalty=1.0)


def gguf_maker() -> ModuleType:
    path = Path(__file__).parent / "catalog" / "test_catalog_llm.py"
    spec = importlib.util.spec_from_file_location("catalog_llm", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("qwen2")
    maker, source = gguf_maker(), tmp_path_factory.mktemp("source") / "small.gguf"
    source.write_bytes(maker.small_gguf(maker.SMALL[2]))
    convert_llama(source, folder)
    (folder / "vocab.bin").unlink()
    change(folder / "llm_config.json", jinja={"chat_template": TEMPLATE, "bos": "", "eos": "<|im_end|>"})
    change(folder / "config.json", memory="normal", precision="normal", topK=5, temperature=0.7)
    return folder


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def copy(folder: Path, to: Path, **config: Any) -> Path:
    shutil.copytree(folder, to / "model")
    change(to / "model" / "config.json", **config)
    return to / "model"


def ask(chat: ChatModel, tokens: int = 12) -> list[Step]:
    return list(chat.answer(chat.prompt(TALK, tokens), GREEDY, tokens))


def text_of(steps: list[Step]) -> str:
    return "".join(s.text for s in steps if isinstance(s, Text))


def test_it_runs_reuses_its_cache_exactly_and_knows_its_sampler(exported: Path) -> None:
    chat = ChatModel(exported)
    assert (chat.sampling.top_k, chat.sampling.temperature) == (5, 0.0)  # the recipe says: greedy
    first = ask(chat)
    again = ask(chat)
    assert text_of(first) == text_of(again) != ""
    counts = [s for s in (*first, *again) if isinstance(s, Started)]
    assert [c.reused_tokens for c in counts] == [0, counts[0].prompt_tokens - 1]
    assert "<|" not in text_of(first)


def test_its_template_gets_the_tools(exported: Path) -> None:
    chat = ChatModel(exported)
    without = chat.prompt(TALK, 8)
    offered = chat.prompt(TALK, 8, [Tool("xyz", "Does it.")])
    assert offered.choice is None  # it is told, and decides by itself
    assert len(offered.ids) > len(without.ids)
    assert not [s for s in ask(chat) if isinstance(s, ModelCall)]


def test_a_stop_text_of_the_folder_ends_the_answer(exported: Path, tmp_path: Path) -> None:
    whole = text_of(ask(ChatModel(exported)))
    stop = whole[3:6]
    chat = ChatModel(copy(exported, tmp_path, stop=[stop]))
    steps = ask(chat)
    assert text_of(steps) == whole[: whole.index(stop)].lstrip()
    assert isinstance(steps[-1], Finished)
    assert steps[-1].reason == "stop"


def test_a_context_of_its_own(exported: Path, tmp_path: Path) -> None:
    chat = ChatModel(copy(exported, tmp_path, max_all_tokens=300))
    talk = [Message("system", "Be brief")]
    for _ in range(12):
        talk += [Message("user", "Hello there how are you"), Message("assistant", "Fine")]
    assert chat.prompt([*talk, Message("user", "Bye")], 50).dropped_messages > 0
    assert ChatModel(exported).prompt([*talk, Message("user", "Bye")], 50).dropped_messages == 0


def test_without_a_template_of_its_own_the_engine_renders(exported: Path, tmp_path: Path) -> None:
    folder = copy(exported, tmp_path)
    described = json.loads((folder / "llm_config.json").read_text())
    template = described.pop("jinja")["chat_template"]
    (folder / "llm_config.json").write_text(json.dumps(described))
    chat = ChatModel(folder)
    assert template
    assert text_of(ask(chat))


def test_another_back_end_is_refused_before_anything_runs(exported: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="back end 'vulkan'"):
        ChatModel(copy(exported, tmp_path, backend_type="vulkan"))


def test_added_from_a_folder_it_is_a_model_like_any_other(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path / "home"))
    entry = add(exported, "qwen2-tiny")
    assert (entry.role, entry.recipe) == ("llm", "mnn-llm")
    assert text_of(ask(ChatModel(verified("qwen2-tiny"))))
    # What is wrong is said before anything is listed.
    with pytest.raises(ModelError, match="back end 'opencl'"):
        add(copy(exported, tmp_path, backend_type="opencl"), "other")
    broken = copy(exported, tmp_path / "broken")
    (broken / "llm.mnn.weight").write_bytes(b"")
    with pytest.raises(ModelError):
        add(broken, "other")
