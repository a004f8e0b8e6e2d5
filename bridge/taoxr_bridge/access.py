"""Who may reach the bridge: its address, its encryption, its token."""

import ipaddress
import ssl

import grpc
import structlog

from taoxr import discovery
from taoxr.client.channel import read_token
from taoxr.errors import InvalidInputError
from taoxr_bridge.settings import Settings

_MIN_TOKEN_CHARS = 16


def is_loopback(host: str) -> bool:
    """True when only this machine reaches the address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, of which nobody knows where it leads
        return False


def check_host(settings: Settings) -> None:
    """Refuses to listen unencrypted where other machines reach it, unless that is asked for.

    Raises:
        InvalidInputError: The host is not a loopback address and neither TLS nor `insecure` is set.
    """
    if is_loopback(settings.host):
        return
    if settings.tls_cert is None:
        if not settings.insecure:
            raise InvalidInputError(
                "--host",
                settings.host,
                "a loopback address, or --tls-cert and --tls-key; --insecure allows it without encryption",
            )
        structlog.get_logger().warning("whoever is on the network can listen in", host=settings.host)
    if settings.tls_client_ca is None and settings.token is None and settings.token_file is None:
        structlog.get_logger().warning("whoever reaches this address may talk", host=settings.host)


def check_announcement(settings: Settings) -> None:
    """Refuses to announce what nobody else can reach, unless that is asked for.

    Raises:
        InvalidInputError: The host is a loopback address and `announce_loopback` is not set, or no address.
        UnavailableError: The extra `discovery` is missing.
    """
    if not settings.announce:
        return
    if is_loopback(settings.host) and not settings.announce_loopback:
        raise InvalidInputError(
            "--announce",
            settings.host,
            "--host with an address that others reach; --announce-loopback allows this one",
        )
    discovery.check(settings.host)


def server_credentials(settings: Settings) -> grpc.ServerCredentials | None:
    """What the server proves itself with and wants from clients; None without TLS.

    Raises:
        InvalidInputError: A file is missing, or no certificate or key, or they do not fit together.
    """
    cert, key, client_ca = settings.tls_cert, settings.tls_key, settings.tls_client_ca
    if cert is None or key is None:
        for name, path in (("--tls-cert", cert), ("--tls-key", key), ("--tls-client-ca", client_ca)):
            if path is not None:
                raise InvalidInputError(name, str(path), "--tls-cert and --tls-key with it")
        return None
    # gRPC would take anything here and then fail every handshake; Python's ssl says what is wrong.
    probe = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        probe.load_cert_chain(cert, key, password=lambda: b"")
    except (OSError, ValueError) as error:
        expected = f"an unencrypted PEM key that belongs to the certificate {cert} ({error})"
        raise InvalidInputError("--tls-key", str(key), expected) from error
    if client_ca is not None:
        try:
            probe.load_verify_locations(client_ca)
        except (OSError, ValueError) as error:
            expected = f"a PEM file with certificates ({error})"
            raise InvalidInputError("--tls-client-ca", str(client_ca), expected) from error
    roots = None if client_ca is None else client_ca.read_bytes()
    pair = (key.read_bytes(), cert.read_bytes())
    return grpc.ssl_server_credentials([pair], roots, require_client_auth=client_ca is not None)


def required_token(settings: Settings) -> str | None:
    """The token that callers must send, or None; its text appears in no error and no log.

    Raises:
        InvalidInputError: The file cannot be read, or the token is too short to be a secret.
    """
    if settings.token_file is not None:
        token, field = read_token("--token-file", settings.token_file), "--token-file"
    elif settings.token is not None:
        token, field = settings.token.get_secret_value(), "TAOXR_BRIDGE_TOKEN"
    else:
        return None
    if len(token) < _MIN_TOKEN_CHARS or not (token.isascii() and token.isprintable()):
        raise InvalidInputError(
            field, f"{len(token)} characters", f"a secret of at least {_MIN_TOKEN_CHARS} ASCII characters"
        )
    return token
