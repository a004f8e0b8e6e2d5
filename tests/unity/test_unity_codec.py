"""The Unity package's C# codec against Python's protobuf: on Mono and .NET, both ways, and with bad bytes."""

import importlib
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from codec_server import AnyDescriptor, CodecServer, F, ProtocolError, describe, is_map
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2  # pyright: ignore[reportMissingTypeStubs]
from grpc_health.v1 import health_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from taoxr.v1 import (
    animation_pb2,
    avatar_pb2,
    body_pb2,
    common_pb2,
    conversation_pb2,
    speech_pb2,
    tools_pb2,
)

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
PROTOCOL = ROOT / "unity_package/com.taoxr.avatar/Runtime/Protocol"
OURS = (animation_pb2, avatar_pb2, body_pb2, common_pb2, conversation_pb2, speech_pb2, tools_pb2)


def _walk(descriptors: Any) -> Iterator[Any]:
    for descriptor in descriptors:
        if not descriptor.GetOptions().map_entry:
            yield descriptor
            yield from _walk(descriptor.nested_types)


KINDS: list[Any] = [
    *(kind for module in OURS for kind in _walk(module.DESCRIPTOR.message_types_by_name.values())),
    status_pb2.Status.DESCRIPTOR,
    *_walk([error_details_pb2.ErrorInfo.DESCRIPTOR, error_details_pb2.RetryInfo.DESCRIPTOR]),
    *_walk([error_details_pb2.BadRequest.DESCRIPTOR, error_details_pb2.LocalizedMessage.DESCRIPTOR]),
    *_walk([health_pb2.HealthCheckRequest.DESCRIPTOR, health_pb2.HealthCheckResponse.DESCRIPTOR]),
]


def _single(field: AnyDescriptor, depth: int) -> st.SearchStrategy[Any]:
    match field.type:
        case F.TYPE_MESSAGE:
            return _messages(field.message_type, depth + 1)
        case F.TYPE_BYTES:
            return st.binary(max_size=300)
        case F.TYPE_STRING:
            return st.text(st.characters(codec="utf-8"), max_size=80)
        case F.TYPE_BOOL:
            return st.booleans()
        case F.TYPE_FLOAT:
            return st.floats(width=32)
        case F.TYPE_DOUBLE:
            return st.floats()
        case F.TYPE_UINT32:
            return st.integers(0, 2**32 - 1)
        case F.TYPE_INT64:
            return st.integers(-(2**63), 2**63 - 1)
        case _:  # int32, and enums, which are open
            return st.integers(-(2**31), 2**31 - 1)


@st.composite
def _messages(draw: st.DrawFn, descriptor: AnyDescriptor, depth: int = 0) -> Message:
    message = GetMessageClass(descriptor)()
    for field in descriptor.fields:
        if (depth > 3 and field.message_type) or not draw(st.booleans()):
            continue
        if is_map(field):
            value = field.message_type.fields_by_name["value"]
            for key in draw(st.lists(st.text(st.characters(codec="utf-8"), max_size=10), max_size=3)):
                getattr(message, field.name)[key] = draw(_single(value, depth))
        elif field.is_repeated:
            getattr(message, field.name).extend(draw(st.lists(_single(field, depth), max_size=4)))
        elif field.message_type:
            getattr(message, field.name).CopyFrom(draw(_single(field, depth)))
            getattr(message, field.name).SetInParent()
        else:
            setattr(message, field.name, draw(_single(field, depth)))
    return message


def _fill(message: Message, depth: int = 0) -> None:
    """Sets every field, of a oneof the last one, to something that is not its default."""
    values = {F.TYPE_STRING: "ˈæ", F.TYPE_BYTES: b"\0\xff", F.TYPE_BOOL: True, F.TYPE_ENUM: 1}
    fields: list[AnyDescriptor] = list(message.DESCRIPTOR.fields)
    for field in fields:
        if is_map(field):
            kind = field.message_type.fields_by_name["value"].type
            getattr(message, field.name)["ˈ"] = values.get(kind, 1.5)
        elif field.message_type:
            target = getattr(message, field.name)
            for _ in range(2 if field.is_repeated else 1):
                inner = target.add() if field.is_repeated else target
                inner.SetInParent()
                if depth < 4:
                    _fill(inner, depth + 1)
        else:
            value = values.get(field.type, -7 if field.type in (F.TYPE_INT32, F.TYPE_INT64) else 7)
            if field.is_repeated:
                getattr(message, field.name).extend([value] * 3)
            else:
                setattr(message, field.name, value)


