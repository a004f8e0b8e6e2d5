"""Adds a model from a folder of the user's to the user's own catalogue.

What TaoAvatar downloads from ModelScope, say, lies on the disk already. Its files are looked into in a child
process (`taoxr.engine.probe`), copied into the models folder, and listed with their sha256 in taoxr's
``catalog.toml``; from then on the model is one like any other.
"""

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from taoxr import paths
from taoxr.engine.probe import probe
from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.catalog import entries, own
from taoxr_models.catalog.entries import Entry, File, Role
from taoxr_models.catalog.files import sha256
from taoxr_models.catalog.installed import folder as folder_of
from taoxr_models.catalog.recipes import convert


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model that is known by its files.

    Attributes:
        recipe: Name in the catalogue.
        role: What it is for.
        title: For people.
        needed: Pattern of each file that must be there, exactly once, by the name it gets.
        optional: The same for files that may be missing.
    """

    recipe: str
    role: Role
    title: str
    needed: Mapping[str, str]
    optional: Mapping[str, str]
    runs: bool = True
    """Whether an engine runs it."""


KINDS: Final = (
    Kind(
        "sherpa-transducer",
        "asr",
        "Streaming zipformer transducer",
        {
            "encoder.mnn": "encoder*.mnn",
            "decoder.mnn": "decoder*.mnn",
            "joiner.mnn": "joiner*.mnn",
            "tokens.txt": "tokens.txt",
        },
        {"model.json": "model.json"},
    ),
    Kind(
        "piper",
        "tts",
        "Piper voice",
        {"model": "*.onnx", "config": "*.onnx.json"},
        {},
    ),
    Kind(
        "unitalker",
        "a2bs",
        "UniTalker, audio to FLAME coefficients",
        {"audio2verts.mnn": "audio2verts.mnn"},
        {"arkit52.npy": "arkit52.npy"},
    ),
    Kind(
        "smplx-recording",
        "motion",
        "Recorded motion of MNN-TaoAvatar",
        {"body_params.bin": "body_params.bin", "idle_speech_slices.json": "idle_speech_slices.json"},
        {},
        runs=False,
    ),
    Kind(
        "mnn-llm",
        "llm",
        "Language model of MNN-LLM",
        {name: name for name in ("config.json", "llm_config.json", "llm.mnn", "llm.mnn.weight")},
        {
            name: name
            for name in ("tokenizer.txt", "tokenizer.mtok", "embeddings_bf16.bin", "vocab.bin", "lora.mnn")
        },
    ),
)


@dataclass(frozen=True, slots=True)
class Description:
    """What the files do not say.

    Attributes:
        licence: SPDX expression of the weights.
        languages: BCP 47 tags; ``mul`` for any.
        engine: What runs it.
    """

    licence: str = "LicenseRef-unknown"
    languages: tuple[str, ...] = ("mul",)
    engine: str = "mnn"


def add(source: Path, model_id: str, description: Description = Description()) -> Entry:
    """Copies a folder's model and lists it.

    Args:
        source: The user's folder.
        model_id: Name for commands.
        description: What the files do not say.

    Returns:
        The new entry.

    Raises:
        InvalidInputError: There is such a model, or the id or the description is wrong.
        ModelError: The folder holds no known kind of model, a file is damaged, or the disk is full.
    """
    models = entries.catalog()
    if any(e.id == model_id for e in models.models):
        raise InvalidInputError("--id", model_id, "an id that is not taken")
    kind, files = recognise(source)
    for path in files.values():
        if path.suffix == ".mnn":
            probe(path)
    if kind.recipe == "mnn-llm":
        from taoxr_models.llm.adapters import check_adapters

        # Here, since files of other names are not copied.
        check_adapters(source, files["llm.mnn"].name)
    root = paths.models_dir()
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{kind.recipe}~", dir=root) as staging:
            made = Path(staging) / "model"
            made.mkdir()
            if kind.recipe == "piper":
                convert(kind.recipe, files, made)
            else:
                for name, path in files.items():
                    shutil.copyfile(path, made / name)
            spoken = _try(kind, made)
            if spoken and description.languages == Description().languages:
                description = replace(description, languages=spoken)
            entry = _entry(kind, model_id, description, made)
            target = folder_of(entry)
            if target.exists():
                raise ModelError(f"{target} is in the way; remove it, or choose another --id")
            made.rename(target)
            try:
                _list(entry)
            except BaseException:  # Ctrl-C, too: what is not listed would be in the way
                shutil.rmtree(target)
                raise
    except OSError as error:
        raise ModelError(f"cannot add {model_id} to {root}: {error}") from error
    return entry


def _try(kind: Kind, made: Path) -> tuple[str, ...]:
    """Loads the model once, so that what is wrong with it is said now.

    Returns:
        Its languages, if it tells them.
    """
    if kind.recipe == "sherpa-transducer":
        from taoxr_models.ear.online import OnlineRecognizer

        OnlineRecognizer.from_folder(made)
    elif kind.recipe == "piper":
        from taoxr_models.tts.voice import Voice

        voice = Voice(made)
        voice.check()
        return (voice.language,)
    elif kind.recipe == "mnn-llm":
        from taoxr_models.llm.trial import try_folder

        try_folder(made)
    elif kind.recipe == "smplx-recording":
        from taoxr_models.motion.recording import Recording

        Recording.of_folder(made)
    else:
        from taoxr_models.a2bs.unitalker import Face, UniTalker

        UniTalker(made)
        Face.of_folder(made)
    return ()


def recognise(source: Path) -> tuple[Kind, dict[str, Path]]:
    """The kind of model that a folder holds, and its files by the names they get.

    Raises:
        ModelError: None that is known; the text says what each kind needs.
    """
    if not source.is_dir():
        raise ModelError(f"{source} is not a folder")
    for kind in KINDS:
        files = {name: sorted(source.glob(pattern)) for name, pattern in kind.needed.items()}
        several = [found for found in files.values() if len(found) > 1]
        if several and all(files.values()):
            names = ", ".join(path.name for path in several[0])
            raise ModelError(f"{source} holds several of what a {kind.title} has once: {names}; leave one")
        if all(files.values()):
            optional = {name: source / pattern for name, pattern in kind.optional.items()}
            there = {name: path for name, path in optional.items() if path.is_file()}
            return kind, {name: found[0] for name, found in files.items()} | there
    kinds = "; ".join(f"{kind.title}: {', '.join(kind.needed.values())}" for kind in KINDS)
    raise ModelError(f"{source} holds no known kind of model. Needed, one of each: {kinds}")


def _entry(kind: Kind, model_id: str, description: Description, made: Path) -> Entry:
    files = {p.name: File(sha256=sha256(p), size=p.stat().st_size) for p in sorted(made.iterdir())}
    try:
        return Entry.model_validate(
            {
                "id": model_id,
                "title": kind.title,
                "role": kind.role,
                "engine": description.engine if kind.runs else "none",
                "licence": description.licence,
                "languages": description.languages,
                "recipe": kind.recipe,
                "inputs": {},
                "sources": (),
                "files": files,
            }
        )
    except ValueError as error:  # pydantic's: the id or the engine is wrong
        raise InvalidInputError("--id", model_id, f"a catalogue entry ({error})") from error


def _list(entry: Entry) -> None:
    """Appends the entry to the user's catalogue."""
    own.write(f"{own.read().rstrip()}\n\n{_toml(entry)}".lstrip())


def _toml(entry: Entry) -> str:
    def quoted(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)  # TOML's basic strings and arrays are JSON's

    lines = [
        "[[models]]",
        *(
            f"{name} = {quoted(getattr(entry, name))}"
            for name in ("id", "title", "role", "engine", "licence", "languages", "recipe")
        ),
        "inputs = {}",
        "sources = []",
        "[models.files]",
        *(
            f'{quoted(name)} = {{ sha256 = "{f.sha256}", size = {f.size} }}'
            for name, f in entry.files.items()
        ),
    ]
    return "\n".join(lines) + "\n"
