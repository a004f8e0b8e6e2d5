"""The Python client of the bridge, which every Python part and program uses.

::

    async with private_bridge() as target, connect(target) as client:
        async with client.converse(ConversationOptions()) as conversation:
            await conversation.send_text("Hello!")
            async for event in conversation:
                ...
"""

from taoxr.client.avatars import Avatar, AvatarRig
from taoxr.client.body import Action, BodyActivity, BodyTrack, Bones, Cue, CueKind, Track
from taoxr.client.client import Client, ServerInfo, Worker, connect
from taoxr.client.clips import AnimatedText, FaceTrack, Speech, SpokenText
from taoxr.client.conversation import Conversation, ConversationOptions, InputMode
from taoxr.client.events import (
    Capability,
    Event,
    GoingAway,
    Leaving,
    LostTurn,
    MediaChunk,
    Motion,
    Notice,
    Phoneme,
    Pong,
    Rig,
    SessionStarted,
    SpeechActivity,
    State,
    TextDelta,
    TimedWord,
    ToolCall,
    Transcript,
    TurnMetrics,
    TurnState,
)
from taoxr.client.private_bridge import private_bridge
from taoxr.client.tools import Tool, as_tool

__all__ = [
    "Action",
    "AnimatedText",
    "Avatar",
    "AvatarRig",
    "BodyActivity",
    "BodyTrack",
    "Bones",
    "Capability",
    "Client",
    "Conversation",
    "ConversationOptions",
    "Cue",
    "CueKind",
    "Event",
    "FaceTrack",
    "GoingAway",
    "InputMode",
    "Leaving",
    "LostTurn",
    "MediaChunk",
    "Motion",
    "Notice",
    "Phoneme",
    "Pong",
    "Rig",
    "ServerInfo",
    "SessionStarted",
    "Speech",
    "SpeechActivity",
    "SpokenText",
    "State",
    "TextDelta",
    "TimedWord",
    "Tool",
    "ToolCall",
    "Track",
    "Transcript",
    "TurnMetrics",
    "TurnState",
    "Worker",
    "as_tool",
    "connect",
    "private_bridge",
]