def _check(codec: CodecServer, message: Message) -> None:
    data = message.SerializeToString(deterministic=True)
    descriptor: AnyDescriptor = message.DESCRIPTOR
    text, again, copy = codec.parse(descriptor, data)
    assert text == describe(message)
    for back in (again, copy):  # The order of a map's entries is free; else every byte is the same.
        assert len(back) == len(data)
        assert type(message).FromString(back).SerializeToString(deterministic=True) == data
    assert codec.ask("u", descriptor, data) == b"1"


def _only(field: AnyDescriptor, descriptor: AnyDescriptor) -> Message:
    """A message in which a oneof holds this field."""
    whole = GetMessageClass(descriptor)()
    if field.message_type:
        getattr(whole, field.name).SetInParent()
        _fill(getattr(whole, field.name), 1)
    else:
        setattr(whole, field.name, b"\1" if field.type == F.TYPE_BYTES else "word")
    return whole


def test_committed_code_is_current(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "protos"))
    try:
        generate = importlib.import_module("generate_csharp")
    finally:
        sys.path.remove(str(ROOT / "protos"))
    generate.generate_csharp(tmp_path)
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_text() for path in (PROTOCOL / "Generated").glob("*.cs")}, (
        "run protos/generate_csharp.py"
    )


def test_every_field_of_every_message(codec: CodecServer) -> None:
    assert len(KINDS) > 70
    for kind in KINDS:
        _check(codec, GetMessageClass(kind)())
        for field in (f for oneof in kind.oneofs if len(oneof.fields) > 1 for f in oneof.fields):
            _check(codec, _only(field, kind))
        whole = GetMessageClass(kind)()
        _fill(whole)
        _check(codec, whole)


def test_any_values(codec: CodecServer) -> None:
    @settings(max_examples=150, deadline=None, derandomize=True, database=None)
    @given(st.sampled_from(KINDS).flatmap(_messages))
    def check(message: Message) -> None:
        _check(codec, message)

    check()


def test_any_bytes_are_judged_as_python_does(codec: CodecServer) -> None:
    seeds: list[bytes] = []
    for kind in (conversation_pb2.ConverseResponse, conversation_pb2.ConversationConfig, status_pb2.Status):
        message = kind()
        _fill(message)
        seeds.append(message.SerializeToString())
    kinds = st.sampled_from([conversation_pb2.ConverseResponse, conversation_pb2.ConversationConfig])

    @settings(max_examples=300, deadline=None, derandomize=True, database=None)
    @given(kinds, st.sampled_from(seeds), st.data())
    def check(kind: type[Message], data: bytes, more: st.DataObject) -> None:
        descriptor: AnyDescriptor = kind.DESCRIPTOR
        changed = bytearray(data)
        for _ in range(more.draw(st.integers(0, 3))):
            changed[more.draw(st.integers(0, len(data) - 1))] = more.draw(st.integers(0, 255))
        cut = bytes(changed[: more.draw(st.integers(0, len(data)))])
        try:
            right = kind.FromString(cut)
        except DecodeError:
            with pytest.raises(ProtocolError):
                codec.parse(descriptor, cut)
            return
        text, again, _ = codec.parse(descriptor, cut)
        assert text == describe(right)
        right.DiscardUnknownFields()
        assert kind.FromString(again).SerializeToString() == right.SerializeToString()

    check()


def test_what_proto3_says_of_repetition(codec: CodecServer) -> None:
    first = conversation_pb2.ConverseResponse(media=conversation_pb2.MediaChunk(start_us=5, pcm=b"ab"))
    second = conversation_pb2.ConverseResponse(media=conversation_pb2.MediaChunk(clause=3))
    other = conversation_pb2.ConverseResponse(pong=conversation_pb2.Pong(client_time_us=1))
    both = [first.SerializeToString() + second.SerializeToString()]  # The same message twice is merged,
    both.append(
        both[0] + other.SerializeToString() + second.SerializeToString()
    )  # unless another came between.
    for data in both:
        text, _, _ = codec.parse(first.DESCRIPTOR, data)
        assert text == describe(conversation_pb2.ConverseResponse.FromString(data))
    unpacked = b"".join(b"\x15" + struct.pack("<f", x) for x in (0.5, -0.0))
    text, again, _ = codec.parse(common_pb2.Frame.DESCRIPTOR, b"\x12\x04\0\0\x80?" + unpacked)
    assert again == b"\x12\x0c" + struct.pack("<3f", 1, 0.5, -0.0)
    tracks = conversation_pb2.ConversationConfig()
    tracks.tracks.extend([1, 300, -1])  # pyright: ignore[reportArgumentType]  Enums are open.
    one_by_one = b"\x70\x01\x70\xac\x02\x70" + b"\xff" * 9 + b"\x01"
    assert codec.parse(tracks.DESCRIPTOR, one_by_one)[1] == tracks.SerializeToString()


