"""How weights are stored, as options of MNN's converter."""

from dataclasses import dataclass
from typing import Final, Literal

from taoxr.errors import InvalidInputError

Precision = Literal["fp32", "fp16", "int8", "int4"]
_BITS: Final = {"int8": 8, "int4": 4}


@dataclass(frozen=True, slots=True)
class Storage:
    """How weights are stored.

    Attributes:
        precision: Type of a weight.
        block: Weights of a row that share a scale and a zero; 0: the whole row.
    """

    precision: Precision = "fp32"
    block: int = 0

    def __post_init__(self) -> None:
        if self.block and self.precision not in _BITS:
            raise InvalidInputError("--block", self.block, f"none with {self.precision}")
        if self.block and (self.block < 16 or self.block % 16):
            raise InvalidInputError("--block", self.block, "a multiple of 16")

    @property
    def bits(self) -> int:
        """Bits of a quantised weight; 0 for floats."""
        return _BITS.get(self.precision, 0)

    @property
    def options(self) -> list[str]:
        """The converter's options."""
        if self.precision == "fp16":
            return ["--fp16"]
        if not self.bits:
            return []
        block = ["--weightQuantBlock", str(self.block)] if self.block else []
        # With a zero beside the scale: int4 without one loses too much.
        return ["--weightQuantBits", str(self.bits), "--weightQuantAsymmetric", *block]
