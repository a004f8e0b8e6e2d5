"""One turn of the avatar: an answer is thought, spoken, animated and sent, all at the same time."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from google.rpc import status_pb2  # pyright: ignore[reportMissingTypeStubs]

from taoxr.errors import TaoxrError
from taoxr.v1 import common_pb2
from taoxr.v1.conversation_pb2 import ConverseResponse, TextDelta, TurnState
from taoxr.worker.v1 import llm_pb2
from taoxr_bridge import calls
from taoxr_bridge.buffering import slow_notice, steady
from taoxr_bridge.clauses import Chunker
from taoxr_bridge.history import History, SpokenClause, heard_text
from taoxr_bridge.pacing import Pacer
from taoxr_bridge.pipe import Pipe
from taoxr_bridge.speech import Spoken, Voiced, add_face, add_voice, chunks_of, duration
from taoxr_bridge.stages import Stages
from taoxr_bridge.tasks import nursery
from taoxr_bridge.thought import Rest, Thinks, Thought
from taoxr_bridge.tools import MOST_CALLS, Emit, Toolbox
from taoxr_bridge.voice import Voice
from taoxr_bridge.worker import Worker

# The language model may run ahead of the voice by this many clauses.
_CLAUSES_AHEAD: Final = 16


@dataclass(frozen=True, slots=True)
class Thinker:
    """Who thinks, and about what.

    Attributes:
        llm: Worker that thinks.
        request: Conversation and sampling.
        wait_s: How long to wait for a worker that restarts or is busy.
        tools: The client's tools.
        history: What was said.
        uses: How often a tool was called in this turn.
    """

    llm: Worker
    request: llm_pb2.GenerateRequest
    wait_s: float
    tools: Toolbox
    history: History
    uses: int = 0

    def think(self) -> AsyncGenerator[llm_pb2.GenerateResponse]:
        """Streams the answer."""
        return calls.generate(self.llm, self.request, self.wait_s)

    def after(self, said: str, use: llm_pb2.ToolUse) -> "Thinker":
        """Who goes on once a tool was called, `said` having been said before that."""
        request = llm_pb2.GenerateRequest()
        request.CopyFrom(self.request)
        if said.strip():
            request.messages.add(role=common_pb2.ROLE_ASSISTANT, content=said.strip())
        placed = request.tool_uses.add()
        placed.CopyFrom(use)
        placed.position = len(request.messages)
        request.answer_now = self.uses + 1 >= MOST_CALLS
        return replace(self, request=request, uses=self.uses + 1)

    def forgotten(self, by_model: int) -> status_pb2.Status | None:
        """See `Thinks.forgotten`."""
        return self.history.forgotten(by_model)

    async def use_tool(self, turn_id: str, call: llm_pb2.CalledTool, emit: Emit) -> llm_pb2.ToolUse:
        """Calls a tool of the client's.

        Raises:
            TaoxrError: There were enough calls.
        """
        if self.request.answer_now:
            raise TaoxrError(f"the language model wants more than {MOST_CALLS} tool calls in one turn")
        return await self.tools.use(turn_id, call, emit)


class Turn:
    """One answer of the avatar; `run` ends when it was heard, and cancelling `run` stops all of it.

    Args:
        turn_id: Name of the turn.
        thinker: Language model and prompt, or the text itself.
        voice: Voice and face.
        pacer: Where playback is.
        stages: Started at the end of the user's turn.
        emit: Sends a response of this turn.

    Attributes:
        stages: How long its parts took.
        public: Set unless the answer may not be heard yet; media and tool calls wait for it.
        tool_uses: Calls that were answered, in their order.
    """

    def __init__(
        self,
        turn_id: str,
        thinker: Thinks,
        voice: Voice,
        pacer: Pacer,
        stages: Stages,
        emit: Callable[[ConverseResponse], Awaitable[None]],
    ) -> None:
        self.turn_id = turn_id
        self.pacer = pacer
        self._thinker = thinker
        self._voice = voice
        self.stages = stages
        self._emit = emit
        self._spoken: list[SpokenClause] = []
        self._text = ""
        self._told = 0  # letters of it that the language model was told of after a call
        self.tool_uses: list[llm_pb2.ToolUse] = []
        self.public = asyncio.Event()
        self.public.set()
        self._finishing = False
        self._dropped = 0  # messages that did not fit into the model
        self._thought: Thought | None = None
        self._thinks_on = False

    def heard(self, played_us: int | None = None) -> str:
        """The answer as far as it was heard: until `played_us`, or until where playback is now."""
        return heard_text(self._spoken, self.pacer.position_us() if played_us is None else played_us)

    def think_on(self) -> None:
        """Lets the thinking go on when `run` is cancelled; `rest` says where, and its owner ends it."""
        self._thinks_on = True

    def rest(self, heard: str) -> Rest | None:
        """What is not in `heard`, the answer as far as it was heard; None before the first thought."""
        if self._thought is None:
            return None
        text = self._text.lstrip().removeprefix(heard).lstrip()
        return Rest(text, self._thought, self._text[self._told :].removesuffix(text))

    def finish_clause(self) -> None:
        """Lets the answer end with the clause that is spoken, or with the first when none is yet."""
        self._finishing = True

    async def run(self) -> None:
        """Answers.

        Raises:
            TaoxrError: A worker failed.
        """
        await self._state(TurnState.STATE_THINKING)
        clauses, voiced, spoken = Pipe[str](_CLAUSES_AHEAD), Pipe[Voiced](1), Pipe[Spoken](1)
        async with nursery() as tasks:
            stages = (
                self._think(clauses),
                add_voice(clauses, voiced, self._voice, self.stages),
                add_face(voiced, spoken, self._voice, self.stages),
            )
            making = [tasks.create_task(stage) for stage in stages]
            await self._deliver(spoken)
            for task in making:  # they are over, unless the answer was cut short
                task.cancel()
        await self._emit(ConverseResponse(metrics=self.stages.metrics))
        await self.pacer.wait_until_heard()

    async def _think(self, clauses: Pipe[str]) -> None:
        thinker = self._thinker
        while (call := await self._think_on(thinker, clauses)) is not None:
            # Nobody may notice a draft: a call has effects.
            await self.public.wait()
            use = await thinker.use_tool(self.turn_id, call, self._emit)
            self.stages.mark_again("tools")
            self.tool_uses.append(use)
            said, self._told = self._text[self._told :], len(self._text)
            thinker = thinker.after(said, use)
        await clauses.close()

    async def _think_on(self, thinker: Thinks, clauses: Pipe[str]) -> llm_pb2.CalledTool | None:
        """Thinks until the end of the answer, or until a call, which is returned."""
        chunker, metrics, call = Chunker(), self.stages.metrics, None
        thought = self._thought = Thought(thinker)
        try:
            async for response in thought.responses():
                match response.WhichOneof("payload"):
                    case "started":
                        metrics.prompt_tokens = response.started.prompt_tokens
                        metrics.reused_tokens = response.started.reused_tokens
                        self._dropped = max(self._dropped, response.started.dropped_messages)
                    case "text":
                        self.stages.mark("llm_first_token")
                        self._text += response.text
                        await self._emit(ConverseResponse(text_delta=TextDelta(text=response.text)))
                        for clause in chunker.feed(response.text):
                            await self._put_clause(clauses, clause)
                    case "tool_call":
                        call = response.tool_call
                    case _:
                        metrics.answer_tokens += response.finished.tokens
        finally:
            if not self._thinks_on:
                await thought.drop()
        # What was said before a call is spoken while the tool works.
        for clause in chunker.finish():
            await self._put_clause(clauses, clause)
        return call

    async def _put_clause(self, clauses: Pipe[str], clause: str) -> None:
        self.stages.mark("first_clause")
        await clauses.put(clause)

    async def _deliver(self, spoken: Pipe[Spoken]) -> None:
        speaking = False
        even = steady(spoken, self._voice.sample_rate_hz, self._voice_is_slow)
        async with (
            aclosing(even),
            aclosing(chunks_of(even, self._spoken.append, lambda: self._finishing)) as chunks,
        ):
            async for chunk in chunks:
                await self.public.wait()
                await self.pacer.wait_to_send(chunk.start_us)
                if not speaking:
                    speaking = True
                    if (notice := self._thinker.forgotten(self._dropped)) is not None:
                        await self._emit(ConverseResponse(notice=notice))
                    await self._state(TurnState.STATE_SPEAKING)
                await self._emit(ConverseResponse(media=chunk))
                self.stages.mark("first_media")
                self.pacer.sent(chunk.start_us + duration(chunk.pcm, self._voice.sample_rate_hz))

    async def _voice_is_slow(self, speed: float) -> None:
        await self.public.wait()
        await self._emit(ConverseResponse(notice=slow_notice(speed)))

    async def _state(self, state: TurnState.State.ValueType, heard: str = "") -> None:
        await self._emit(ConverseResponse(turn=TurnState(state=state, heard_text=heard)))
