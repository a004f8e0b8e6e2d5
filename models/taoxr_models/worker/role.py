"""What a role offers to the worker process, and the table of roles.

A role lives in a module ``taoxr_models.<name>.service`` with a function ``create(setup)``::

    class TtsRole(TtsServiceServicer):          # the gRPC servicer itself can be the role
        def __init__(self, setup: RoleSetup) -> None: ...
        def load(self) -> None: ...             # in the model thread, after the server listens
        def register(self, server) -> None: ... # add_TtsServiceServicer_to_server(self, server)

    def create(setup: RoleSetup) -> Role:
        return TtsRole(setup)

Handlers are ``async def`` (or async generators). They raise exceptions of `taoxr.errors`, which become
statuses with details (`taoxr.rpc`); calls are counted, and refused with UNAVAILABLE before `load` is
through, by the framework. They run models only through ``setup.thread``.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, cast

import grpc.aio

from taoxr.errors import InvalidInputError
from taoxr_models.worker.model_thread import ModelThread


@dataclass(frozen=True)
class RoleSetup:
    """What a role is made from.

    Attributes:
        thread: Runs the role's model calls.
        model: Catalogue id that the user asked for, or None for the role's default.
    """

    thread: ModelThread
    model: str | None = None


class Role(Protocol):
    """One kind of model work behind a gRPC service."""

    @property
    def model(self) -> str:
        """Catalogue id of the model (several: joined with ``+``); known before `load`."""
        ...

    @property
    def sample_rate_hz(self) -> int:
        """Rate of the audio that the role makes, or 0; asked for after `load`."""
        ...

    def load(self) -> None:
        """Verifies and loads the models; called once, in the model thread.

        Raises:
            ModelError: A model is missing or damaged; the process then ends with exit code 78.
        """
        ...

    def register(self, server: grpc.aio.Server) -> None:
        """Adds the role's service to the server; called once, before `load`."""
        ...


# By name, so that a worker imports its own role only.
_MODULES: Final = {
    "a2bs": "taoxr_models.a2bs.service",
    "ear": "taoxr_models.ear.service",
    "llm": "taoxr_models.llm.service",
    "motion": "taoxr_models.motion.service",
    "tts": "taoxr_models.tts.service",
}
ROLES: Final = tuple(_MODULES)


def create_role(name: str, setup: RoleSetup) -> Role:
    """Imports a role and makes it.

    Raises:
        InvalidInputError: There is no such role.
    """
    if name not in _MODULES:
        raise InvalidInputError("role", name, f"one of {', '.join(ROLES)}")
    module = importlib.import_module(_MODULES[name])
    create = cast(Callable[[RoleSetup], Role], module.create)
    return create(setup)
