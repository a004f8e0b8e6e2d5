"""Bridges that let themselves be found on the local network: DNS-SD over multicast DNS.

A service of the type `SERVICE` (RFC 6763), whose TXT record holds ``version`` and ``tls`` (yes or no): any
client can find it. The work is done by the package `zeroconf` of the extra ``discovery``. It is under the
LGPL (2.1 or later), so nothing else needs it, and only the functions here import it.
"""

import asyncio
import importlib
import ipaddress
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import psutil

from taoxr import __version__
from taoxr.errors import InvalidInputError, UnavailableError

SERVICE: Final = "_taoxr._tcp.local."
"""The type of the service."""
_RESOLVE_MS: Final = 1500
_MAX_LABEL_BYTES: Final = 63  # RFC 1035


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A bridge that announces itself.

    Attributes:
        name: Its name, unique in the network.
        target: For `taoxr.client.connect`: "host:port".
        version: Of taoxr; "" when it does not say.
        tls: Whether it wants TLS.
    """

    name: str
    target: str
    version: str
    tls: bool


def check(host: str) -> None:
    """Finds out early whether `announce` can work.

    Raises:
        UnavailableError: The extra is missing.
        InvalidInputError: The host is a name and not an address, or no network is there.
    """
    _libraries()
    _addresses(host)


@asynccontextmanager
async def announce(host: str, port: int, *, tls: bool) -> AsyncGenerator[str]:
    """Lets a bridge be found for the length of the block.

    Args:
        host: Address that it listens on; 0.0.0.0 and :: are all addresses of this machine. A loopback address
            is announced on the loopback interface only.
        port: Its port.
        tls: Whether it wants TLS.

    Yields:
        The name under which it is found; another one than its own when that was taken.

    Raises:
        UnavailableError: The extra is missing, or the network takes no multicast.
        InvalidInputError: The host is a name and not an address, or no network is there.
    """
    library, library_async = _libraries()
    addresses = _addresses(host)
    only = [a for a in addresses if a == "127.0.0.1"]
    machine = socket.gethostname().partition(".")[0] or "taoxr"
    label = f"{machine[: _MAX_LABEL_BYTES - 6]}-{port}"
    info = library.ServiceInfo(
        SERVICE,
        f"{label}.{SERVICE}",
        port=port,
        properties={"version": __version__, "tls": "yes" if tls else "no"},
        server=f"{label}.local.",
        parsed_addresses=addresses,
    )
    try:
        responder = library_async.AsyncZeroconf(interfaces=only or library.InterfaceChoice.All)
    except OSError as error:
        raise UnavailableError(f"the network takes no announcements: {error}") from error
    try:
        await (await responder.async_register_service(info, allow_name_change=True))
        yield info.name.removesuffix(f".{SERVICE}")
    finally:
        # Says goodbye first, so that nobody keeps a name that leads nowhere.
        await responder.async_unregister_all_services()
        await responder.async_close()


async def find_servers(seconds: float = 2.0) -> list[FoundServer]:
    """The bridges that announce themselves, by name.

    Args:
        seconds: How long to listen.

    Raises:
        UnavailableError: The extra is missing, or the network takes no multicast.
    """
    library, library_async = _libraries()
    names: set[str] = set()

    def heard(*, name: str, state_change: Any, **_: Any) -> None:
        (names.discard if state_change is library.ServiceStateChange.Removed else names.add)(name)

    try:
        asker = library_async.AsyncZeroconf(interfaces=library.InterfaceChoice.All)
    except OSError as error:
        raise UnavailableError(f"the network takes no multicast: {error}") from error
    try:
        browser = library_async.AsyncServiceBrowser(asker.zeroconf, [SERVICE], handlers=[heard])
        await asyncio.sleep(seconds)
        infos = [library_async.AsyncServiceInfo(SERVICE, name) for name in sorted(names)]
        answered = await asyncio.gather(*(i.async_request(asker.zeroconf, _RESOLVE_MS) for i in infos))
        await browser.async_cancel()
    finally:
        await asker.async_close()
    return [_found(info) for info, known in zip(infos, answered, strict=True) if known and info.port]


def _found(info: Any) -> FoundServer:
    texts: dict[str, str | None] = info.decoded_properties
    # Where several addresses lead to one machine, an IPv4 address needs no interface beside it.
    address = min(info.parsed_scoped_addresses(), key=lambda a: (":" in a, "%" in a, a))
    host = f"[{address}]" if ":" in address else address
    return FoundServer(
        name=str(info.name).removesuffix(f".{SERVICE}"),
        target=f"{host}:{info.port}",
        version=texts.get("version") or "",
        tls=texts.get("tls") == "yes",
    )


def _libraries() -> tuple[Any, Any]:
    try:
        return importlib.import_module("zeroconf"), importlib.import_module("zeroconf.asyncio")
    except ModuleNotFoundError as error:
        raise UnavailableError(
            "finding bridges on the network needs the extra `discovery`: pip install 'taoxr[discovery]'"
        ) from error


def _addresses(host: str) -> Sequence[str]:
    """The addresses under which others reach a host that is listened on."""
    if host == "localhost":
        return ["127.0.0.1"]
    try:
        address = ipaddress.ip_address(host)
    except ValueError as error:
        raise InvalidInputError("--host", host, "an IP address, to be announced") from error
    if address.is_loopback:
        return ["127.0.0.1"]
    if not address.is_unspecified:
        return [str(address)]
    found: list[str] = []
    for own in psutil.net_if_addrs().values():
        for entry in own:
            with suppress(ValueError):  # a hardware address
                known = ipaddress.ip_address(entry.address.partition("%")[0])
                usable = address.version == 6 or known.version == 4
                if usable and not (known.is_loopback or known.is_link_local):
                    found.append(str(known))
    if not found:
        raise InvalidInputError("--host", host, "an address that others reach; this machine has none")
    return found
