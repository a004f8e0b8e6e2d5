"""The shape of ``scene.json``; see docs/nnr-format.md.

Checks what can be checked without tensors; each node kind checks its own attributes and tensors.
"""

import json
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from taoxr import arkit
from taoxr_runtime.nnr.errors import NnrFormatError

MAX_BONES: Final = 255
MAX_SPLATS: Final = 1_000_000

Precision = Literal["fp32", "fp16", "int8"]
DType = Literal["float32", "float16", "int32", "int16", "int8", "uint16", "uint8"]
# No control characters: these texts end up in terminals and logs.
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
Text = Annotated[str, Field(max_length=10_000, pattern=r"^[^\x00-\x09\x0b-\x1f\x7f-\x9f]*$")]
Shape = Annotated[tuple[Annotated[int, Field(ge=0, le=1 << 31)], ...], Field(max_length=4)]
T = TypeVar("T", bound="Strict")
Vector = tuple[float, float, float]


class Strict(BaseModel):
    """No unknown keys, no conversions between types, finite numbers only."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class EyeBones(Strict):
    """The bones that turn the eyes."""

    left: Name
    right: Name


class Rig(Strict):
    """What drives the avatar: 52 expression coefficients and one rotation per bone.

    Attributes:
        space: Coefficient space of ``blendshapes``.
        blendshapes: Their names in the order of the input ``expression``.
        bones: Names in the order of the input ``pose``.
        eye_bones: The bones of the eyeballs.
        head_bone: The bone of the head.
    """

    space: Literal["arkit52"]
    blendshapes: tuple[Name, ...]
    bones: Annotated[tuple[Name, ...], Field(min_length=1, max_length=MAX_BONES)]
    eye_bones: EyeBones
    head_bone: Name

    @model_validator(mode="after")
    def _names(self) -> Self:
        if self.blendshapes != arkit.NAMES:
            raise ValueError("blendshapes must be the 52 ARKit names in the order of taoxr.arkit.NAMES")
        if len(set(self.bones)) != len(self.bones):
            raise ValueError("bones must have different names")
        for bone in (self.eye_bones.left, self.eye_bones.right, self.head_bone):
            if bone not in self.bones:
                raise ValueError(f"{bone!r} is not one of the bones")
        return self


class Landmarks(Strict):
    """Places at rest, model frame, metres.

    Attributes:
        height: Height of the avatar above the ground.
        eye_left: Centre of its left eye.
        eye_right: Centre of its right eye.
        mouth: Centre of the lips.
        head_center: Centre of the head.
    """

    height: Annotated[float, Field(gt=0)]
    eye_left: Vector
    eye_right: Vector
    mouth: Vector
    head_center: Vector


class InputSpec(Strict):
    """A value that the caller sets."""

    name: Name
    shape: Shape
    dtype: Literal["float32"]


class NodeSpec(Strict):
    """One step of the graph.

    Attributes:
        kind: One of the node kinds.
        inputs: Names of values, in the kind's order.
        outputs: Likewise.
        attributes: As the kind has them.
        tensors: Entries by the kind's keys.
        precision: Of the weights of the MNN model that is made from the tensors.
        model: Entry ``models/*.mnn`` of a node of the kind ``model``.
    """

    kind: Name
    inputs: tuple[Name, ...]
    outputs: tuple[Name, ...]
    attributes: dict[str, Any]
    tensors: dict[str, Name]
    precision: Precision = "fp32"
    model: Name | None = None


class TensorSpec(Strict):
    """What an entry ``tensors/*.npy`` must hold; ``sha256`` is of the whole entry."""

    dtype: DType
    shape: Shape
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ModelSpec(Strict):
    """An entry ``models/*.mnn``; ``sha256`` is of its bytes."""

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class SceneSpec(Strict):
    """The whole of ``scene.json``; by the entry ``importance`` splats are left out, see `nnr.thinning`."""

    format: Literal["nnr"]
    version: Literal[1]
    name: Name
    licence: Text
    credits: Text | tuple[Text, ...]
    rig: Rig
    landmarks: Landmarks
    inputs: Annotated[tuple[InputSpec, ...], Field(max_length=100)]
    nodes: Annotated[tuple[NodeSpec, ...], Field(min_length=1, max_length=100)]
    tensors: dict[Name, TensorSpec]
    importance: Name | None = None
    models: dict[Name, ModelSpec] = Field(default_factory=dict[str, ModelSpec])


def parse(model: type[T], data: bytes | dict[str, Any], where: str) -> T:
    """Validates JSON text or an object that came from JSON.

    Args:
        model: What it should be.
        data: JSON bytes, or a dictionary as JSON gives it.
        where: Prefix of the field in an error.

    Raises:
        NnrFormatError: The first thing that is wrong.
    """
    try:
        if isinstance(data, bytes):
            _refuse_repeated_keys(data, where)
            return model.model_validate_json(data)
        # JSON has no tuples, so lists stand for them: only JSON mode accepts that when strict.
        return model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
        raise NnrFormatError(f"{where}{path}", first["msg"]) from error


def _refuse_repeated_keys(data: bytes, where: str) -> None:
    """JSON readers disagree on which of two equal keys counts."""

    def check(pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            repeated = next(key for key in keys if keys.count(key) > 1)
            raise NnrFormatError(where, f"the key {repeated[:100]!r} occurs twice in one object")

    try:
        json.loads(data, object_pairs_hook=check)
    except (ValueError, RecursionError) as error:
        raise NnrFormatError(where, f"is not JSON: {error}") from error
