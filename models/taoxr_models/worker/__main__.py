"""``python -m taoxr_models.worker ROLE --listen unix:PATH``: one worker process."""

import argparse
import asyncio
import faulthandler
import os
from collections.abc import Sequence
from pathlib import Path

import structlog

from taoxr.errors import InvalidInputError, TaoxrError
from taoxr_models.worker import process
from taoxr_models.worker.address import parse_address, read_token
from taoxr_models.worker.role import ROLES
from taoxr_models.worker.server import Settings, serve


def _settings(arguments: Sequence[str] | None) -> Settings:
    parser = argparse.ArgumentParser(
        prog="python -m taoxr_models.worker",
        description="Serves one model role over gRPC until stdin closes, the parent dies or SIGTERM comes.",
    )
    parser.add_argument("role", choices=ROLES)
    parser.add_argument("--listen", required=True, help="unix:PATH, or 127.0.0.1:PORT (0: a free one)")
    parser.add_argument("--model", help="catalogue id; the role's default otherwise")
    parser.add_argument("--token-file", type=Path, help="file with the callers' secret (TCP: required)")
    parser.add_argument("--port-file", type=Path, help="file to write the TCP port to")
    parser.add_argument("--standalone", action="store_true", help="do not end with stdin or the parent")
    parser.add_argument(
        "--allow-remote", action="store_true", help="accept non-loopback addresses, unencrypted"
    )
    given = parser.parse_args(arguments)
    address = parse_address(given.listen, allow_remote=given.allow_remote)
    if not address.is_unix and given.token_file is None:
        raise InvalidInputError("--token-file", None, "a file: any local user can open a TCP port")
    return Settings(
        role=given.role,
        address=address,
        model=given.model,
        token=None if given.token_file is None else read_token(given.token_file),
        port_file=given.port_file,
        standalone=given.standalone,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the worker and leaves with its exit code: 0, 1, or 78 when a new start would not help."""
    faulthandler.enable()  # MNN may crash: then the log at least says where
    process.claim_stdout()
    process.configure_logging()
    os.umask(0o077)  # the socket is for our user only
    try:
        code = asyncio.run(serve(_settings(arguments)))
    except TaoxrError as error:
        process.leave(process.EXIT_CONFIG, error)
    except Exception as error:  # noqa: BLE001  the boundary: the supervisor reads the last line
        structlog.get_logger().exception("worker failed")
        process.leave(process.EXIT_FAILED, error)
    else:
        process.leave(code)


if __name__ == "__main__":
    main()
