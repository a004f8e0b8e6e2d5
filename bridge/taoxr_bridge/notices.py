"""Notices: what a conversation survives but its client should know."""

from google.rpc import (  # pyright: ignore[reportMissingTypeStubs]
    code_pb2,
    error_details_pb2,
    status_pb2,
)

from taoxr.rpc import DOMAIN


def notice(reason: str, text: str, **metadata: str) -> status_pb2.Status:
    """That something is short (``RESOURCE_EXHAUSTED``).

    Args:
        reason: For programs.
        text: For people.
        metadata: Figures for programs.
    """
    status = status_pb2.Status(code=code_pb2.RESOURCE_EXHAUSTED, message=text)
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=metadata))
    return status
