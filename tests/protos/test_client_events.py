"""Every payload of a response becomes its event, and every field arrives."""

import dataclasses
import math

import grpc
import numpy as np
import pytest
from google.rpc import status_pb2

from taoxr.client import Action, Bones, Cue, CueKind, Track, events, from_proto
from taoxr.client.body import action_to_proto, look_at_to_proto
from taoxr.errors import BusyError, InvalidInputError, TaoxrError, UnavailableError
from taoxr.rpc import status_of
from taoxr.v1 import body_pb2, common_pb2, tools_pb2
from taoxr.v1 import conversation_pb2 as pb

pytestmark = pytest.mark.unit

RIG = common_pb2.RigDescription(space="arkit52", blendshape_names=["a", "b"], frame_rate=30, provisional=True)
STARTED = pb.SessionStarted(
    session_id="s",
    audio_in=common_pb2.AudioFormat(sample_rate_hz=16000),
    audio_out=common_pb2.AudioFormat(sample_rate_hz=1000),
    rig=RIG,
    lead_us=5,
    resume_token="secret",
    resume_window_us=6,
    resumed=True,
    lost_turn=pb.LostTurn(turn_id="turn-1", user_text="u", heard_text="h"),
    idle_timeout_us=7,
    capabilities=[pb.CAPABILITY_RESUME, 99],
    body=body_pb2.BodyDescription(bone_names=["hips", "head"], frame_rate=30),
    tracks=[pb.TRACK_FACE, pb.TRACK_BODY, 99],
)
POSE = body_pb2.BodyFrame(
    time_us=21_000, rotations=[0, 0, 0, 1, 1, 0, 0, 0], hips_translation=[0.1, 0.2, 0.3]
)
CUE = body_pb2.Cue(kind=body_pb2.Cue.KIND_EMOTION, time_us=20_000, duration_us=3000, strength=0.5, name="joy")
MEDIA = pb.MediaChunk(
    start_us=20_000,
    pcm=np.array([1, -2, 3], "<i2").tobytes(),
    frames=[common_pb2.Frame(time_us=21_000, weights=[0.25, 0.5])],
    clause=3,
    clause_text="Hi.",
    phonemes=[common_pb2.PhonemeTiming(symbol="h", start_us=20_000, end_us=23_000)],
    last=True,
    body=[POSE],
    cues=[CUE, body_pb2.Cue(kind=99)],
)
PAYLOADS = {
    "session_started": STARTED,
    "speech_activity": pb.SpeechActivity(kind=pb.SpeechActivity.KIND_STARTED, offset_us=7),
    "transcript": pb.Transcript(
        text="t",
        is_final=True,
        start_us=1,
        end_us=2,
        stable_text="t",
        words=[pb.TimedWord(text="t", start_us=1, end_us=2)],
        language="en",
    ),
    "turn": pb.TurnState(state=pb.TurnState.STATE_DONE, heard_text="h"),
    "text_delta": pb.TextDelta(text="d"),
    "media": MEDIA,
    "metrics": pb.TurnMetrics(stages_ms={"asr": 1.5}, prompt_tokens=1, reused_tokens=2, answer_tokens=3),
    "notice": status_of(BusyError("busy", 1.5)),
    "going_away": pb.GoingAway(reason=pb.GoingAway.REASON_IDLE, time_left_us=9),
    "tool_call": tools_pb2.ToolCall(call_id="c", name="n", arguments_json="{}", timeout_us=12),
    "pong": pb.Pong(client_time_us=10, server_time_us=11),
    "motion": body_pb2.Motion(activity=body_pb2.Motion.ACTIVITY_THINKING, body=[POSE]),
}
SESSION = from_proto.session_from_proto(STARTED)


def test_the_table_above_is_whole():
    fields = {f.name for f in pb.ConverseResponse.DESCRIPTOR.oneofs_by_name["payload"].fields}
    assert set(PAYLOADS) == fields


@pytest.mark.parametrize("name", PAYLOADS)
def test_each_payload_has_an_event_with_every_field_filled(name: str):
    response = pb.ConverseResponse(seq=4, turn_id="t", epoch=2, **{name: PAYLOADS[name]})
    event = from_proto.event_from_proto(response, SESSION)
    assert event is not None
    assert (event.seq, event.epoch) == (4, 2)
    for field in dataclasses.fields(event):
        value = getattr(event, field.name)
        if field.name != "turn_id" or name != "session_started":
            assert np.size(value) if isinstance(value, np.ndarray) else value, field.name
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.seq = 5


