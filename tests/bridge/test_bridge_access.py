"""Who is let in: TLS, client certificates, tokens, addresses; what health and reflection say."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from taoxr.client import ConversationOptions, State, TurnState, connect, private_bridge
from taoxr.client.channel import access_from_environment, no_answer, open_channel
from taoxr.errors import AccessError, ConnectionLostError, InvalidInputError, UnavailableError
from taoxr_bridge.access import check_host, required_token, server_credentials
from taoxr_bridge.server import bridge
from taoxr_bridge.settings import Settings

pytestmark = pytest.mark.process

TOKEN = "a-secret-of-many-letters"
SERVICES = ("", "taoxr.v1.ConversationService", "taoxr.v1.AnimationService")


class Files:
    """PEM files of an authority, the server's certificate and a client's."""

    def __init__(self, folder: Path) -> None:
        authority = trustme.CA()
        self.ca, self.cert, self.key = folder / "ca.pem", folder / "cert.pem", folder / "key.pem"
        self.client_cert, self.client_key = folder / "client.pem", folder / "client-key.pem"
        authority.cert_pem.write_to_path(self.ca)
        for names, cert, key in (
            (("localhost", "127.0.0.1"), self.cert, self.key),
            (("headset@example.org",), self.client_cert, self.client_key),
        ):
            issued = authority.issue_cert(*names)
            cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
            issued.private_key_pem.write_to_path(key)


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("pem"))


@asynccontextmanager
async def serving(fakes: Any, **settings: Any) -> AsyncGenerator[str]:
    async with AsyncExitStack() as stack:
        stack.push_async_callback(fakes.stop_all)
        for role in fakes.targets:
            await fakes.start(role)
        chosen = Settings(port=0, worker_wait_s=30.0, **settings)
        yield await stack.enter_async_context(bridge(chosen, fakes.targets))


async def answer(client: Any) -> str:
    """The answer in a conversation, so that a stream in both directions is tried."""
    async with client.converse(ConversationOptions()) as conversation:
        await conversation.send_text("hello")
        async for event in conversation:
            if isinstance(event, TurnState) and event.state is State.DONE:
                return event.heard_text
    raise AssertionError("no answer")


async def test_tls_needs_the_right_authority(fakes, pem, tmp_path):
    other = Files(tmp_path)
    async with serving(fakes, tls_cert=pem.cert, tls_key=pem.key) as target:
        async with connect(target, tls_ca=pem.ca) as client:
            assert await answer(client) == "You said hello."
        async with connect(target, tls_ca=other.ca) as client:
            with pytest.raises(UnavailableError):
                await client.server_info()
        async with connect(target) as client:
            with pytest.raises(UnavailableError):
                await client.server_info()


async def test_the_message_says_what_is_wrong_with_a_connection(fakes, pem, tmp_path):
    other = Files(tmp_path)

    async def told(target: str, **access: Any) -> str:
        async with connect(target, **access) as client:
            with pytest.raises(ConnectionLostError) as caught:
                await client.server_info()
        return no_answer(target, caught.value)

    own = {"tls_cert": pem.cert, "tls_key": pem.key}
    async with serving(fakes, **own, tls_client_ca=pem.ca) as target:
        assert "it wants TLS" in await told(target)
        assert "also a certificate of ours" in await told(target, tls_ca=pem.ca)
        assert "is not from --tls-ca" in await told(target, tls_ca=other.ca)
    assert "is `taoxr serve` running there?" in await told(target, tls_ca=pem.ca)
    async with serving(fakes) as target:
        assert "does not use TLS" in await told(target, tls_ca=pem.ca)
    assert "no host of the name" in await told("nowhere.invalid:50061")


async def test_mutual_tls_lets_only_known_clients_in(fakes, pem, tmp_path):
    other = Files(tmp_path)
    async with serving(fakes, tls_cert=pem.cert, tls_key=pem.key, tls_client_ca=pem.ca) as target:
        known = {"tls_cert": pem.client_cert, "tls_key": pem.client_key}
        async with connect(target, tls_ca=pem.ca, **known) as client:
            assert await answer(client) == "You said hello."
        stranger = {"tls_cert": other.client_cert, "tls_key": other.client_key}
        for given in ({}, stranger):
            async with connect(target, tls_ca=pem.ca, **given) as client:
                with pytest.raises(UnavailableError):
                    await client.server_info()


@pytest.mark.parametrize("tls", [False, True])
async def test_token_is_wanted_by_every_call_but_health(fakes, pem, tmp_path, tls, capfd):
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    own, ca = ({"tls_cert": pem.cert, "tls_key": pem.key}, pem.ca) if tls else ({}, None)
    async with serving(fakes, token_file=file, **own) as target:
        async with connect(target, tls_ca=ca, token=TOKEN) as client:
            assert await answer(client) == "You said hello."
            assert len((await client.say("hello")).pcm)
            assert (await client.server_info()).active_conversations == 0
        for wrong in (None, "", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper()):
            async with connect(target, tls_ca=ca, token=wrong) as client:
                with pytest.raises(AccessError):
                    await client.server_info()
                with pytest.raises(AccessError):
                    await answer(client)
                with pytest.raises(AccessError):
                    await client.say("hello")
        async with open_channel(target, tls_ca=ca) as channel:
            assert set((await health_of(channel)).values()) == {health_pb2.HealthCheckResponse.SERVING}
            assert await reflected(channel) is grpc.StatusCode.UNAUTHENTICATED
    assert TOKEN not in "".join(capfd.readouterr())


async def test_token_from_the_environment_is_never_shown(monkeypatch):
    monkeypatch.setenv("TAOXR_BRIDGE_TOKEN", TOKEN)
    settings = Settings()
    assert required_token(settings) == TOKEN
    assert TOKEN not in repr(settings) + str(settings.model_dump())
    with pytest.raises(InvalidInputError, match="at least 16") as raised:
        required_token(Settings(token="short-secret"))
    assert "short-secret" not in str(raised.value)
    assert required_token(Settings(token=None)) is None


async def health_of(channel: aio.Channel) -> dict[str, int]:
    stub = health_pb2_grpc.HealthStub(channel)
    return {name: (await stub.Check(health_pb2.HealthCheckRequest(service=name))).status for name in SERVICES}


async def reflected(channel: aio.Channel) -> set[str] | grpc.StatusCode:
    """Names of the services that reflection lists, or the status of its refusal."""
    code = grpc.StatusCode.INTERNAL
    # gRPC says INTERNAL where its request meets a stream that is refused already.
    while code is grpc.StatusCode.INTERNAL:
        call = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(
            iter([reflection_pb2.ServerReflectionRequest(list_services="")])
        )
        try:
            return {s.name async for r in call for s in r.list_services_response.service}
        except aio.AioRpcError as error:
            code = error.code()
    return code


async def test_health_is_told_per_service(fakes):
    states = health_pb2.HealthCheckResponse
    async with serving(fakes) as target, open_channel(target) as channel:
        assert set((await health_of(channel)).values()) == {states.SERVING}
        stub = health_pb2_grpc.HealthStub(channel)
        watch = stub.Watch(health_pb2.HealthCheckRequest(service="taoxr.v1.ConversationService"))
        updates = aiter(watch)
        assert (await anext(updates)).status == states.SERVING
        await fakes.stop("llm")
        assert (await anext(updates)).status == states.NOT_SERVING
        assert await health_of(channel) == {
            "": states.NOT_SERVING,
            "taoxr.v1.ConversationService": states.NOT_SERVING,
            "taoxr.v1.AnimationService": states.SERVING,
        }
        with pytest.raises(aio.AioRpcError) as raised:
            await stub.Check(health_pb2.HealthCheckRequest(service="no.such.Service"))
        assert raised.value.code() is grpc.StatusCode.NOT_FOUND
        watch.cancel()


async def test_reflection_can_be_switched_off(fakes):
    async with serving(fakes) as target, open_channel(target) as channel:
        names = await reflected(channel)
        assert isinstance(names, set)
        assert "taoxr.v1.ConversationService" in names
    async with serving(fakes, reflection=False) as target, open_channel(target) as channel:
        assert await reflected(channel) is grpc.StatusCode.UNIMPLEMENTED


async def test_reflection_is_off_where_others_reach(fakes, pem):
    async with serving(fakes, host="0.0.0.0", tls_cert=pem.cert, tls_key=pem.key) as target:
        local = target.replace("0.0.0.0", "127.0.0.1")
        async with open_channel(local, tls_ca=pem.ca) as channel:
            assert await reflected(channel) is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org"])
def test_other_addresses_need_tls_or_a_flag(host, pem):
    with pytest.raises(InvalidInputError, match="--insecure"):
        check_host(Settings(host=host))
    check_host(Settings(host=host, insecure=True))
    check_host(Settings(host=host, tls_cert=pem.cert, tls_key=pem.key))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_nothing(host):
    check_host(Settings(host=host))


def test_wrong_files_are_named(pem, tmp_path):
    junk = tmp_path / "junk.pem"
    junk.write_text("no certificate")
    missing = tmp_path / "missing.pem"
    for field, given in (
        ("--tls-cert", {"tls_cert": pem.cert}),
        ("--tls-key", {"tls_key": pem.key}),
        ("--tls-client-ca", {"tls_client_ca": pem.ca}),
        ("--tls-key", {"tls_cert": pem.cert, "tls_key": pem.client_key}),
        ("--tls-key", {"tls_cert": junk, "tls_key": pem.key}),
        ("--tls-key", {"tls_cert": pem.cert, "tls_key": missing}),
        ("--tls-client-ca", {"tls_cert": pem.cert, "tls_key": pem.key, "tls_client_ca": junk}),
    ):
        with pytest.raises(InvalidInputError) as raised:
            server_credentials(Settings(**given))
        assert raised.value.field == field
    with pytest.raises(InvalidInputError, match="--token-file"):
        required_token(Settings(token_file=missing))


def test_client_takes_its_access_from_the_environment(monkeypatch, pem, tmp_path):
    for name in [name for name in os.environ if name.startswith(("TAOXR_TLS", "TAOXR_TOKEN"))]:
        monkeypatch.delenv(name)
    assert access_from_environment() == {}
    monkeypatch.setenv("TAOXR_TLS_CA", str(pem.ca))
    monkeypatch.setenv("TAOXR_TOKEN", TOKEN)
    assert access_from_environment() == {"tls_ca": pem.ca, "token": TOKEN}
    (tmp_path / "token").write_text("another-secret\n")
    monkeypatch.setenv("TAOXR_TOKEN_FILE", str(tmp_path / "token"))
    assert access_from_environment()["token"] == "another-secret"


async def test_a_client_certificate_comes_with_its_key(pem):
    with pytest.raises(InvalidInputError, match="together"):
        async with connect("localhost:1", tls_ca=pem.ca, tls_cert=pem.client_cert):
            pass


async def test_a_private_bridge_stays_private(fakes, monkeypatch, pem):
    """Whatever the environment says about a bridge for others, it listens here, in plain, for its owner."""
    for name, value in (("HOST", "0.0.0.0"), ("INSECURE", "1"), ("TLS_CERT", pem.cert), ("TOKEN", TOKEN)):
        monkeypatch.setenv(f"TAOXR_BRIDGE_{name}", str(value))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(fakes.stop_all)
        for role in fakes.targets:
            await fakes.start(role)
        workers = [f"--worker={role}={target}" for role, target in fakes.targets.items()]
        target = await stack.enter_async_context(private_bridge(arguments=workers))
        assert target.startswith("127.0.0.1:")
        async with connect(target) as client:
            assert (await client.server_info()).active_conversations == 0


async def test_the_command_takes_certificates_and_token(fakes, pem, tmp_path):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(fakes.stop_all)
        for role in fakes.targets:
            await fakes.start(role)
        workers = [f"--worker={role}={target}" for role, target in fakes.targets.items()]
        options = [f"--tls-cert={pem.cert}", f"--tls-key={pem.key}", f"--tls-client-ca={pem.ca}"]
        log = tmp_path / "log"
        target = await stack.enter_async_context(
            private_bridge(arguments=[*workers, *options, f"--token-file={file}", "--no-reflection"], log=log)
        )
        own = {"tls_ca": pem.ca, "tls_cert": pem.client_cert, "tls_key": pem.client_key}
        async with connect(target, **own, token=TOKEN) as client:
            assert await answer(client) == "You said hello."
        async with connect(target, **own, token="another-token-of-length") as client:
            with pytest.raises(AccessError):
                await client.server_info()
        async with open_channel(target, **own, token=TOKEN) as channel:
            assert await reflected(channel) is grpc.StatusCode.UNIMPLEMENTED
    assert TOKEN not in log.read_text()
    assert "another-token" not in log.read_text()


async def test_health_while_a_model_loads(fakes):
    states = health_pb2.HealthCheckResponse
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with AsyncExitStack() as stack:
        stack.push_async_callback(fakes.stop_all)
        for role in ("llm", "tts", "a2bs"):
            await fakes.start(role)

        async def run() -> None:
            async with bridge(Settings(port=port), fakes.targets):
                ready.set()
                await stop.wait()

        ready, stop = asyncio.Event(), asyncio.Event()
        running = asyncio.create_task(run())
        channel = await stack.enter_async_context(open_channel(f"127.0.0.1:{port}"))
        watch = health_pb2_grpc.HealthStub(channel).Watch(
            health_pb2.HealthCheckRequest(service="taoxr.v1.AnimationService"), wait_for_ready=True
        )
        async for update in watch:
            if update.status == states.SERVING:
                break
        health = await health_of(channel)
        assert health["taoxr.v1.ConversationService"] == health[""] == states.NOT_SERVING
        assert not ready.is_set()
        await fakes.start("ear")
        await ready.wait()
        assert set((await health_of(channel)).values()) == {states.SERVING}
        watch.cancel()
        stop.set()
        await running
