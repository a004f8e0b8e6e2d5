"""Whisper on MNN, in small steps.

MNN holds the GIL for a whole call, so a `Recognition` advances by single calls: one for each block of the
encoder (about 12 ms for 3 s of speech), then one for each token (2 to 8 ms). Between steps the worker answers
others and may drop the recognition.

What an earlier recognition of the same speech has found saves work: tokens that were shown as certain are
taken as they are, and likely ones are checked all in one call (Leviathan et al., "Fast inference from
transformers via speculative decoding", 2023), which leaves the result what it would have been.
"""

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from taoxr.engine import Module
from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.dsp.resample import RATE
from taoxr_models.ear.decoder import Cross, Decoder, Decoding
from taoxr_models.ear.window import COARSE, FINER, WHOLE, Window
from taoxr_models.ear.word_times import STEP_S, Word, token_times, words_of

MAX_SECONDS: Final = 25.0
"""Longest audio of one recognition."""

# Nobody says more tokens than this; a decoder that does has fallen into a loop.
_TOKENS_PER_S: Final = 7.0
_TOKENS_EXTRA: Final = 10
# A phrase of up to 12 tokens said four times in a row is a loop; "no, no, no, no" is not yet one.
_LOOP_LENGTHS: Final = range(1, 13)
_LOOP_TIMES: Final = 4
_LOOP_TOKENS: Final = 12
# Nor more words than this. "Mm-hm" can become a whole sentence that was frequent in the training data.
_WORDS_PER_S: Final = 5.5
# A short window can make it say a whole sentence again: cut if the two together were said faster than this.
_AGAIN_WORDS_PER_S: Final = 3.5
_AGAIN_TOKENS: Final = 5
# Both together mean that the words are made up: Whisper's own rule. Of a single sound, such as "mm-hm", it
# makes words that are unlikely and yet speech.
_NO_SPEECH: Final = 0.6
_UNLIKELY: Final = -1.0
_SOUND_S: Final = 1.5


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known before a recognition.

    Attributes:
        certain: Tokens that the text begins with.
        likely: Tokens that may follow; they only save time.
        language: Code such as "en"; None lets a multilingual model find out.
        word_times: Whether times of words are wanted.
    """

    certain: tuple[int, ...] = ()
    likely: tuple[int, ...] = ()
    language: str | None = None
    word_times: bool = False


class Whisper:
    """The loaded model, of any size; share it between streams.

    Args:
        folder: Catalogue folder as the recipe ``whisper-ct2`` writes it.

    Raises:
        ModelError: A file is missing or not what it should be.
    """

    def __init__(self, folder: Path) -> None:
        self._encoder = _encoder(folder)
        self.decoder = Decoder(folder)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.end = self._special("<|endoftext|>")
        self.start = self._special("<|startoftranscript|>")
        self.no_speech = self._first_special("<|nospeech|>", "<|nocaptions|>")
        self._no_timestamps = self._special("<|notimestamps|>")
        # English-only models have the languages' tokens in their files as well, but one token less in all.
        self.languages: dict[str, int] = {}
        if "lang_ids" in config and self.decoder.vocabulary > 51864:
            names = {i: str(self._tokenizer.id_to_token(i)) for i in config["lang_ids"]}
            self.languages = {name.strip("<|>"): i for i, name in names.items()}
        never = np.zeros(self.decoder.vocabulary, np.bool_)
        never[config["suppress_ids"]] = True
        never[self.end + 1 :] = True  # all special tokens and timestamps
        self.never = never
        self.never_first = never.copy()
        self.never_first[config["suppress_ids_begin"]] = True

    def recognise(self, samples: NDArray[np.float32], hints: Hints = Hints()) -> "Recognition":
        """Prepares a recognition; nothing runs before its first step.

        Args:
            samples: [n] at 16 kHz in [-1, 1], at most `MAX_SECONDS`.
            hints: What is known already.

        Raises:
            InvalidInputError: The audio is empty or too long, or the model does not know the language.
        """
        if not 0 < len(samples) <= MAX_SECONDS * RATE:
            expected = f"more than 0, at most {MAX_SECONDS:g} seconds"
            raise InvalidInputError("samples", f"{len(samples) / RATE:.1f} s", expected)
        self.check_language(hints.language)
        # The second only if the first falls into a loop.
        first = FINER if self.languages else COARSE
        windows = (Window.of(samples, self.width, pieces) for pieces in (first, WHOLE))
        return Recognition(self, windows, len(samples) / RATE, hints)

    def recognise_mel(self, mel: NDArray[np.float32], seconds: float) -> "Recognition":
        """As `recognise`, from a log-mel spectrogram [bands, 2 s] with so much audio in front."""
        return Recognition(self, iter([Window.whole(mel, self.width)]), seconds, Hints())

    @property
    def width(self) -> int:
        """Width of the encoder, as `Window` needs it."""
        return self.decoder.embeddings.shape[1]

    def check_language(self, language: str | None, field: str = "language") -> None:
        """Refuses a language that the model does not know; `field` names it in the error.

        Raises:
            InvalidInputError: It does not.
        """
        if language is not None and language not in (self.languages or ("en",)):
            expected = ", ".join(sorted(self.languages)) or "en: the model knows English only"
            raise InvalidInputError(field, language, expected)

    def prompt(self, language: str) -> list[int]:
        """Tokens before the text, after the first."""
        if not self.languages:
            return [self._no_timestamps]
        return [self.languages[language], self._special("<|transcribe|>"), self._no_timestamps]

    def decode(self, tokens: list[int]) -> str:
        """Text of tokens."""
        return self._tokenizer.decode(tokens).strip()

    def word_starts(self, tokens: Sequence[int]) -> list[int]:
        """Indices of the tokens that begin a word, the first one included."""
        pieces = self.pieces(list(tokens))
        return [i for i, piece in enumerate(pieces) if i == 0 or piece.startswith(" ")]

    def pieces(self, tokens: list[int]) -> list[str]:
        """What each token adds to the text; characters of several tokens come with their last one."""
        texts = [self._tokenizer.decode(tokens[: i + 1]).removesuffix("�") for i in range(len(tokens))]
        return [now[len(before) :] for before, now in zip(["", *texts], texts, strict=False)]

    def encode(self, window: Window) -> Generator[None, None, Cross]:
        """Runs the encoder, one step for each of its blocks."""
        variables = [window.mel, window.source, window.position]
        for part in self._encoder:
            variables = part.forward(*variables, window.log_count)
            yield
        return variables[0], variables[1], window.log_count

    def _special(self, text: str) -> int:
        return self._first_special(text)

    def _first_special(self, *texts: str) -> int:
        for text in texts:
            token = self._tokenizer.token_to_id(text)
            if token is not None:
                return token
        raise ModelError(f"tokenizer.json has no {' or '.join(texts)}; pull the model again")


class Recognition:
    """One piece of audio on its way to text.

    Attributes:
        done: True once the results are final.
        text: The text.
        tokens: The text's tokens.
        language: Code of the language.
        words: The words with their times, if they were asked for.
    """

    def __init__(self, whisper: Whisper, windows: Iterator[Window], seconds: float, hints: Hints) -> None:
        self.done = False
        self.text = ""
        self.tokens: list[int] = []
        self.language = hints.language or "en"
        self.words: list[Word] = []
        self._whisper = whisper
        self._seconds = seconds
        self._hints = hints
        self._steps = self._run(windows)
        self._no_speech = 0.0
        self._log_probabilities: list[float] = []
        self._attention: list[NDArray[np.float32]] = []

    def step(self) -> None:
        """Runs one model call."""
        if next(self._steps, False) is False:
            self.done = True

    def _run(self, windows: Iterator[Window]) -> Generator[None]:
        for window in windows:
            cross = yield from self._whisper.encode(window)
            whole = yield from self._decode(cross)
            if whole:
                break
        self.tokens = self.tokens[: len(self.tokens) - repeated_tokens(self.tokens)]
        doubtful = self._no_speech > _NO_SPEECH or self._seconds < _SOUND_S
        if doubtful and self._certainty() < _UNLIKELY:
            self.tokens = list(self._hints.certain)
        self.text = self._whisper.decode(self.tokens)
        if len(self.text.split()) > _WORDS_PER_S * self._seconds:
            self.tokens = list(self._hints.certain)
            self.text = self._whisper.decode(self.tokens)
        if self._hints.word_times and self.text:
            self.words = self._word_times()

    def _certainty(self) -> float:
        return float(np.mean(self._log_probabilities)) if self._log_probabilities else 0.0

    def _decode(self, cross: Cross) -> Generator[None, None, bool]:
        """Greedy decoding; False when it has fallen into a loop."""
        whisper, hints = self._whisper, self._hints
        decoding = Decoding(whisper.decoder, cross)
        first = [whisper.start]
        if whisper.languages and hints.language is None:
            scores, _ = decoding.feed(first)
            codes = list(whisper.languages)
            self.language = codes[int(scores[0, list(whisper.languages.values())].argmax())]
            self._no_speech = _probability(scores[0], whisper.no_speech)
            first = []
            yield
        prompt = [*first, *whisper.prompt(self.language)]
        certain, likely = list(hints.certain), list(hints.likely)
        scores, attention = decoding.feed([*prompt, *certain, *likely])
        yield
        if first:
            self._no_speech = _probability(scores[0], whisper.no_speech)
        self._log_probabilities.clear()
        self.tokens = certain
        at = len(prompt) + len(certain) - 1
        token = self._pick(scores[at])
        agreed = 0
        while agreed < len(likely) and likely[agreed] == token:
            self.tokens.append(token)
            agreed += 1
            token = self._pick(scores[at + agreed])
        decoding.take_back(len(likely) - agreed)
        self._attention = [attention[:, len(prompt) - 1 : at + agreed + 1]]
        cap = round(self._seconds * _TOKENS_PER_S) + _TOKENS_EXTRA
        while token != whisper.end and decoding.room:
            self.tokens.append(token)
            if self._says_it_again():
                del self.tokens[len(self.tokens) // 2 :]
                break
            if len(self.tokens) >= cap or repeated_tokens(self.tokens):
                return False
            scores, attention = decoding.feed([token])
            yield
            self._attention.append(attention)
            token = self._pick(scores[0])
        return True

    def _says_it_again(self) -> bool:
        half, rest = divmod(len(self.tokens), 2)
        if rest or half < _AGAIN_TOKENS or self.tokens[:half] != self.tokens[half:]:
            return False
        words = self._whisper.decode(self.tokens).split()
        return len(words) > _AGAIN_WORDS_PER_S * self._seconds

    def _pick(self, scores: NDArray[np.float32]) -> int:
        whisper = self._whisper
        masked = np.where(whisper.never if self.tokens else whisper.never_first, -np.inf, scores)
        token = int(masked.argmax())
        self._log_probabilities.append(float(np.log(_probability(scores, token) + 1e-9)))
        return token

    def _word_times(self) -> list[Word]:
        attention = np.concatenate(self._attention, axis=1)[:, : len(self.tokens) + 1]
        times = token_times(attention, max(1, round(self._seconds / STEP_S)))
        missing = len(self.tokens) + 1 - len(times)  # a loop's last token was never fed
        times = np.append(times, [self._seconds] * missing)
        return words_of(self._whisper.pieces(self.tokens), times, self._seconds)


def _encoder(folder: Path) -> list[Module]:
    """The blocks: two of each file, which stand before and behind its ``half``."""
    files = [
        "trunk.mnn",
        *(f"encoder_{i}.mnn" for i in range(1, len(list(folder.glob("encoder_*.mnn"))) + 1)),
    ]
    blocks: list[Module] = []
    for file in files:
        first, last = file == files[0], file == files[-1]
        inputs = ["mel", "source", "position"] if first else ["x"]
        outputs = ["ck", "cv"] if last else ["x"] if first else ["y"]
        blocks.append(Module(folder / file, [*inputs, "log_count"], ["half"]))
        blocks.append(Module(folder / file, ["half", "log_count"], outputs))
    return blocks


def _probability(scores: NDArray[np.float32], token: int) -> float:
    return float(1.0 / np.exp(scores - scores[token]).sum())


def repeated_tokens(tokens: list[int]) -> int:
    """How many tokens at the end only repeat the phrase before them, when that is a loop, else 0."""
    for n in _LOOP_LENGTHS:
        times = max(_LOOP_TIMES, -(-_LOOP_TOKENS // n))
        tail = tokens[-times * n :]
        if len(tail) == times * n and tail == tail[:n] * times:
            return (times - 1) * n
    return 0
