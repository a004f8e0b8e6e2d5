"""Settings of the bridge: options of ``taoxr serve``, environment ``TAOXR_BRIDGE_*``, or the default."""

from pathlib import Path
from typing import Literal

from pydantic import DirectoryPath, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

PERSONA = (
    "You are Joe, a friendly avatar who talks with people. "
    "Answer in one or two short, simple sentences. Do not use lists, code or emoji."
)

# Shown to the language model before the conversation. A model of 135 million parameters does not do much
# with a description, but imitates examples: with these its answers are short and to the point.
EXAMPLES = (
    ("Hi there! Who are you?", "Hello! I am Joe, a talking avatar. It is nice to meet you."),
    ("I feel a bit sad.", "I am sorry to hear that. Do you want to talk about it?"),
    ("See you later!", "Goodbye! It was nice to talk with you."),
    ("What is the largest animal?", "The blue whale is the largest animal on Earth."),
    ("What do you like?", "I like talking with people, music, and long walks."),
    ("Why do leaves fall in autumn?", "Trees drop their leaves to save water and energy in the cold months."),
)


class Settings(BaseSettings):
    """Everything about a bridge that can be chosen.

    Attributes:
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one.
        insecure: Allows an address that other machines reach, without encryption.
        tls_cert: PEM file with the server's certificate chain; TLS is on when it is given.
        tls_key: PEM file with the certificate's private key.
        tls_client_ca: PEM file with the authorities whose clients are let in; others are refused.
        token: Secret that callers must send; better in `token_file`.
        token_file: File that holds the token.
        announce: Whether the bridge lets itself be found on the local network.
        announce_loopback: Allows that for an address that only this machine reaches.
        reflection: Whether the server describes its services; None: only on a loopback address.
        avatars: Folder of `.nnr` files to give away; None: those that are installed with taoxr.
        max_conversations: Conversations at once; more than one only with that many language models.
        max_calls: Calls of all kinds at once.
        stall_timeout_s: A client that makes no room for a response for so long is closed.
        stream_idle_timeout_s: A stream of requests that is no conversation ends after so long without one.
        metrics_host: Address of the page for Prometheus.
        metrics_port: Port of the page for Prometheus; None serves none.
        drain_timeout_s: How long the avatar may take to finish its clause when the server stops.
        lead_us: How far ahead of playback media goes out, in microseconds.
        persona: System prompt of conversations that bring none.
        examples: Exchanges (user, avatar) that show the persona; only used with it.
        temperature: Sampling temperature of conversations that choose none.
        top_k: Tokens that the sampler chooses among.
        top_p: Share of probability that the sampler chooses among.
        repetition_penalty: 1 is none.
        max_answer_tokens: Most tokens of an answer, and the default.
        history_chars: Characters of history that the language model is told.
        endpoint_silence_ms: Silence that ends the user's turn; 0 leaves it to the ear.
        barge_in: What stops the avatar in a hands-free conversation. "speech": a voice, a quarter of a
            second after its onset; the avatar goes on if it was a false alarm. "words": the first
            recognised words. "none": nothing; the ear hears silence while the avatar speaks.
        speculate: Whether an answer is prepared, unheard, while it is not yet certain that the user has
            finished; dropped when the user goes on.
        sentence_pause_ms: Silence after a sentence, on top of the voice's own.
        idle_timeout_s: A conversation without any request for so long is ended.
        a2f_max_clip_s: Longest clip that the Audio2Face-3D endpoint accepts.
        resume_s: How long a conversation can be resumed after its connection was lost; 0 keeps no journal.
        worker_wait_s: How long a turn waits for a worker that is restarting or busy.
        start_timeout_s: How long a worker may take to load its model.
        hang_timeout_s: A worker that answers no health check for so long is killed and restarted.
    """

    model_config = SettingsConfigDict(env_prefix="TAOXR_BRIDGE_", extra="ignore", validate_assignment=True)

    host: str = "127.0.0.1"
    port: int = Field(50061, ge=0, le=65535)
    insecure: bool = False
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    token: SecretStr | None = None
    token_file: Path | None = None
    announce: bool = False
    announce_loopback: bool = False
    reflection: bool | None = None
    avatars: DirectoryPath | None = None
    max_conversations: int = Field(1, ge=1, le=64)
    max_calls: int = Field(256, ge=1)
    stall_timeout_s: float = Field(10.0, gt=0)
    stream_idle_timeout_s: float = Field(60.0, gt=0)
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = Field(None, ge=1, le=65535)
    drain_timeout_s: float = Field(5.0, ge=0, le=60)
    lead_us: int = Field(1_200_000, ge=200_000, le=10_000_000)
    persona: str = PERSONA
    examples: tuple[tuple[str, str], ...] = EXAMPLES
    temperature: float = Field(0.3, ge=0, le=2)
    top_k: int = Field(40, ge=1)
    top_p: float = Field(0.9, gt=0, le=1)
    repetition_penalty: float = Field(1.1, ge=1, le=2)
    max_answer_tokens: int = Field(80, ge=1, le=1024)
    history_chars: int = Field(4000, ge=200)
    endpoint_silence_ms: int = Field(0, ge=0, le=5000)
    barge_in: Literal["speech", "words", "none"] = "speech"
    speculate: bool = True
    sentence_pause_ms: int = Field(120, ge=0, le=2000)
    idle_timeout_s: float = Field(600.0, gt=0)
    a2f_max_clip_s: float = Field(300.0, gt=0)
    resume_s: float = Field(300.0, ge=0, le=86400)
    worker_wait_s: float = Field(20.0, gt=0)
    start_timeout_s: float = Field(120.0, gt=0)
    hang_timeout_s: float = Field(60.0, gt=0)
