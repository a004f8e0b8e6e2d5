"""``taoxr.worker.v1.MotionService``: the bodies of conversations, any number at once."""

import math
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from typing import Final

import grpc.aio

from taoxr.errors import InvalidInputError
from taoxr.v1 import body_pb2
from taoxr.v1.common_pb2 import PhonemeTiming
from taoxr.worker.v1 import motion_pb2, motion_pb2_grpc
from taoxr.worker.v1.motion_pb2 import MoveRequest, MoveResponse
from taoxr_models import catalog
from taoxr_models.a2bs.phonemes import Phoneme
from taoxr_models.motion.bones import BONES
from taoxr_models.motion.mover import Activity, Cue, CueKind, Mover, Span
from taoxr_models.motion.recording import Recording
from taoxr_models.worker.model_thread import ModelThread
from taoxr_models.worker.role import Role, RoleSetup

MODEL: Final = "procedural"
"""Id of the built-in method; it needs no installed model."""
RECIPE: Final = "smplx-recording"
"""Of the models that it takes instead."""
_DEFAULT_FRAME_RATE: Final = 30.0
_FRAME_RATES: Final = (10.0, 120.0)
_LONGEST_US: Final = 60_000_000
_MAX_TEXT_CHARS: Final = 4000
_ACTIVITIES: Final = {
    motion_pb2.Advance.ACTIVITY_IDLE: Activity.IDLE,
    motion_pb2.Advance.ACTIVITY_LISTENING: Activity.LISTENING,
    motion_pb2.Advance.ACTIVITY_THINKING: Activity.THINKING,
    motion_pb2.Advance.ACTIVITY_TALKING: Activity.TALKING,
}
_KINDS: Final = {
    CueKind.STRESS: body_pb2.Cue.KIND_STRESS,
    CueKind.BEAT: body_pb2.Cue.KIND_BEAT,
    CueKind.EMOTION: body_pb2.Cue.KIND_EMOTION,
}


class MotionRole(motion_pb2_grpc.MotionServiceServicer):
    """Moves bodies.

    Args:
        setup: From the worker process.

    Raises:
        InvalidInputError: The model is neither the built-in one nor a recording of the catalogue.
    """

    def __init__(self, setup: RoleSetup) -> None:
        self._model = setup.model or catalog.default_model("motion", MODEL)
        if self._model != MODEL and catalog.entry(self._model).recipe != RECIPE:
            raise InvalidInputError("--model", self._model, f"{MODEL}, or a model of the recipe {RECIPE}")
        self._thread: ModelThread = setup.thread
        self._recording: Recording | None = None

    @property
    def model(self) -> str:
        """Id of the method."""
        return self._model

    @property
    def sample_rate_hz(self) -> int:
        """0: makes no audio."""
        return 0

    def load(self) -> None:
        """Reads the recording, if any, and moves once, so that the first frames of a conversation come fast.

        Raises:
            ModelError: The recording is not installed, or damaged.
        """
        if self._model != MODEL:
            self._recording = Recording.of_folder(catalog.verified(self._model))
        mover = Mover(recording=self._recording)
        mover.speak("Warm up.", [Phoneme("ˈɑ", 0.0, 0.5)])
        mover.advance(Activity.TALKING, 500_000, 0)

    def register(self, server: grpc.aio.Server) -> None:
        """Adds the service to the server."""
        motion_pb2_grpc.add_MotionServiceServicer_to_server(self, server)

    async def Move(  # noqa: N802  the rpc's name
        self,
        request_iterator: AsyncIterable[MoveRequest],
        context: grpc.aio.ServicerContext[MoveRequest, MoveResponse],
    ) -> AsyncGenerator[MoveResponse]:
        """Moves the body of one conversation."""
        requests = aiter(request_iterator)
        first = await anext(requests, None)
        if first is None or first.WhichOneof("payload") != "config":
            raise InvalidInputError("payload", None, "the first request to hold `config`")
        mover, description = _begin(first.config, self._recording)
        yield MoveResponse(started=description)
        async for request in requests:
            match request.WhichOneof("payload"):
                case "advance":
                    span = await self._thread.run(_advance, mover, request.advance)
                    yield MoveResponse(span=_span(span))
                case "speak":
                    await self._thread.run(_speak, mover, request.speak)
                case "action":
                    if request.action.action not in body_pb2.PlayAction.Action.values()[1:]:
                        raise InvalidInputError("action.action", request.action.action, "a value of Action")
                    mover.act(request.action.action)
                case "look_at":
                    mover.look_at(_point(request.look_at))
                case "cut":
                    mover.cut(request.cut.at_us)
                case other:
                    raise InvalidInputError("payload", other, "one but `config`, which comes first")


def _begin(
    config: motion_pb2.MoveConfig, recording: Recording | None
) -> tuple[Mover, body_pb2.BodyDescription]:
    rate = config.frame_rate or _DEFAULT_FRAME_RATE
    if not _FRAME_RATES[0] <= rate <= _FRAME_RATES[1]:
        raise InvalidInputError("config.frame_rate", rate, "{:g} to {:g}, or 0".format(*_FRAME_RATES))
    for field in ("seed", "start_us"):
        if (value := getattr(config, field)) < 0:
            raise InvalidInputError(f"config.{field}", value, "0 or more")
    mover = Mover(config.seed, rate, config.start_us, recording)
    return mover, body_pb2.BodyDescription(bone_names=BONES, frame_rate=rate)


def _advance(mover: Mover, request: motion_pb2.Advance) -> Span:
    if request.activity not in _ACTIVITIES:
        raise InvalidInputError("advance.activity", request.activity, "a value of Activity")
    if not 0 < request.duration_us <= _LONGEST_US:
        raise InvalidInputError("advance.duration_us", request.duration_us, f"1 to {_LONGEST_US}")
    return mover.advance(_ACTIVITIES[request.activity], request.duration_us, request.clock_offset_us)


def _speak(mover: Mover, request: motion_pb2.SpeakClause) -> None:
    if len(request.text) > _MAX_TEXT_CHARS:
        raise InvalidInputError("speak.text", f"{len(request.text)} characters", f"at most {_MAX_TEXT_CHARS}")
    mover.speak(request.text, _phonemes(request.phonemes))


def _phonemes(timings: Iterable[PhonemeTiming]) -> list[Phoneme]:
    return [Phoneme(t.symbol, t.start_us * 1e-6, t.end_us * 1e-6) for t in timings]


def _point(request: body_pb2.LookAt) -> tuple[float, float, float] | None:
    if not request.HasField("target"):
        return None
    point = (request.target.x, request.target.y, request.target.z)
    if not all(map(math.isfinite, point)):
        raise InvalidInputError("look_at.target", point, "finite numbers")
    return point


def _span(span: Span) -> motion_pb2.MovedSpan:
    # No frame may fall into a span as short as the end of a clause.
    rotations = [frame.ravel().astype("<f4").tolist() for frame in span.rotations]
    rows = zip(span.times_us.tolist(), rotations, span.hips.tolist(), strict=True)
    return motion_pb2.MovedSpan(
        start_us=span.start_us,
        frames=[body_pb2.BodyFrame(time_us=t, rotations=q, hips_translation=h) for t, q, h in rows],
        cues=map(_cue, span.cues),
    )


def _cue(cue: Cue) -> body_pb2.Cue:
    return body_pb2.Cue(
        kind=_KINDS[cue.kind],
        time_us=cue.time_us,
        duration_us=cue.duration_us,
        strength=cue.strength,
        name=cue.name,
    )


def create(setup: RoleSetup) -> Role:
    """The role for the worker process."""
    return MotionRole(setup)
