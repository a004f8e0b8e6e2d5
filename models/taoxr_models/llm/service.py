"""``taoxr.worker.v1.LlmService``."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Final

import grpc.aio

from taoxr.errors import BusyError
from taoxr.worker.v1 import llm_pb2, llm_pb2_grpc
from taoxr_models.catalog import default_model, verified
from taoxr_models.llm.chat import ChatModel, Finished, Started, Text
from taoxr_models.llm.reader import ModelCall
from taoxr_models.llm.request import checked
from taoxr_models.worker.role import Role, RoleSetup

# A client that cancels and asks again at once finds the cancelled call in its last step.
_HANDOVER_S: Final = 0.5
_RETRY_AFTER_S: Final = 2.0

_REASONS: Final = {
    "stop": llm_pb2.GenerateFinished.REASON_STOP,
    "length": llm_pb2.GenerateFinished.REASON_LENGTH,
    "call": llm_pb2.GenerateFinished.REASON_TOOL_CALL,
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
        question = checked(request, self._chat.sampling, self._chat.max_tokens)
        max_tokens = question.max_tokens
        async with self._turn():
            prompt = await self._thread.run(self._chat.prompt, question.messages, max_tokens, question.tools)
            answer = self._chat.answer(prompt, question.sampling, max_tokens, calls=not request.answer_now)
            async with aclosing(self._thread.steps(answer)) as steps:
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


def _response(step: Started | Text | ModelCall | Finished) -> llm_pb2.GenerateResponse:
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
        case ModelCall():
            call = llm_pb2.CalledTool(name=step.name, arguments_json=step.arguments, problem=step.problem)
            return llm_pb2.GenerateResponse(tool_call=call)
        case Finished():
            finished = llm_pb2.GenerateFinished(
                reason=_REASONS[step.reason], tokens=step.tokens, decode_us=step.decode_us
            )
            return llm_pb2.GenerateResponse(finished=finished)
