"""What goes wrong with `.nnr` files."""

from taoxr.errors import TaoxrError


class NnrFormatError(TaoxrError):
    """A `.nnr` file breaks its format.

    Attributes:
        field: Where: an entry, or a path in ``scene.json`` such as ``nodes[2].tensors.triangles``.
        problem: What is wrong there and what is expected.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class ThinningError(TaoxrError):
    """A scene cannot be made smaller by leaving out splats."""
