"""Errors keep their meaning across gRPC, and the token is asked for."""

from collections.abc import AsyncIterator

import grpc
import grpc.aio
import pytest
from google.rpc import error_details_pb2, status_pb2
from hypothesis import given
from hypothesis import strategies as st

from taoxr import errors, rpc

pytestmark = pytest.mark.unit

TEXT = st.text(st.characters(codec="utf-8"), max_size=60)


@given(TEXT, TEXT, TEXT)
def test_invalid_input_survives_the_trip(field: str, value: str, expected: str) -> None:
    back = rpc.from_status(rpc.status_of(errors.InvalidInputError(field, value, expected)))
    assert isinstance(back, errors.InvalidInputError)
    assert (back.field, back.value, back.expected) == (field, value, expected)


def test_long_values_are_cut() -> None:
    status = rpc.status_of(errors.InvalidInputError("text", "x" * 10_000, "at most 400 characters"))
    assert len(status.message) < 300


@pytest.mark.parametrize(
    "error",
    [
        errors.BusyError("one conversation at a time", 1.5),
        errors.UnavailableError("no worker"),
        errors.ModelError("damaged"),
        errors.TaoxrError("other"),
    ],
)
def test_every_kind_survives_the_trip(error: errors.TaoxrError) -> None:
    back = rpc.from_status(rpc.status_of(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    if isinstance(error, errors.BusyError):
        assert isinstance(back, errors.BusyError)
        assert back.retry_after_s == error.retry_after_s


def test_foreign_errors_show_no_text() -> None:
    status = rpc.status_of(RuntimeError("secret of the user"))
    assert status.code == grpc.StatusCode.INTERNAL.value[0]
    assert "secret" not in status.message
    assert rpc.from_status(status) is None


async def _refuse(request: bytes, context: object) -> bytes:
    raise errors.InvalidInputError("speed", 9.0, "0.5 to 2")


async def _stream(request: bytes, context: object) -> AsyncIterator[bytes]:
    yield b"one"
    raise errors.BusyError("busy", 0.25)


def _handlers() -> grpc.GenericRpcHandler:
    return grpc.method_handlers_generic_handler(
        "test.Service",
        {
            "Refuse": grpc.unary_unary_rpc_method_handler(_refuse),
            "Stream": grpc.unary_stream_rpc_method_handler(_stream),
        },
    )


async def test_server_sends_details_and_asks_for_the_token() -> None:
    server = grpc.aio.server(
        interceptors=(rpc.ErrorInterceptor(), rpc.TokenInterceptor("s3cret")), options=rpc.SERVER_OPTIONS
    )
    server.add_generic_rpc_handlers((_handlers(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=rpc.CHANNEL_OPTIONS) as channel:
            refuse = channel.unary_unary("/test.Service/Refuse")
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await refuse(b"", metadata=rpc.token_metadata("s3cret"))
            error = rpc.error_of(refused.value)
            assert isinstance(error, errors.InvalidInputError)
            assert (error.field, error.value, error.expected) == ("speed", "9.0", "0.5 to 2")

            received: list[bytes] = []

            async def read_all() -> None:
                call = channel.unary_stream("/test.Service/Stream")
                async for piece in call(b"", metadata=rpc.token_metadata("s3cret")):
                    received.append(piece)  # noqa: PERF401  the error must not lose what came before it

            with pytest.raises(grpc.aio.AioRpcError) as busy:
                await read_all()
            assert received == [b"one"]
            error = rpc.error_of(busy.value)
            assert isinstance(error, errors.BusyError)
            assert error.retry_after_s == 0.25

            for metadata in ((), rpc.token_metadata("s3cre"), (("authorization", "s3cret"),)):
                with pytest.raises(grpc.aio.AioRpcError) as unauthenticated:
                    await refuse(b"", metadata=metadata)
                assert unauthenticated.value.code() is grpc.StatusCode.UNAUTHENTICATED
                trailing = dict(unauthenticated.value.trailing_metadata() or ())
                status = status_pb2.Status.FromString(trailing["grpc-status-details-bin"])
                info = error_details_pb2.ErrorInfo()
                assert status.details[0].Unpack(info)
                assert info.reason == "ACCESS"
    finally:
        await server.stop(None)


async def test_nobody_listens() -> None:
    async with grpc.aio.insecure_channel("unix:/nonexistent/socket") as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await channel.unary_unary("/test.Service/Refuse")(b"")
    assert isinstance(rpc.error_of(failed.value), errors.UnavailableError)


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("code", list(grpc.StatusCode))
def test_a_lost_connection_is_no_answer(code: grpc.StatusCode, details: bool) -> None:
    metadata = grpc.aio.Metadata(*([("grpc-status-details-bin", b"")] if details else []))
    error = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), metadata)
    always = code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
    broken = code in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)
    assert rpc.connection_lost(error) == (always or (broken and not details))