def test_media_are_arrays_on_the_turns_clock():
    chunk = from_proto.media_from_proto(MEDIA, SESSION)
    np.testing.assert_array_equal(chunk.pcm, np.array([1, -2, 3], np.int16))
    np.testing.assert_array_equal(chunk.frame_times_us, [21_000])
    np.testing.assert_array_equal(chunk.frame_weights, np.array([[0.25, 0.5]], np.float32))
    assert (chunk.pcm.dtype, chunk.frame_times_us.dtype, chunk.frame_weights.dtype) == ("i2", "i8", "f4")
    assert chunk.end_us == 23_000
    assert chunk.phonemes == (events.Phoneme("h", 20_000, 23_000),)


def test_the_body_is_arrays_and_cues_that_are_not_known_are_left_out():
    chunk = from_proto.media_from_proto(MEDIA, SESSION)
    np.testing.assert_array_equal(chunk.body.times_us, [21_000])
    np.testing.assert_array_equal(chunk.body.rotations, np.float32([[[0, 0, 0, 1], [1, 0, 0, 0]]]))
    np.testing.assert_array_equal(chunk.body.hips, np.float32([[0.1, 0.2, 0.3]]))
    assert chunk.cues == (Cue(CueKind.EMOTION, 20_000, 3000, 0.5, "joy"),)
    assert SESSION.tracks == {Track.FACE, Track.BODY}
    assert SESSION.bones == Bones(("hips", "head"), 30)


@pytest.mark.parametrize("action", Action)
def test_every_action_has_its_number(action: Action):
    assert body_pb2.PlayAction.Action.Name(action_to_proto(action).action) == f"ACTION_{action.name}"


def test_a_gaze_target_is_a_point_or_none():
    assert not look_at_to_proto(None).HasField("target")
    assert look_at_to_proto((1, 2, 3)).target == body_pb2.Point(x=1, y=2, z=3)
    with pytest.raises(InvalidInputError, match="target"):
        look_at_to_proto((1, 2))
    for wrong in ((0, math.nan, 0), (0, 0, 101), (-math.inf, 0, 0)):
        with pytest.raises(InvalidInputError, match="-100 to 100 metres"):
            look_at_to_proto(wrong)


def test_a_chunk_without_frames_still_has_columns():
    chunk = from_proto.media_from_proto(pb.MediaChunk(pcm=b"\0\0"), SESSION)
    assert chunk.frame_weights.shape == (0, 2)


@pytest.mark.parametrize("error", [BusyError("busy", 2.5), UnavailableError("gone"), TaoxrError("odd")])
def test_a_notice_holds_the_servers_exception(error: TaoxrError):
    notice = from_proto.event_from_proto(pb.ConverseResponse(notice=status_of(error)), SESSION)
    assert isinstance(notice, events.Notice)
    assert type(notice.error) is type(error)
    assert str(notice.error) == str(error)
    if isinstance(error, BusyError):
        assert notice.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert notice.error.retry_after_s == 2.5


def test_a_notice_of_another_server_and_unknown_payloads():
    status = status_pb2.Status(code=14, message="m")
    notice = from_proto.event_from_proto(pb.ConverseResponse(notice=status), SESSION)
    assert (notice.code, str(notice.error)) == (grpc.StatusCode.UNAVAILABLE, "m")
    assert from_proto.event_from_proto(pb.ConverseResponse(), SESSION) is None
    assert from_proto.event_from_proto(pb.ConverseResponse(turn=pb.TurnState()), SESSION) is None


def test_a_session_says_what_was_lost_and_keeps_its_secret():
    assert SESSION.lost_turn == events.LostTurn("turn-1", "u", "h")
    assert SESSION.capabilities == {events.Capability.RESUME}  # what a newer server can do is skipped
    assert "secret" not in repr(SESSION)


@pytest.mark.parametrize("reason", [r for r in pb.GoingAway.Reason.values() if r])
def test_every_reason_for_an_end_is_known(reason):
    event = from_proto.event_from_proto(pb.ConverseResponse(going_away=pb.GoingAway(reason=reason)), SESSION)
    assert event.reason is not events.Leaving.UNKNOWN


def test_every_state_of_the_protocol_is_known():
    values = [v for v in pb.TurnState.State.values() if v != pb.TurnState.STATE_UNSPECIFIED]
    states = [
        from_proto.event_from_proto(pb.ConverseResponse(turn=pb.TurnState(state=v)), SESSION).state
        for v in values
    ]
    assert sorted(states) == sorted(events.State)
    assert [s for s in events.State if s.ended] == [
        events.State.DONE, events.State.INTERRUPTED, events.State.FAILED,
    ]  # fmt: skip
