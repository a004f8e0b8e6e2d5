"""The first thing that a conversation tells its client, and how it answers a ping."""

import time

from taoxr.v1 import common_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr_bridge.settings import Settings
from taoxr_bridge.voice import Voice


def opening(
    session_id: str,
    config: pb.ConversationConfig,
    rig: common_pb2.RigDescription,
    voice: Voice,
    settings: Settings,
) -> pb.SessionStarted:
    """What was negotiated, apart from how to resume (see `resume.Keeper.describe`)."""
    started = pb.SessionStarted(
        session_id=session_id,
        audio_out=common_pb2.AudioFormat(sample_rate_hz=voice.sample_rate_hz),
        rig=rig,
        lead_us=settings.lead_us,
        idle_timeout_us=round(settings.idle_timeout_s * 1e6),
    )
    started.rig.frame_rate = voice.frame_rate
    started.tracks.append(pb.TRACK_FACE)
    if config.tools:
        started.capabilities.append(pb.CAPABILITY_TOOLS)
    if config.HasField("audio_in"):
        started.audio_in.CopyFrom(config.audio_in)
        if config.input_mode != pb.INPUT_MODE_PUSH_TO_TALK and settings.barge_in != "none":
            started.capabilities.append(pb.CAPABILITY_BARGE_IN)
    return started


def pong(ping: pb.Ping) -> pb.Pong:
    """The answer to a ping."""
    return pb.Pong(client_time_us=ping.client_time_us, server_time_us=time.time_ns() // 1000)
