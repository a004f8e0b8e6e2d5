"""Checks of what clients send; every error names field, value and what is expected."""

import math
from collections.abc import Sequence
from typing import Final

from taoxr.errors import InvalidInputError
from taoxr.v1 import body_pb2, common_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr_bridge.tools import check_tools

MAX_TEXT_CHARS: Final = 4000
MAX_PCM_BYTES: Final = 256 * 1024
_MAX_HISTORY: Final = 200
_MAX_TOKENS: Final = 1024
_RATES: Final = range(8000, 48001)
_FARTHEST_M: Final = 100.0
DEFAULT_FRAME_RATE: Final = 30.0


def check_config(config: pb.ConversationConfig, space: str) -> None:
    """Checks the first request of a conversation; `space` is what the server's frames are in.

    Raises:
        InvalidInputError: A field has a wrong value.
    """
    if config.HasField("audio_in"):
        check_sample_rate("config.audio_in.sample_rate_hz", config.audio_in.sample_rate_hz)
    if config.input_mode not in pb.InputMode.values():
        raise InvalidInputError("config.input_mode", config.input_mode, "a value of InputMode")
    frame_rate("config.frame_rate", config.frame_rate)
    check_speed("config.speed", config.speed)
    if config.space not in ("", space):
        raise InvalidInputError("config.space", config.space, f"{space!r}, which this server's frames are in")
    check_tracks("config.tracks", config.tracks)
    _check_length("config.system_prompt", config.system_prompt)
    if len(config.history) > _MAX_HISTORY:
        raise InvalidInputError("config.history", len(config.history), f"at most {_MAX_HISTORY} messages")
    for i, message in enumerate(config.history):
        if message.role not in (common_pb2.ROLE_USER, common_pb2.ROLE_ASSISTANT):
            raise InvalidInputError(f"config.history[{i}].role", message.role, "ROLE_USER or ROLE_ASSISTANT")
        check_text(f"config.history[{i}].content", message.content)
    _check_sampling("config", config)
    check_tools(config)
    if config.resume_token and (config.system_prompt or config.history):
        field = "config.system_prompt" if config.system_prompt else "config.history"
        raise InvalidInputError(field, "a value", "none together with resume_token")


def check_update(update: pb.UpdateConfig) -> None:
    """Checks a change of the config in mid-conversation.

    Raises:
        InvalidInputError: A field has a wrong value.
    """
    _check_length("update_config.system_prompt", update.system_prompt)
    _check_sampling("update_config", update)


def check_tracks(field: str, tracks: Sequence[int]) -> None:
    """Checks what is wanted beside the voice.

    Raises:
        InvalidInputError: One is no track.
    """
    for i, track in enumerate(tracks):
        if track not in pb.Track.values() or track == pb.TRACK_UNSPECIFIED:
            raise InvalidInputError(f"{field}[{i}]", track, "TRACK_FACE, TRACK_BODY or TRACK_CUES")


def check_action(action: body_pb2.PlayAction) -> None:
    """Checks a gesture that is asked for.

    Raises:
        InvalidInputError: It is none.
    """
    actions = body_pb2.PlayAction.Action
    if action.action not in actions.values() or action.action == body_pb2.PlayAction.ACTION_UNSPECIFIED:
        raise InvalidInputError("play_action.action", action.action, "a value of Action")


def check_target(look_at: body_pb2.LookAt) -> None:
    """Checks where the avatar is to look.

    Raises:
        InvalidInputError: It is not a point within reach.
    """
    for axis in "xyz":
        value = getattr(look_at.target, axis)
        # Not a number is not in any range either.
        if not -_FARTHEST_M <= value <= _FARTHEST_M:
            raise InvalidInputError(f"look_at.target.{axis}", value, "-100 to 100 metres")


def frame_rate(field: str, value: float) -> float:
    """The frame rate that is meant by a field, 0 being the default.

    Raises:
        InvalidInputError: It is out of range.
    """
    if value == 0:
        return DEFAULT_FRAME_RATE
    if not (math.isfinite(value) and 10 <= value <= 120):
        raise InvalidInputError(field, value, "10 to 120 frames per second, or 0 for 30")
    return value


def check_speed(field: str, value: float) -> None:
    """Checks a speaking rate.

    Raises:
        InvalidInputError: It is out of range.
    """
    if value != 0 and not 0.5 <= value <= 2:
        raise InvalidInputError(field, value, "0.5 to 2, or 0 for the voice's own")


def check_sample_rate(field: str, value: int) -> None:
    """Checks the rate of audio that a client sends.

    Raises:
        InvalidInputError: It is out of range.
    """
    if value not in _RATES:
        raise InvalidInputError(field, value, f"{_RATES.start} to {_RATES.stop - 1}")


def check_pcm(field: str, pcm: bytes) -> None:
    """Checks a piece of audio.

    Raises:
        InvalidInputError: It is too long, or ends in half a sample.
    """
    if len(pcm) > MAX_PCM_BYTES:
        raise InvalidInputError(field, f"{len(pcm)} bytes", f"at most {MAX_PCM_BYTES} bytes in one request")
    if len(pcm) % 2:
        raise InvalidInputError(field, f"{len(pcm)} bytes", "16-bit samples, so an even number of bytes")


def check_text(field: str, text: str) -> None:
    """Checks a text that somebody says.

    Raises:
        InvalidInputError: It is empty or too long.
    """
    if not text.strip():
        raise InvalidInputError(field, text, "some text")
    _check_length(field, text)


def check_played(field: str, played_us: int) -> None:
    """Checks a playback position.

    Raises:
        InvalidInputError: It is negative.
    """
    if played_us < 0:
        raise InvalidInputError(field, played_us, "0 or more microseconds")


def _check_sampling(field: str, config: pb.ConversationConfig | pb.UpdateConfig) -> None:
    if not 0 <= config.max_answer_tokens <= _MAX_TOKENS:
        raise InvalidInputError(f"{field}.max_answer_tokens", config.max_answer_tokens, f"0 to {_MAX_TOKENS}")
    if not 0 <= config.temperature <= 2:
        raise InvalidInputError(f"{field}.temperature", config.temperature, "0 to 2")


def _check_length(field: str, text: str) -> None:
    if len(text) > MAX_TEXT_CHARS:
        raise InvalidInputError(field, f"{len(text)} characters", f"at most {MAX_TEXT_CHARS} characters")
