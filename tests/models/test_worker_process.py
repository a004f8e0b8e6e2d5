"""Real worker processes: health, status, errors, and how they end."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import grpc.aio
import psutil
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from taoxr import errors, paths, rpc
from taoxr.v1 import common_pb2
from taoxr.worker.v1 import llm_pb2, llm_pb2_grpc, tts_pb2, tts_pb2_grpc, worker_pb2, worker_pb2_grpc
from taoxr_models.catalog import default_model

pytestmark = pytest.mark.process

SERVING = health_pb2.HealthCheckResponse.SERVING
# Connection attempts start before the worker listens.
OPTIONS = tuple(
    (
        dict(rpc.CHANNEL_OPTIONS)
        | {"grpc.initial_reconnect_backoff_ms": 50, "grpc.max_reconnect_backoff_ms": 200}
    ).items()
)


def command(role: str, *options: str) -> list[str]:
    return [sys.executable, "-m", "taoxr_models.worker", role, *options]


@dataclass
class Worker:
    process: subprocess.Popen[bytes]
    target: str

    def end(self) -> tuple[int, bytes]:
        """Closes the worker's stdin; returns its exit code and all that it wrote to stdout."""
        out, _ = self.process.communicate(timeout=120)
        return self.process.returncode, out


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    # pytest's own folders may be too long for a socket's path.
    with tempfile.TemporaryDirectory(prefix="taoxr-") as name:
        yield Path(name)


def spawn(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def start(role: str, folder: Path, name: str) -> Worker:
    target = f"unix:{folder / name}"
    return Worker(spawn(*command(role, "--listen", target)), target)


def stop(worker: Worker) -> None:
    if worker.process.poll() is None:
        worker.process.kill()
        worker.process.communicate()


@pytest.fixture(scope="module")
def llm(folder: Path) -> Iterator[Worker]:
    worker = start("llm", folder, "llm")
    yield worker
    stop(worker)


@pytest.fixture
def tts(folder: Path) -> Iterator[Worker]:
    worker = start("tts", folder, "tts")
    yield worker
    stop(worker)


@asynccontextmanager
async def connected(worker: Worker) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(worker.target, options=OPTIONS) as channel:
        await until_serving(channel)
        yield channel


async def until_serving(channel: grpc.aio.Channel, metadata: tuple[tuple[str, str], ...] = ()) -> None:
    watch = health_pb2_grpc.HealthStub(channel).Watch(
        health_pb2.HealthCheckRequest(), wait_for_ready=True, timeout=120, metadata=metadata
    )
    async for response in watch:
        if response.status == SERVING:
            watch.cancel()
            break


def content(path: Path) -> str:
    """What is in a file, once it is there."""
    deadline = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return path.read_text().strip()


def question(text: str, **options: object) -> llm_pb2.GenerateRequest:
    message = common_pb2.ChatMessage(role=common_pb2.ROLE_USER, content=text)
    return llm_pb2.GenerateRequest(messages=[message], **options)


async def status_when_idle(channel: grpc.aio.Channel) -> worker_pb2.GetStatusResponse:
    stub = worker_pb2_grpc.WorkerServiceStub(channel)
    async with asyncio.timeout(60):
        while (status := await stub.GetStatus(worker_pb2.GetStatusRequest())).active_calls:
            pass
    return status


async def test_status_answers_while_the_model_runs(llm: Worker) -> None:
    async with connected(llm) as channel:
        call = llm_pb2_grpc.LlmServiceStub(channel).Generate(
            question("Tell me a story about a fox.", max_tokens=40)
        )
        status = worker_pb2_grpc.WorkerServiceStub(channel)
        kinds: list[str] = []
        text, answered = "", 0
        async for response in call:
            kinds.append(response.WhichOneof("payload"))
            text += response.text
            during = await status.GetStatus(worker_pb2.GetStatusRequest(), timeout=60)
            answered += during.active_calls
        assert kinds[0] == "started"
        assert kinds[-1] == "finished"
        assert len(text) > 40
        assert answered > 10
        idle = await status_when_idle(channel)
        assert (idle.role, idle.model, idle.pid) == ("llm", default_model("llm"), llm.process.pid)
        assert idle.finished_calls >= 1
        assert 50e6 < idle.rss_bytes < 1e9


async def test_cancelling_frees_the_model_at_once(llm: Worker) -> None:
    async with connected(llm) as channel:
        stub = llm_pb2_grpc.LlmServiceStub(channel)
        before = await status_when_idle(channel)
        call = stub.Generate(question("Tell me a very long story about the sea.", max_tokens=500))
        assert (await call.read()).WhichOneof("payload") == "started"
        await call.read()
        call.cancel()
        # Asked again without waiting: the call that ends hands over, and its cache is used.
        again = [
            r async for r in stub.Generate(question("Tell me a very long story about the sea.", max_tokens=2))
        ]
        assert again[0].started.reused_tokens > 20
        after = await status_when_idle(channel)
        assert after.cancelled_calls == before.cancelled_calls + 1
        assert after.finished_calls == before.finished_calls + 1


async def test_a_second_conversation_is_told_to_wait(llm: Worker) -> None:
    async with connected(llm) as channel:
        stub = llm_pb2_grpc.LlmServiceStub(channel)
        first = stub.Generate(question("Tell me a very long story about the sea.", max_tokens=500))
        await first.read()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.Generate(question("Hi")).read()
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        error = rpc.error_of(refused.value)
        assert isinstance(error, errors.BusyError)
        assert error.retry_after_s > 0
        first.cancel()
        await status_when_idle(channel)


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (llm_pb2.GenerateRequest(), "messages"),
        (question("Hi", temperature=-1.0), "temperature"),
        (question("Hi", max_tokens=-1), "max_tokens"),
        (question("Hi", top_p=2.0), "top_p"),
        (llm_pb2.GenerateRequest(messages=[common_pb2.ChatMessage(content="Hi")]), "messages[0].role"),
        (question("x" * 9000), "messages[0].content"),
    ],
)
async def test_wrong_requests_name_the_field(
    llm: Worker, request_: llm_pb2.GenerateRequest, field: str
) -> None:
    async with connected(llm) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await llm_pb2_grpc.LlmServiceStub(channel).Generate(request_).read()
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        error = rpc.error_of(refused.value)
        assert isinstance(error, errors.InvalidInputError)
        assert error.field == field


