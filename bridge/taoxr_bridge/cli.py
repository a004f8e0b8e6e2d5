"""``taoxr serve``: runs the bridge until it is told to stop."""

import asyncio
import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Annotated, Any, Final

import structlog
import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape

from taoxr.client.channel import read_token
from taoxr.errors import InvalidInputError, TaoxrError
from taoxr_bridge.server import bridge
from taoxr_bridge.settings import Settings
from taoxr_bridge.worker import ROLES, Worker, WorkerState

_console = Console(stderr=True, highlight=False)
_MARKS: Final = {
    WorkerState.ASLEEP: "[dim]·[/]",
    WorkerState.STARTING: "[dim]…[/]",
    WorkerState.READY: "[green]✓[/]",
    WorkerState.DOWN: "[red]✗[/]",
}

app = typer.Typer(add_completion=False, help="Run the bridge: the gRPC server with its model workers.")


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.  [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.  [default: 50061]")] = None,
    worker: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=TARGET", help="Use a worker that runs elsewhere, such as llm=10.0.0.5:7001."
        ),
    ] = None,
    worker_token_file: Annotated[
        Path | None, typer.Option(help="File with the secret that workers elsewhere want.")
    ] = None,
    ready_file: Annotated[
        Path | None, typer.Option(help='File to write {"target": ..., "pid": ...} to when all is ready.')
    ] = None,
    insecure: Annotated[
        bool, typer.Option(help="Allow an address that other machines reach, unencrypted.")
    ] = False,
    tls_cert: Annotated[Path | None, typer.Option(help="PEM file: certificate chain; turns TLS on.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM file: private key of the certificate.")] = None,
    tls_client_ca: Annotated[
        Path | None, typer.Option(help="PEM file: let only clients in that it signed (mutual TLS).")
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the secret that callers must send (or $TAOXR_BRIDGE_TOKEN)."),
    ] = None,
    reflection: Annotated[
        bool | None,
        typer.Option(
            "--reflection/--no-reflection", help="Describe the services to callers.  [default: on loopback]"
        ),
    ] = None,
    announce: Annotated[
        bool,
        typer.Option("--announce", help="Let `taoxr servers` find it on the network (extra `discovery`)."),
    ] = False,
    announce_loopback: Annotated[
        bool,
        typer.Option("--announce-loopback", help="The same where only this machine reaches it."),
    ] = False,
    avatars: Annotated[
        Path | None,
        typer.Option(help="Folder of .nnr avatars to give away.  [default: those installed with taoxr]"),
    ] = None,
    metrics_port: Annotated[
        int | None, typer.Option(help="Serve numbers for Prometheus at http://127.0.0.1:PORT/metrics.")
    ] = None,
    stop_at_stdin_eof: Annotated[
        bool, typer.Option(help="Stop when stdin closes (for a parent process).", hidden=True)
    ] = False,
) -> None:
    """Runs the bridge until Ctrl-C.

    Further settings come from the environment, such as TAOXR_BRIDGE_BARGE_IN=speech,
    TAOXR_BRIDGE_PERSONA, TAOXR_BRIDGE_TEMPERATURE.
    """
    _configure_logging()
    settings = _settings(
        host=host,
        port=port,
        insecure=insecure or None,
        tls_cert=tls_cert,
        tls_key=tls_key,
        tls_client_ca=tls_client_ca,
        token_file=token_file,
        reflection=reflection,
        announce=announce or announce_loopback or None,
        announce_loopback=announce_loopback or None,
        metrics_port=metrics_port,
        avatars=avatars,
    )
    external = dict(_role_and_target(item) for item in worker or ())
    token = None if worker_token_file is None else read_token("--worker-token-file", worker_token_file)
    asyncio.run(_serve(settings, external, token, ready_file, stop_at_stdin_eof))


async def _serve(
    settings: Settings, external: dict[str, str], token: str | None, ready_file: Path | None, stdin: bool
) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    if stdin:
        _watch_stdin(loop, stopping)
    running = asyncio.create_task(_run_bridge(settings, external, token, ready_file))
    ending = asyncio.create_task(stopping.wait())
    await asyncio.wait((running, ending), return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    running.cancel()
    try:
        await running
    except asyncio.CancelledError:
        _console.print("[dim]stopped[/]")
    finally:
        if ready_file is not None:
            ready_file.unlink(missing_ok=True)


async def _run_bridge(
    settings: Settings, external: dict[str, str], token: str | None, ready_file: Path | None
) -> None:
    async with bridge(settings, external, token=token, on_worker=_show) as target:
        if ready_file is not None:
            partial = ready_file.with_name(f"{ready_file.name}.{os.getpid()}.part")
            partial.write_text(json.dumps({"target": target, "pid": os.getpid()}))
            partial.replace(ready_file)
        _console.print(f"listening on [bold]{target}[/] (Ctrl-C stops)")
        await asyncio.Event().wait()


def _show(worker: Worker) -> None:
    text = f" {escape(worker.reason)}" if worker.reason else ""
    _console.print(f"{_MARKS[worker.state]} {worker.role} {worker.state}{text}", soft_wrap=True)


def _settings(**given: Any) -> Settings:
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InvalidInputError(field, first["input"], first["msg"]) from error


def _role_and_target(item: str) -> tuple[str, str]:
    role, _, target = item.partition("=")
    if role not in ROLES or not target:
        raise InvalidInputError("--worker", item, f"ROLE=TARGET with a role of {', '.join(ROLES)}")
    return role, target


def _watch_stdin(loop: asyncio.AbstractEventLoop, stopping: asyncio.Event) -> None:
    def until_eof() -> None:
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(stopping.set)

    threading.Thread(target=until_eof, name="stdin-watch", daemon=True).start()


def _configure_logging() -> None:
    """Logs are JSON lines on stderr, from level ``$TAOXR_LOG_LEVEL`` (default WARNING) up."""
    name = os.environ.get("TAOXR_LOG_LEVEL", "WARNING").upper()
    level = logging.getLevelNamesMapping().get(name, logging.WARNING)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.dict_tracebacks,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # Looked up for every line: a caller in the same process may give stderr back after the command.
        logger_factory=lambda *_: structlog.WriteLogger(sys.stderr),
    )


def main() -> None:
    """Runs the command; our own errors become one line and exit status 1."""
    try:
        app()
    except TaoxrError as error:
        _console.print(f"[red]error:[/] {escape(str(error))}", soft_wrap=True)
        sys.exit(1)
