"""The worker as an operating-system process: its streams, signals, and its tie to the parent."""

import ctypes
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

import structlog
from structlog.tracebacks import ExceptionDictTransformer

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
# EX_CONFIG of sysexits.h: starting again would not help.
EXIT_CONFIG: Final = 78

_PR_SET_PDEATHSIG: Final = 1
_LAST_RESORT_S: Final = 3.0


def claim_stdout() -> None:
    """Sends everything that any code writes to stdout to stderr, for the life of the process.

    MNN prints to file descriptor 1 from C, now and then also at inference.
    """
    sys.stdout.flush()
    os.dup2(2, 1)


def configure_logging() -> None:
    """Logs are JSON lines on stderr, from level ``$TAOXR_LOG_LEVEL`` (default INFO) up.

    User words may appear at DEBUG only.
    """
    name = os.environ.get("TAOXR_LOG_LEVEL", "INFO").upper()
    level = logging.getLevelNamesMapping().get(name, logging.INFO)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            # Without the frames' variables, which hold what users said.
            structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
    )


def leave(code: int, error: Exception | None = None) -> None:
    """Ends the process at once; an error becomes the last line of stderr, as JSON.

    Skips the interpreter's own clean-up: MNN crashes when it is unloaded while models are alive, and
    a model thread in the middle of a call would be waited for.
    """
    if error is not None:
        sys.stderr.write(json.dumps({"error": str(error) or type(error).__name__}) + "\n")
    sys.stderr.flush()
    os._exit(code)


def on_end_request(stop: Callable[[], None]) -> None:
    """Calls ``stop`` on SIGTERM; ignores SIGINT, since the parent handles Ctrl-C for all."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda _number, _frame: stop())


def watch_parent(stop: Callable[[], None]) -> None:
    """Calls ``stop`` when the parent dies or closes our stdin, and leaves 3 s later if still there.

    Two signs, because either alone has a gap: another child of the parent may have inherited the
    pipe's other end, and only Linux tells of a parent's death. The kernel sends that signal also when
    just the parent's *thread* that started us ends; hence a signal that can be looked into.
    """
    parent = os.getppid()

    def end() -> None:
        stop()
        time.sleep(_LAST_RESORT_S)
        leave(EXIT_OK)

    def until_eof() -> None:
        # OSError: closed, or a terminal that has gone. A parent may also write; that means nothing.
        try:
            while os.read(0, 4096):
                pass
        except OSError:
            pass
        end()

    def on_parent_signal(_number: int, _frame: object) -> None:
        if os.getppid() != parent:
            threading.Thread(target=end, daemon=True).start()

    if sys.platform == "linux":
        signal.signal(signal.SIGHUP, on_parent_signal)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGHUP)
    threading.Thread(target=until_eof, name="parent-watch", daemon=True).start()