async def test_ctrl_c_is_the_parents_business_and_sigterm_ends(llm: Worker) -> None:
    async with connected(llm) as channel:
        llm.process.send_signal(signal.SIGINT)
        assert (await status_when_idle(channel)).pid == llm.process.pid
        call = llm_pb2_grpc.LlmServiceStub(channel).Generate(question("A long story.", max_tokens=1000))
        await call.read()
        llm.process.terminate()
        code, out = await asyncio.to_thread(llm.end)
    assert code == 0
    assert out == b""  # MNN printed, but not there


async def test_speech(tts: Worker) -> None:
    async with connected(tts) as channel:
        socket = Path(tts.target.removeprefix("unix:"))
        assert socket.stat().st_mode & 0o077 == 0  # nobody else may connect
        stub = tts_pb2_grpc.TtsServiceStub(channel)
        request = tts_pb2.SynthesizeRequest(text="Hello there. How are you?")
        first, *rest = [response async for response in stub.Synthesize(request)]
        assert len(rest) >= 3
        pcm = b"".join(r.pcm for r in (first, *rest))
        duration_us = len(pcm) // 2 * 1_000_000 / first.sample_rate_hz
        assert 1.2e6 < duration_us < 3e6
        # The first piece, which somebody waits for, is short; the timing of all of it comes with it.
        assert 0.2e6 < len(first.pcm) // 2 * 1_000_000 / first.sample_rate_hz < 0.4e6
        assert abs(first.phonemes[-1].end_us - duration_us) <= 1
        ends = [0, *(p.end_us for p in first.phonemes)]
        assert ends[:-1] == [p.start_us for p in first.phonemes]
        assert all(r.pcm and r.compute_us > 0 and not r.phonemes for r in rest)
        (silent,) = [r async for r in stub.Synthesize(tts_pb2.SynthesizeRequest(text="😀"))]
        assert (silent.pcm, len(silent.phonemes), silent.sample_rate_hz) == (b"", 0, first.sample_rate_hz)
        again = tts_pb2.SynthesizeRequest(text="Hello there. How are you?", seed=0)
        assert b"".join([r.pcm async for r in stub.Synthesize(again)]) == pcm
        again.seed = 7
        assert b"".join([r.pcm async for r in stub.Synthesize(again)]) != pcm
        wrong = {
            "text": tts_pb2.SynthesizeRequest(text="a" * 401),
            "speed": tts_pb2.SynthesizeRequest(speed=9),
        }
        for field, request in wrong.items():
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stub.Synthesize(request).read()
            error = rpc.error_of(refused.value)
            assert isinstance(error, errors.InvalidInputError)
            assert error.field == field
        status = await status_when_idle(channel)
        assert status.sample_rate_hz == first.sample_rate_hz
        assert (status.finished_calls, status.failed_calls) == (4, 2)
    code, out = await asyncio.to_thread(tts.end)  # closes stdin
    assert (code, out) == (0, b"")


