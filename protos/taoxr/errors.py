"""Exceptions that cross the boundaries between parts."""


class TaoxrError(Exception):
    """Base of every error that taoxr raises on purpose; its text says what to do."""


class InvalidInputError(TaoxrError, ValueError):
    """An input has a wrong value.

    Attributes:
        field: Name of the field or option.
        value: What was given.
        expected: What would be right.
    """

    def __init__(self, field: str, value: object, expected: str) -> None:
        super().__init__(f"{field}: got {value!r}, expected {expected}")
        self.field = field
        self.value = value
        self.expected = expected


class ModelError(TaoxrError):
    """A model file is missing, damaged, or the engine refused it."""


class NotFoundError(TaoxrError):
    """Something that was asked for by its name does not exist, or no longer."""


class UnavailableError(TaoxrError):
    """A process or service that is needed is not there."""


class ConnectionLostError(UnavailableError):
    """The other side cannot be reached, or the connection to it broke; the text is gRPC's own."""


class BusyError(UnavailableError):
    """Something that is needed serves another call now; the same request works later.

    Attributes:
        retry_after_s: Seconds after which a new try makes sense.
    """

    def __init__(self, text: str, retry_after_s: float) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s


class AccessError(TaoxrError):
    """The caller is not let in: its token is missing or wrong."""


class StalledError(TaoxrError):
    """The other side has stopped reading what is sent to it."""
