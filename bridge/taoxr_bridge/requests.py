"""What a client says in mid-conversation: checks each request and passes it to whom it concerns."""

import time
from collections.abc import Callable

from taoxr.errors import InvalidInputError
from taoxr.v1 import conversation_pb2 as pb
from taoxr_bridge import validation
from taoxr_bridge.body import Body
from taoxr_bridge.listening import Listener
from taoxr_bridge.opening import pong
from taoxr_bridge.stages import Stages
from taoxr_bridge.tools import check_result
from taoxr_bridge.turn_taking import TurnTaking


class Requests:
    """The requests of one conversation after the first.

    Args:
        turns: The avatar's turns.
        listener: Hears the user; None without a microphone.
        body: The avatar's body; None when the client wants none.
        on_update: Takes a checked change of the config.
    """

    def __init__(
        self,
        turns: TurnTaking,
        listener: Listener | None,
        body: Body | None,
        on_update: Callable[[pb.UpdateConfig], None],
    ) -> None:
        self._turns = turns
        self._listener = listener
        self._body = body
        self._on_update = on_update
        self._muted = False

    async def handle(self, request: pb.ConverseRequest) -> bool:
        """Handles a request; False when the client ends the conversation with it.

        Raises:
            InvalidInputError: It has a wrong value.
        """
        match request.WhichOneof("payload"):
            case "audio":
                validation.check_pcm("audio.pcm", request.audio.pcm)
                await self._require_ear("audio").hear(request.audio.pcm, muted=self._muted)
            case "text":
                validation.check_text("text.text", request.text.text)
                await self._turns.take_turn(request.text.text.strip(), Stages(time.monotonic()))
            case "interrupt":
                validation.check_played("interrupt.played_us", request.interrupt.played_us)
                asked = request.interrupt
                await self._turns.interrupt(asked.turn_id, asked.played_us, asked.forget)
            case "playback":
                validation.check_played("playback.played_us", request.playback.played_us)
                self._turns.played(request.playback.turn_id, request.playback.played_us)
            case "end_of_user_turn":
                await self._require_ear("end_of_user_turn").end_turn()
            case "mute":
                await self._mute(request.mute.muted)
            case "update_config":
                validation.check_update(request.update_config)
                self._on_update(request.update_config)
            case "play_action":
                validation.check_action(request.play_action)
                await self._require_body("play_action").play(request.play_action)
            case "look_at":
                validation.check_target(request.look_at)
                await self._require_body("look_at").look_at(request.look_at)
            case "tool_result":
                check_result(request.tool_result)
                self._turns.tool_answered(request.tool_result)
            case "ping":
                await self._turns.tell("", pb.ConverseResponse(pong=pong(request.ping)))
            case "end_session":
                return False
            case other:
                raise InvalidInputError("payload", other, "one of the payloads but config, which comes first")
        return True

    async def _mute(self, muted: bool) -> None:
        listener = self._require_ear("mute")
        if muted and not self._muted:
            await listener.mute()
        self._muted = muted

    def _require_ear(self, field: str) -> Listener:
        if self._listener is None:
            raise InvalidInputError(field, "a request", "none, or config.audio_in in the first request")
        return self._listener

    def _require_body(self, field: str) -> Body:
        if self._body is None or not self._body.wanted:
            raise InvalidInputError(field, "a request", "none, or TRACK_BODY in config.tracks")
        return self._body