async def test_tcp_asks_for_the_token(folder: Path) -> None:
    token, port_file = folder / "token", folder / "port"
    token.write_text("0123456789abcdef0123")
    files = ("--token-file", str(token), "--port-file", str(port_file))
    worker = spawn(*command("tts", "--listen", "127.0.0.1:0", *files))
    try:
        target = f"127.0.0.1:{await asyncio.to_thread(content, port_file)}"
        async with grpc.aio.insecure_channel(target, options=OPTIONS) as channel:
            good = rpc.token_metadata(token.read_text())
            await until_serving(channel, good)
            stub = tts_pb2_grpc.TtsServiceStub(channel)
            assert (await stub.Synthesize(tts_pb2.SynthesizeRequest(text="Hi."), metadata=good).read()).pcm
            for metadata in ((), rpc.token_metadata("0123456789abcdef0124")):
                with pytest.raises(grpc.aio.AioRpcError) as refused:
                    await stub.Synthesize(tts_pb2.SynthesizeRequest(text="Hi."), metadata=metadata).read()
                assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
        out, _ = await asyncio.to_thread(worker.communicate, timeout=120)
        assert (worker.returncode, out) == (0, b"")
    finally:
        worker.kill()
        worker.wait()


PARENT = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=0)
print(child.pid, flush=True)
time.sleep(600)
"""


async def test_dies_with_its_parent_even_if_stdin_stays_open(folder: Path) -> None:
    target = f"unix:{folder / 'orphan'}"
    # The worker inherits stdin, whose other end this test keeps.
    parent = spawn(sys.executable, "-c", PARENT, *command("tts", "--listen", target))
    try:
        assert parent.stdout is not None
        child = psutil.Process(int(await asyncio.to_thread(parent.stdout.readline)))
        async with connected(Worker(parent, target)):
            parent.kill()
        await asyncio.to_thread(child.wait, 20)
    finally:
        parent.kill()
        parent.communicate()


async def test_outlives_the_thread_that_started_it(folder: Path) -> None:
    # Linux takes the end of that thread for the end of the parent.
    started: list[Worker] = []
    thread = threading.Thread(target=lambda: started.append(start("tts", folder, "thread")))
    thread.start()
    await asyncio.to_thread(thread.join)
    (worker,) = started
    try:
        async with connected(worker) as channel:
            stub = tts_pb2_grpc.TtsServiceStub(channel)
            assert (await stub.Synthesize(tts_pb2.SynthesizeRequest(text="Hi.")).read()).pcm
    finally:
        stop(worker)


def run_to_the_end(*options: str, home: Path) -> tuple[int, str, bytes]:
    """Exit code, the reason on the last line of stderr, stdout; stdin stays open meanwhile."""
    process = subprocess.Popen(
        command(*options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TAOXR_HOME": str(home)},
    )
    code = process.wait(60)
    out, err = process.communicate()
    return code, str(json.loads(err.splitlines()[-1])["error"]), out


def test_damaged_model(folder: Path, tmp_path: Path) -> None:
    voice = default_model("tts")
    copy = tmp_path / "models" / voice
    shutil.copytree(paths.models_dir() / voice, copy)
    weights = bytearray((copy / "decoder2.mnn").read_bytes())
    weights[len(weights) // 2] ^= 1
    (copy / "decoder2.mnn").write_bytes(weights)
    code, reason, out = run_to_the_end("tts", "--listen", f"unix:{folder / 'damaged'}", home=tmp_path)
    assert code == 78
    assert "decoder2.mnn" in reason
    assert f"taoxr models pull {voice}" in reason
    assert out == b""


def test_missing_model(folder: Path, tmp_path: Path) -> None:
    code, reason, out = run_to_the_end("llm", "--listen", f"unix:{folder / 'missing'}", home=tmp_path)
    assert (code, out) == (78, b"")
    assert f"taoxr models pull {default_model('llm')}" in reason


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--listen", "127.0.0.1:0"), "--token-file"),
        (("--listen", "0.0.0.0:0"), "--allow-remote"),
        (("--listen", "unix:relative"), "absolute"),
    ],
)
def test_wrong_options(tmp_path: Path, options: tuple[str, ...], word: str) -> None:
    code, reason, out = run_to_the_end("tts", *options, home=tmp_path)
    assert (code, out) == (78, b"")
    assert word in reason
