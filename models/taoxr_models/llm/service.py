"""``taoxr.worker.v1.LlmService``."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Final

import grpc.aio

from taoxr.errors import BusyError, InvalidInputError
from taoxr.v1 import common_pb2
from taoxr.worker.v1 import llm_pb2, llm_pb2_grpc
from taoxr_models.catalog import default_model, verified
from taoxr_models.llm.chat import (
    DEFAULT_ANSWER_TOKENS,
    MAX_ANSWER_TOKENS,
    ChatModel,
    Finished,
    Message,
    Started,
    Text,
)
from taoxr_models.llm.sampling import Sampling
from taoxr_models.worker.role import Role, RoleSetup

# A client that cancels and asks again at once finds the cancelled call in its last step.
_HANDOVER_S: Final = 0.5
_RETRY_AFTER_S: Final = 2.0

_ROLES: Final = {
    common_pb2.ROLE_SYSTEM: "system",
    common_pb2.ROLE_USER: "user",
    common_pb2.ROLE_ASSISTANT: "assistant",
}
_REASONS: Final = {
    "stop": llm_pb2.GenerateFinished.REASON_STOP,
    "length": llm_pb2.GenerateFinished.REASON_LENGTH,
}


class LlmRole(llm_pb2_grpc.LlmServiceServicer):
    """The language model as a worker's role; one call at a time, since there is one KV cache."""

    def __init__(self, setup: RoleSetup) -> None:
        self._thread = setup.thread
        self._model = setup.model or default_model("llm")
        self._free = asyncio.Lock()
        self._chat: ChatModel | None = None

    @property
    def model(self) -> str:
        """Catalogue id of the model."""
        return self._model

    @property
    def sample_rate_hz(self) -> int:
        """The role makes no audio."""
        return 0

    def load(self) -> None:
        """Verifies, loads and warms up the model."""
        chat = ChatModel(verified(self._model))
        chat.warm_up()
        self._chat = chat

    def register(self, server: grpc.aio.Server) -> None:
        """Adds ``LlmService`` to the server."""
        llm_pb2_grpc.add_LlmServiceServicer_to_server(self, server)

    async def Generate(  # noqa: N802  the rpc's name
        self,
        request: llm_pb2.GenerateRequest,
        context: grpc.aio.ServicerContext[llm_pb2.GenerateRequest, llm_pb2.GenerateResponse],
    ) -> AsyncGenerator[llm_pb2.GenerateResponse]:
        """Streams the answer to a conversation.

        Raises:
            InvalidInputError: A value of the request is out of range, or the last turn does not fit.
            BusyError: Another call runs.
        """
        assert self._chat is not None  # the framework lets no call in before `load` is through
        messages, sampling, max_tokens = _checked(request)
        async with self._turn():
            prompt = await self._thread.run(self._chat.prompt, messages, max_tokens)
            async with aclosing(self._thread.steps(self._chat.answer(prompt, sampling, max_tokens))) as steps:
                async for step in steps:
                    if step is not None:
                        yield _response(step)

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        try:
            async with asyncio.timeout(_HANDOVER_S):
                await self._free.acquire()
        except TimeoutError:
            raise BusyError("the language model is in another conversation", _RETRY_AFTER_S) from None
        try:
            yield
        finally:
            self._free.release()


def create(setup: RoleSetup) -> Role:
    """Makes the role."""
    return LlmRole(setup)


def _checked(request: llm_pb2.GenerateRequest) -> tuple[list[Message], Sampling, int]:
    max_tokens = request.max_tokens or DEFAULT_ANSWER_TOKENS
    if not 1 <= max_tokens <= MAX_ANSWER_TOKENS:
        raise InvalidInputError("max_tokens", max_tokens, f"0 (the default) or 1 to {MAX_ANSWER_TOKENS}")
    messages: list[Message] = []
    for i, message in enumerate(request.messages):
        if message.role not in _ROLES:
            raise InvalidInputError(f"messages[{i}].role", message.role, "system, user or assistant")
        if message.role == common_pb2.ROLE_SYSTEM and i > 0:
            raise InvalidInputError(f"messages[{i}].role", "system", "a system message only in front")
        messages.append(Message(_ROLES[message.role], message.content))
    if not messages or messages[-1].role != "user":
        last = messages[-1].role if messages else "none"
        raise InvalidInputError("messages", f"last message from {last}", "a conversation that ends with user")
    sampling = Sampling(
        temperature=request.temperature,
        top_k=request.top_k or Sampling.top_k,
        top_p=request.top_p or Sampling.top_p,
        repetition_penalty=request.repetition_penalty or Sampling.repetition_penalty,
        seed=request.seed,
    )
    return messages, sampling, max_tokens


def _response(step: Started | Text | Finished) -> llm_pb2.GenerateResponse:
    match step:
        case Started():
            started = llm_pb2.GenerateStarted(
                prompt_tokens=step.prompt_tokens,
                reused_tokens=step.reused_tokens,
                prefill_us=step.prefill_us,
                dropped_messages=step.dropped_messages,
            )
            return llm_pb2.GenerateResponse(started=started)
        case Text():
            return llm_pb2.GenerateResponse(text=step.text)
        case Finished():
            finished = llm_pb2.GenerateFinished(
                reason=_REASONS[step.reason], tokens=step.tokens, decode_us=step.decode_us
            )
            return llm_pb2.GenerateResponse(finished=finished)
