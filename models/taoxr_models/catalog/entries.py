"""The catalogue: which models there are, where they come from, and what they must become."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from taoxr import paths
from taoxr.errors import InvalidInputError, ModelError

Role = Literal["vad", "asr", "llm", "tts", "a2bs", "motion"]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
# A path below a folder: each part starts with a letter or digit, so none climbs out.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][\w.+-]*$")]
RelativePath = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][\w.+-]*(/[A-Za-z0-9_][\w.+-]*)*$")]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class File(_Frozen):
    """A file with its expected content.

    Attributes:
        sha256: Digest in hex.
        size: Bytes.
    """

    sha256: Sha256
    size: int = Field(ge=0)


class Wheel(_Frozen):
    """Members of a wheel.

    Attributes:
        package: Name in the index.
        version: Its version.
        size: Bytes of the wheel.
        paths: Members by the inputs that they are.
    """

    package: str
    version: str
    size: int
    paths: Mapping[str, RelativePath]

    def __str__(self) -> str:
        return f"PyPI {self.package} {self.version}"


class PypiSource(Wheel):
    """Members of a wheel from the package index of the user's own pip configuration.

    Attributes:
        parts: Further wheels, for what is too large for one: an input that several of them give is what
            they hold, one behind the other.
    """

    kind: Literal["pypi"]
    parts: tuple[Wheel, ...] = ()

    @property
    def wheels(self) -> tuple[Wheel, ...]:
        """All of them in order."""
        return (self, *self.parts)

    @property
    def gives(self) -> frozenset[str]:
        """Names of the inputs."""
        return frozenset(name for wheel in self.wheels for name in wheel.paths)

    @property
    def wheel_size(self) -> int:
        """Bytes of all wheels."""
        return sum(wheel.size for wheel in self.wheels)


class HubSource(_Frozen):
    """Files of a repository on Hugging Face or ModelScope."""

    kind: Literal["huggingface", "modelscope"]
    repository: RelativePath
    revision: str
    paths: Mapping[str, RelativePath]

    @property
    def gives(self) -> frozenset[str]:
        """Names of the inputs."""
        return frozenset(self.paths)

    @property
    def wheel_size(self) -> int:
        """0: files come as they are."""
        return 0

    def __str__(self) -> str:
        return f"{self.kind} {self.repository}"


Source = Annotated[PypiSource | HubSource, Field(discriminator="kind")]


class Entry(_Frozen):
    """One model.

    Attributes:
        id: Name in commands and of its folder.
        title: What it is, for people.
        role: What it does in a conversation.
        engine: What runs it; "none" for what is played and not run.
        licence: SPDX expression of the weights.
        languages: BCP 47 tags; ``mul`` for any.
        recipe: How inputs become files; a key of `recipes.RECIPES`.
        inputs: Source files by the recipe's names.
        sources: Where the inputs can be had, best first; each gives a path per input.
        files: What lies in the model's folder afterwards.
    """

    id: Name
    title: str
    role: Role
    engine: Literal["mnn", "sherpa-mnn", "none"]
    licence: str
    languages: tuple[str, ...]
    recipe: str
    inputs: Mapping[Name, File]
    sources: tuple[Source, ...]
    files: Mapping[Name, File]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for source in self.sources:
            if source.gives != frozenset(self.inputs):
                raise ValueError(
                    f"{self.id}: {source} gives {sorted(source.gives)}, not {sorted(self.inputs)}"
                )
        return self

    @property
    def installed_size(self) -> int:
        """Bytes of the files afterwards."""
        return sum(f.size for f in self.files.values())

    @property
    def input_size(self) -> int:
        """Bytes of the inputs."""
        return sum(f.size for f in self.inputs.values())


class Catalog(_Frozen):
    """All models.

    Attributes:
        mnn: Version of MNN whose converter makes the files with these digests.
        defaults: The model of each role when none is named.
        models: Entries in the order of listings.
    """

    mnn: str
    defaults: Mapping[Role, str]
    models: tuple[Entry, ...]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [entry.id for entry in self.models]
        if twice := sorted({i for i in ids if ids.count(i) > 1}):
            raise ValueError(f"models listed twice: {', '.join(twice)}")
        for role, model_id in self.defaults.items():
            if not any(e.id == model_id and e.role == role for e in self.models):
                raise ValueError(f"default of {role} is {model_id!r}, which is no {role} model here")
        return self

    def entry(self, model_id: str) -> Entry:
        """The entry of a model.

        Raises:
            InvalidInputError: There is none.
        """
        for entry in self.models:
            if entry.id == model_id:
                return entry
        raise InvalidInputError("model", model_id, f"one of {', '.join(e.id for e in self.models)}")

    def default_model(self, role: str) -> str:
        """Id of the model that fills a role when none is named.

        Raises:
            InvalidInputError: No such role.
        """
        for known, model_id in self.defaults.items():
            if known == role:
                return model_id
        raise InvalidInputError("role", role, f"one of {', '.join(self.defaults)}")


class _Additions(_Frozen):
    """A user's own catalogue: more models, other defaults."""

    defaults: Mapping[Role, str] = {}
    models: tuple[Entry, ...] = ()


def parse(text: str, additions: str = "", name: str = "catalog.toml") -> Catalog:
    """Reads a catalogue.

    Args:
        text: TOML of a whole catalogue.
        additions: TOML with ``models`` and ``defaults`` to add to it.
        name: What to call the additions in an error.

    Raises:
        ModelError: Not TOML, or a field is missing, wrong or unknown.
    """
    try:
        base = Catalog.model_validate(tomllib.loads(text))
        more = _Additions.model_validate(tomllib.loads(additions))
        return Catalog(
            mnn=base.mnn, defaults={**base.defaults, **more.defaults}, models=base.models + more.models
        )
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise ModelError(f"{name}: {error}") from error


def catalog() -> Catalog:
    """The catalogue that comes with taoxr, with what ``catalog.toml`` in its home adds.

    Raises:
        ModelError: The user's additions are wrong.
    """
    return _catalog(paths.home() / "catalog.toml")


def parse_additions(additions: str, name: str) -> Catalog:
    """The catalogue that comes with taoxr, with additions; see `parse`."""
    text = (resources.files("taoxr_models.catalog") / "catalog.toml").read_text(encoding="utf-8")
    return parse(text, additions, name)


def forget() -> None:
    """Reads the user's additions again when they are next needed."""
    _catalog.cache_clear()


@cache
def _catalog(additions: Path) -> Catalog:
    text = additions.read_text(encoding="utf-8") if additions.is_file() else ""
    return parse_additions(text, str(additions))
