"""The catalogue file: what it must and must not hold, and checks of installed files."""

import hashlib
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.catalog import default_model, verified
from taoxr_models.catalog.entries import HubSource, catalog, parse
from taoxr_models.catalog.files import check_folder
from taoxr_models.catalog.recipes import RECIPES
from taoxr_models.catalog.sources.hub import address

pytestmark = pytest.mark.unit

ZERO = "0" * 64
BASE = 'mnn = "3.6.1"\nmodels = []\ndefaults = {}\n'
ENTRY = f"""
[[models]]
id = "tiny"
title = "A test"
role = "vad"
engine = "mnn"
licence = "CC0-1.0"
languages = ["mul"]
recipe = "copy"
sources = [{{ kind = "huggingface", repository = "a/b", revision = "main", paths = {{ x = "deep/x" }} }}]
inputs = {{ x = {{ sha256 = "{ZERO}", size = 3 }} }}
files = {{ x = {{ sha256 = "{ZERO}", size = 3 }} }}
"""


def test_packaged_catalogue_is_complete() -> None:
    models = catalog()
    assert set(models.defaults) == {"vad", "asr", "llm", "tts"}
    for entry in models.models:
        assert entry.recipe in RECIPES
        assert entry.files
        assert entry.sources[0].kind == "pypi"
        assert entry.licence in {"MIT", "Apache-2.0", "CC0-1.0"}


def test_users_additions_add_models_and_move_defaults() -> None:
    models = parse(BASE, ENTRY + '\n[defaults]\nvad = "tiny"\n')
    assert models.default_model("vad") == "tiny"
    assert models.entry("tiny").installed_size == 3


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("tiny", "../up"), "id"),
        (("deep/x", "../x"), "paths"),
        (('paths = { x =', 'paths = { y ='), "gives"),
        ((ZERO, "12ab"), "sha256"),
        (('role = "vad"', 'role = "cook"'), "role"),
        (('title = "A test"', 'titel = "A test"'), "titel"),
        (("[[models]]", "[[models"), "catalog"),
    ],
)  # fmt: skip
def test_wrong_entries_are_refused_by_field(change: tuple[str, str], told: str) -> None:
    text = ENTRY.replace(*change)
    assert text != ENTRY
    with pytest.raises(ModelError, match=told):
        parse(BASE, text)


def test_wheels_of_a_source_give_its_inputs_together() -> None:
    first = 'kind = "pypi", package = "a", version = "1", size = 5, paths = { x = "a/x.1" }'
    more = 'parts = [{ package = "b", version = "1", size = 7, paths = { x = "b/x.2", y = "b/y" } }]'
    start = ENTRY.index("sources = [") + len("sources = [")
    text = ENTRY[:start] + f"{{ {first}, {more} }}, " + ENTRY[start:]
    with pytest.raises(ModelError, match=r"gives \['x', 'y'\], not \['x'\]"):
        parse(BASE, text)
    source = parse(BASE, text.replace(', y = "b/y"', "")).entry("tiny").sources[0]
    assert source.wheel_size == 12


def test_default_of_another_role_is_refused() -> None:
    with pytest.raises(ModelError, match="default of llm"):
        parse(BASE, ENTRY + '\n[defaults]\nllm = "tiny"\n')


def test_a_model_listed_twice_is_refused() -> None:
    with pytest.raises(ModelError, match="twice"):
        parse(BASE, ENTRY + ENTRY)


@given(st.text(alphabet="ab./\\~\0 ", min_size=1, max_size=12))
def test_no_path_of_a_source_leaves_its_folder(path: str) -> None:
    quoted = path.replace("\\", "\\\\").replace("\0", "\\u0000")
    try:
        models = parse(BASE, ENTRY.replace("deep/x", quoted))
    except ModelError:
        return
    (source,) = models.entry("tiny").sources
    root = Path("/somewhere")
    assert (root / source.paths["x"]).resolve().is_relative_to(root)


def test_unknown_names_say_which_there_are() -> None:
    with pytest.raises(InvalidInputError, match="silero-vad"):
        verified("nonsense")
    with pytest.raises(InvalidInputError, match="vad, asr, llm, tts"):
        default_model("cook")


def test_missing_model_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path))
    with pytest.raises(ModelError, match="taoxr models pull silero-vad"):
        verified("silero-vad")


@pytest.mark.parametrize(
    ("kind", "variable", "default"),
    [
        ("huggingface", "HF_ENDPOINT", "https://huggingface.co/a/b/resolve/v1/d%2Be/x.bin"),
        ("modelscope", "MODELSCOPE_ENDPOINT", "https://modelscope.cn/models/a/b/resolve/v1/d%2Be/x.bin"),
    ],
)
def test_hub_addresses_and_their_overrides(
    kind: Literal["huggingface", "modelscope"], variable: str, default: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = HubSource(kind=kind, repository="a/b", revision="v1", paths={"x": "d+e/x.bin"})
    monkeypatch.delenv(variable, raising=False)
    assert address(source, "d+e/x.bin") == default
    monkeypatch.setenv(variable, "https://mirror.example/base/")
    assert address(source, "x") == default.replace("d%2Be/x.bin", "x").replace(
        default.split("/")[2], "mirror.example/base"
    )
    monkeypatch.setenv(variable, "http://mirror.example")
    with pytest.raises(InvalidInputError, match="https"):
        address(source, "x")


def test_damage_is_told_with_both_digests(tmp_path: Path) -> None:
    files = parse(BASE, ENTRY).entry("tiny").files
    with pytest.raises(ModelError, match=r"x is missing; do that"):
        check_folder(tmp_path, files, "do that")
    (tmp_path / "x").write_bytes(b"ab")
    with pytest.raises(ModelError, match="2 bytes, expected 3"):
        check_folder(tmp_path, files, "do that")
    (tmp_path / "x").write_bytes(b"abc")
    with pytest.raises(ModelError, match=f"{hashlib.sha256(b'abc').hexdigest()}, expected {ZERO}; do that"):
        check_folder(tmp_path, files, "do that")
