"""What the client's commands share: which bridge they talk to, and how they get in."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer
from rich.console import Console

from taoxr.client.channel import Access, access_from_environment, no_answer, read_token
from taoxr.client.client import Client, connect
from taoxr.client.private_bridge import private_bridge
from taoxr.errors import ConnectionLostError, InvalidInputError, UnavailableError

# Messages go to stderr: stdout is for what was asked for.
console = Console(stderr=True, highlight=False)

_PANEL: Final = "Which bridge"
_TARGET: Final = re.compile(r"unix:.+|[^\s/]+:\d{1,5}")

Target: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="A running bridge (`taoxr serve`); otherwise one is started.",
        rich_help_panel=_PANEL,
    ),
]
TlsCa: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="PEM file: who signed the bridge's certificate; turns TLS on. [or $TAOXR_TLS_CA]",
        rich_help_panel=_PANEL,
    ),
]
TlsCert: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="PEM file: our own certificate, for mutual TLS. [or $TAOXR_TLS_CERT]", rich_help_panel=_PANEL
    ),
]
TlsKey: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="PEM file: key of our certificate. [or $TAOXR_TLS_KEY]", rich_help_panel=_PANEL),
]
TokenFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="File with the secret that the bridge wants. [or $TAOXR_TOKEN_FILE, $TAOXR_TOKEN]",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True, slots=True)
class Server:
    """The options above. Without a target a bridge is started.

    Raises:
        InvalidInputError: The target is no address, or there is none to show certificates and token to.
    """

    target: str | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    token_file: Path | None = None

    def __post_init__(self) -> None:
        if self.target is not None and not _TARGET.fullmatch(self.target):
            raise InvalidInputError("--target", self.target, "HOST:PORT, such as 127.0.0.1:50061")
        for name in ("tls_ca", "tls_cert", "tls_key", "token_file"):
            value = getattr(self, name)
            if value is not None and self.target is None:
                raise InvalidInputError(f"--{name.replace('_', '-')}", str(value), "--target beside it")

    def access(self) -> Access:
        """How to get in: the options, and what the environment says beside them.

        Raises:
            InvalidInputError: The token's file cannot be read.
        """
        access = access_from_environment()
        if self.tls_ca is not None:
            access["tls_ca"] = self.tls_ca
        if self.tls_cert is not None:
            access["tls_cert"] = self.tls_cert
        if self.tls_key is not None:
            access["tls_key"] = self.tls_key
        if self.token_file is not None:
            access["token"] = read_token("--token-file", self.token_file)
        return access


@asynccontextmanager
async def client_for(server: Server) -> AsyncGenerator[Client]:
    """A client of a bridge, or of one that is started for the length of the block.

    Raises:
        UnavailableError: The bridge cannot be reached, or has gone; says what to do.
    """
    try:
        if server.target is not None:
            async with connect(server.target, **server.access()) as client:
                yield client
            return
        with console.status("starting the bridge and its models …") as status:
            async with private_bridge() as own, connect(own) as client:
                status.stop()
                yield client
    except ConnectionLostError as error:
        raise UnavailableError(no_answer(server.target, error)) from error
