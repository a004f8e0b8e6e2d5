"""A language model of MNN-LLM, driven token by token.

MNN's own ``response`` and ``generate`` hold the GIL for the whole answer and print to stdout; this
wrapper uses ``forward`` only, so that the caller samples, and can stop, between any two tokens.
"""

import importlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.engine._mnn import mnn
from taoxr.engine.module import Memory
from taoxr.errors import InvalidInputError, ModelError

# The tokenizer's time grows with the square of the length of a text without spaces: a second at 20,000.
_MAX_RUN_CHARS: Final = 2_000
_LONG_RUN: Final = re.compile(rf"\S{{{_MAX_RUN_CHARS + 1},}}")


class Llm:
    """One MNN-LLM folder with one KV cache, on the CPU; for one thread at a time.

    A call holds the GIL for its length.

    Args:
        folder: Holds ``config.json`` and what it names. Verify the files first: MNN crashes on damaged ones.
        vocabulary: Number of token ids; None asks the engine.
        memory: ``"low"`` computes in int8; ``"normal"`` in float32, more exact, half as fast, 600 MB for 135
            million parameters. None: as ``config.json`` says, or low.
        threads: Threads for one call.

    Attributes:
        vocabulary: Number of token ids.

    Raises:
        ModelError: MNN cannot load the folder.
    """

    def __init__(
        self, folder: Path, vocabulary: int | None = None, *, memory: Memory | None = None, threads: int = 1
    ) -> None:
        config = folder / "config.json"
        try:
            wanted = json.loads(config.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"cannot read {config}: {error}") from error
        mnn()
        # `from MNN import llm` would give the C module of the same name.
        created: Any = importlib.import_module("MNN.llm").create(str(config))
        # dynamic_option 2 quantises activations by block: KL to float32 0.0016 instead of 0.019.
        created.set_config(
            {
                "thread_num": threads,
                "memory": memory or wanted.get("memory", "low"),
                "dynamic_option": wanted.get("dynamic_option", 2),
                "precision": wanted.get("precision", "low"),
                "reuse_kv": True,
            }
        )
        self._chat: Any = created
        self._core: Any = created._c_obj  # its `load` tells about failure; that of the wrapper does not
        if not self._core.load():
            raise ModelError(f"MNN cannot load the language model in {folder}")
        self._core.generate_init()
        # Ids outside of it crash the engine.
        self.vocabulary = vocabulary or np.array(self._core.forward([0]).read()).size
        self._core.reset()
        self._tokens: list[int] = []
        self._held = 0  # tokens in MNN's cache; the rest of a rewind happens with the next feed

    @property
    def tokens(self) -> Sequence[int]:
        """The ids that the cache holds, oldest first."""
        return self._tokens

    def encode(self, text: str) -> list[int]:
        """Token ids of a text; names of special tokens in it become these tokens.

        Raises:
            InvalidInputError: The text has a run without spaces that would take too long.
        """
        if _LONG_RUN.search(text):
            raise InvalidInputError(
                "text", "a very long word", f"at most {_MAX_RUN_CHARS} characters without space"
            )
        return list(self._core.tokenizer_encode(_plain(text)))

    def render(self, messages: Sequence[tuple[str, str]]) -> str:
        """The prompt text of a conversation in the model's chat template, up to the answer's start.

        Args:
            messages: Pairs of role (``system``, ``user``, ``assistant``) and content.
        """
        turns = [{"role": r, "content": _plain(c)} for r, c in messages]
        return str(self._chat.apply_chat_template(turns))

    def piece(self, token: int) -> bytes:
        """What a token stands for; may be part of a character, and is empty for an id without a text."""
        try:
            text: str = self._core.tokenizer_decode(token)
        except UnicodeDecodeError as error:
            return bytes(error.object)
        return text.encode()

    def rewind(self, length: int) -> None:
        """Forgets all but the first ``length`` tokens of the cache.

        Raises:
            InvalidInputError: The cache holds fewer.
        """
        if not 0 <= length <= len(self._tokens):
            raise InvalidInputError("length", length, f"0 to {len(self._tokens)}")
        del self._tokens[length:]

    def feed(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Appends tokens to the cache.

        Args:
            ids: At least one token id.

        Returns:
            Logits of the token after the last one, float32 ``[vocabulary]``.

        Raises:
            InvalidInputError: ``ids`` is empty or holds an id outside the vocabulary (MNN would crash).
            ModelError: MNN returned something else than logits.
        """
        return self._forward(ids)[-1]

    def feed_all(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Appends tokens to the cache.

        Args:
            ids: At least one token id.

        Returns:
            Logits of the token after each of them, float32 ``[len(ids), vocabulary]``.

        Raises:
            InvalidInputError: As `feed`.
            ModelError: As `feed`.
        """
        self._chat.set_config({"all_logits": True})
        try:
            return self._forward(ids, rows=len(ids))
        finally:
            self._chat.set_config({"all_logits": False})

    def _forward(self, ids: Sequence[int], rows: int = 1) -> NDArray[np.float32]:
        if not ids or min(ids) < 0 or max(ids) >= self.vocabulary:
            raise InvalidInputError("ids", list(ids)[:8], f"one or more ids from 0 to {self.vocabulary - 1}")
        if not self._tokens:
            self._core.reset()
        elif len(self._tokens) < self._held:
            self._core.erase_history(len(self._tokens), 0)
        if len(ids) > 1 or not self._tokens:
            # Else MNN takes this for a decode step and clones the whole graph for its length.
            self._core.generate_init()
        result: Any = self._core.forward(list(ids))
        logits = np.array(result.read(), dtype=np.float32, copy=True)
        if logits.size != rows * self.vocabulary:
            self._tokens.clear()
            expected = rows * self.vocabulary
            raise ModelError(f"the language model gave {logits.size} logits, expected {expected}")
        self._tokens.extend(ids)
        self._held = len(self._tokens)
        return logits.reshape(rows, self.vocabulary)


def _plain(text: str) -> str:
    """The text without what MNN's tokenizer does not stand: lone surrogates (crash), NUL (cuts the text)."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
