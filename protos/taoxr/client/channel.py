"""Channels to a bridge: plain or TLS, with or without a token."""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypedDict, cast

import grpc
from grpc import aio

from taoxr.errors import ConnectionLostError, InvalidInputError
from taoxr.rpc import CHANNEL_OPTIONS, token_metadata


class Access(TypedDict, total=False):
    """Keyword arguments of `taoxr.client.connect` that say how to get in."""

    tls_ca: Path | None
    tls_cert: Path | None
    tls_key: Path | None
    token: str | None


_FILES: Final = ("tls_ca", "tls_cert", "tls_key")


def access_from_environment() -> Access:
    """What ``TAOXR_TLS_CA``, ``TAOXR_TLS_CERT``, ``TAOXR_TLS_KEY`` and ``TAOXR_TOKEN`` say.

    ``TAOXR_TOKEN_FILE`` may name a file with the token instead.

    Raises:
        InvalidInputError: The token's file cannot be read.
    """
    access = Access()
    for name in _FILES:
        if value := os.environ.get(f"TAOXR_{name.upper()}"):
            access[name] = Path(value)
    if file := os.environ.get("TAOXR_TOKEN_FILE"):
        access["token"] = read_token("TAOXR_TOKEN_FILE", Path(file))
    elif token := os.environ.get("TAOXR_TOKEN"):
        access["token"] = token
    return access


def read_token(field: str, path: Path) -> str:
    """The token in a file; no error shows it.

    Args:
        field: Name of the option or variable, for errors.
        path: The file.

    Raises:
        InvalidInputError: The file cannot be read, or holds no token.
    """
    try:
        token = _read(field, path).decode("ascii").strip()
    except UnicodeDecodeError:  # its text would hold a part of the file
        raise InvalidInputError(field, str(path), "a file of ASCII text") from None
    if not token:
        raise InvalidInputError(field, str(path), "a file that holds a token")
    return token


def no_answer(target: str | None, error: ConnectionLostError) -> str:
    """What to tell a user of a connection that failed, since gRPC's own words say little to most.

    Args:
        target: Where to; None is a bridge that the program started for itself.
        error: What failed.
    """
    text = str(error)
    if target is None:
        return "the bridge has stopped"
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return f"the certificate of {target} is not from --tls-ca (TAOXR_TLS_CA), or not for this name"
    if "WRONG_VERSION_NUMBER" in text:
        return f"the bridge at {target} does not use TLS: leave out --tls-ca (TAOXR_TLS_CA)"
    if "lookup failed" in text:
        return f"there is no host of the name in {target}"
    if not text.startswith("failed to connect"):
        return f"the connection to {target} is lost"
    if "Socket closed" in text:
        return (
            f"the bridge at {target} closes the connection: it wants TLS (--tls-ca, TAOXR_TLS_CA), "
            "or also a certificate of ours (--tls-cert, --tls-key)"
        )
    return f"no bridge answers at {target} (is `taoxr serve` running there?)"


@asynccontextmanager
async def open_channel(
    target: str,
    *,
    tls_ca: Path | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    token: str | None = None,
) -> AsyncGenerator[aio.Channel]:
    """A channel to `target` ("host:port") for the length of the block; see `taoxr.client.connect`.

    Raises:
        InvalidInputError: A file cannot be read, or a certificate comes without its key.
    """
    credentials = _credentials(tls_ca, tls_cert, tls_key)
    if credentials is None:
        channel = aio.insecure_channel(target, options=CHANNEL_OPTIONS)
    else:
        channel = aio.secure_channel(target, credentials, options=CHANNEL_OPTIONS)
    async with channel:
        yield channel if token is None else cast(aio.Channel, _TokenChannel(channel, token))


def _credentials(
    tls_ca: Path | None, tls_cert: Path | None, tls_key: Path | None
) -> grpc.ChannelCredentials | None:
    if tls_cert is None and tls_key is None:
        return None if tls_ca is None else grpc.ssl_channel_credentials(_read("tls_ca", tls_ca))
    if tls_cert is None or tls_key is None or tls_ca is None:
        raise InvalidInputError(
            "tls_cert", tls_cert and str(tls_cert), "tls_ca, tls_cert and tls_key together, or only tls_ca"
        )
    return grpc.ssl_channel_credentials(
        _read("tls_ca", tls_ca), _read("tls_key", tls_key), _read("tls_cert", tls_cert)
    )


def _read(field: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInputError(field, str(path), f"a readable file ({error})") from error


class _TokenChannel:
    """The part of a channel that stubs use; adds the token to every call.

    gRPC's call credentials would do the same, but only over TLS, and its interceptors for streams hand
    out another kind of call.
    """

    def __init__(self, channel: aio.Channel, token: str) -> None:
        self._channel = channel
        self._metadata = token_metadata(token)

    def __getattr__(self, name: str) -> Any:
        make: Callable[..., Callable[..., Any]] = getattr(self._channel, name)
        if name not in ("unary_unary", "unary_stream", "stream_unary", "stream_stream"):
            return make

        def with_token(*args: Any, **kwargs: Any) -> Callable[..., Any]:
            call = make(*args, **kwargs)

            def start(*args: Any, metadata: Any = (), **kwargs: Any) -> Any:
                return call(*args, metadata=(*(metadata or ()), *self._metadata), **kwargs)

            return start

        return with_token
