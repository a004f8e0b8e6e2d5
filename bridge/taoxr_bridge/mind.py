"""What the language model is told in one conversation: persona, history and how to sample."""

from contextlib import aclosing
from typing import Final

import structlog

from taoxr.errors import TaoxrError
from taoxr.v1 import common_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr.worker.v1 import llm_pb2
from taoxr_bridge import calls
from taoxr_bridge.history import History
from taoxr_bridge.settings import Settings
from taoxr_bridge.tools import Toolbox
from taoxr_bridge.turn import Thinker
from taoxr_bridge.worker import Worker

# A fixed default, so that runs repeat.
_SEED: Final = 1


class Mind:
    """The language model's side of a conversation.

    Args:
        llm: Worker that thinks.
        config: Wishes of the client; `update` changes them.
        settings: Limits and defaults.

    Attributes:
        history: What was said.
        tools: What the model may call.
    """

    def __init__(self, llm: Worker, config: pb.ConversationConfig, settings: Settings) -> None:
        self._llm = llm
        self._config = config
        self._settings = settings
        self.history = History(*self._persona(), config.history, settings.history_chars)
        self.tools = Toolbox(config)

    def update(self, update: pb.UpdateConfig) -> None:
        """Other wishes, from the next turn on; what is absent stays."""
        if update.HasField("system_prompt"):
            self._config.system_prompt = update.system_prompt
            self.history.change_persona(*self._persona())
        if update.HasField("max_answer_tokens"):
            self._config.max_answer_tokens = update.max_answer_tokens
        if update.HasField("temperature"):
            self._config.temperature = update.temperature

    def thinker(self, user_text: str = "") -> Thinker:
        """Who answers what was said last, or `user_text` as if it had been said now."""
        request = self._prompt()
        if user_text:
            request.messages.add(role=common_pb2.ROLE_USER, content=user_text)
        return Thinker(self._llm, request, self._settings.worker_wait_s, self.tools, self.history)

    async def warm_up(self) -> None:
        """Lets the language model read the persona while the user still thinks of what to say."""
        request = self._prompt()
        request.messages.add(role=common_pb2.ROLE_USER, content="Hello")
        request.max_tokens = 1
        request.answer_now = True
        try:
            async with aclosing(calls.generate(self._llm, request, 1.0)) as responses:
                async for _ in responses:
                    pass
        except TaoxrError as error:  # the first turn will find out by itself
            structlog.get_logger().info("warm-up failed", kind=type(error).__name__)

    def _persona(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """System prompt and examples; the examples only fit the default one."""
        prompt, settings = self._config.system_prompt, self._settings
        return (prompt, ()) if prompt else (settings.persona, settings.examples)

    def _prompt(self) -> llm_pb2.GenerateRequest:
        config, settings = self._config, self._settings
        return llm_pb2.GenerateRequest(
            messages=self.history.messages(),
            max_tokens=config.max_answer_tokens or settings.max_answer_tokens,
            temperature=config.temperature if config.HasField("temperature") else settings.temperature,
            top_k=settings.top_k,
            top_p=settings.top_p,
            repetition_penalty=settings.repetition_penalty,
            seed=config.seed or _SEED,
            tools=config.tools,
            tool_uses=self.history.tool_uses(),
        )