def test_unknown_fields_are_skipped(codec: CodecServer) -> None:
    group = b"\xa3\x06" + b"\x08\x01" + b"\xa4\x06"  # Field 100, which holds field 1.
    unknown = b"\xa8\x06\x07" + b"\xaa\x06\x02hi" + b"\xa9\x06" + bytes(8) + b"\xad\x06" + bytes(4) + group
    known = common_pb2.Frame(time_us=1, weights=[0.5]).SerializeToString()
    assert codec.parse(common_pb2.Frame.DESCRIPTOR, unknown + known + unknown)[1] == known
    assert codec.parse(common_pb2.Frame.DESCRIPTOR, b"\x0a\x01x" + known)[1] == known  # Field 1 as a string.


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"\x08", "ends inside a number"),
        (b"\x08" + b"\xff" * 10, "more than 64 bits"),
        (b"\x12\xff\xff\xff\xff\x07", "goes beyond the end"),
        (b"\x12" + b"\xff" * 9 + b"\x01", "goes beyond the end"),
        (b"\x12\x03abc", "inside a float"),
        (b"\x15ab", "ends inside a field"),
        (b"\x00\x00", "number 0"),
        (b"\x0f", "wire type 7"),
        (b"\x0c", "wire type 4"),
        (b"\xa3\x06\x08\x01", "a group does not end"),
        (b"\xa3\x06\xac\x06", "ends as another one"),
        (b"\xa3\x06" * 50_000, "nested more than 100"),
    ],
)
def test_bad_bytes_are_named(codec: CodecServer, data: bytes, complaint: str) -> None:
    with pytest.raises(ProtocolError, match=complaint):
        codec.parse(common_pb2.Frame.DESCRIPTOR, data)


def test_small_bytes_cannot_ask_for_much_memory(codec: CodecServer) -> None:
    empty_frames = b"\x1a\x00" * 500_000  # 1 MB that would become half a million objects.
    with pytest.raises(ProtocolError, match="too many parts"):
        codec.parse(conversation_pb2.MediaChunk.DESCRIPTOR, empty_frames)
    names = b"\x12\x00" * 500_000
    with pytest.raises(ProtocolError, match="too many parts"):
        codec.parse(common_pb2.RigDescription.DESCRIPTOR, names)


@pytest.mark.parametrize("text", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"])
def test_text_that_is_not_utf8_is_refused(codec: CodecServer, text: bytes) -> None:
    for operation in ("p", "u"):
        with pytest.raises(ProtocolError, match="not valid UTF-8"):
            codec.ask(operation, conversation_pb2.TextInput.DESCRIPTOR, b"\x0a" + bytes([len(text)]) + text)


def test_media_and_audio_allocate_nothing(programs: Path) -> None:
    frames = [common_pb2.Frame(time_us=k * 33_333, weights=[k / 60] * 52) for k in range(30)]
    body = [
        body_pb2.BodyFrame(time_us=k, rotations=[0.5] * 208, hips_translation=[0, 1, 0]) for k in range(30)
    ]
    media = conversation_pb2.MediaChunk(start_us=7, pcm=bytes(44_100), frames=frames, body=body)
    media.phonemes.add(symbol="ˈæ", start_us=1, end_us=2)
    media.cues.add(kind=body_pb2.Cue.KIND_EMOTION, name="joy", strength=0.5)
    response = conversation_pb2.ConverseResponse(seq=9, turn_id="turn-000001", epoch=2, media=media)
    request = conversation_pb2.ConverseRequest(audio=conversation_pb2.AudioInput(pcm=bytes(640)))
    report = conversation_pb2.ConverseRequest(
        playback=conversation_pb2.PlaybackReport(turn_id="turn-000001", played_us=5)
    )
    with CodecServer("dotnet", programs / "dotnet" / "codec_server.dll") as codec:
        for message in (response, request, report):
            assert codec.ask("a", message.DESCRIPTOR, message.SerializeToString()) == b"0"
