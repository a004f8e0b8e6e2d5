"""The one exception of a bad splat file."""

from taoxr.errors import TaoxrError


class SplatFileError(TaoxrError):
    """A splat file breaks its format, or holds what we cannot use.

    Attributes:
        field: Where: the file's name, or a part of it such as ``vertex.opacity``.
        problem: What is wrong there and what is expected.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem
