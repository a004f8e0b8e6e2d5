"""The committed protocol code is what the protos generate; every message survives the wire."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

pytestmark = pytest.mark.unit

PROTOS = Path(__file__).parents[2] / "protos"
PROTO_FILES = sorted(p.relative_to(PROTOS) for p in PROTOS.rglob("*.proto"))


def test_committed_code_is_current(tmp_path: Path) -> None:
    sys.path.insert(0, str(PROTOS))
    try:
        generate = importlib.import_module("generate")
    finally:
        sys.path.remove(str(PROTOS))
    generate.generate(tmp_path)
    made = sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*_pb2*"))
    assert len(made) == 4 * len(PROTO_FILES)
    for path in made:
        assert (PROTOS / path).read_text() == (tmp_path / path).read_text(), f"{path}: run protos/generate.py"


def messages() -> Iterator[type[Message]]:
    def walk(descriptor: Descriptor) -> Iterator[type[Message]]:
        if not descriptor.GetOptions().map_entry:
            yield GetMessageClass(descriptor)
        for nested in descriptor.nested_types:
            yield from walk(nested)

    for proto in PROTO_FILES:
        module = importlib.import_module(str(proto.with_suffix("")).replace("/", ".") + "_pb2")
        file: FileDescriptor = module.DESCRIPTOR
        for descriptor in file.message_types_by_name.values():
            yield from walk(descriptor)


def fill(message: Message, depth: int = 0) -> None:
    """Sets every field (the last of each oneof stays) to something that is not its default."""
    F = FieldDescriptor
    values = {
        F.CPPTYPE_STRING: "ˈæ",
        F.CPPTYPE_INT32: -7,
        F.CPPTYPE_UINT32: 7,
        F.CPPTYPE_INT64: 1 << 40,
        F.CPPTYPE_DOUBLE: 0.1,
        F.CPPTYPE_FLOAT: 0.5,
        F.CPPTYPE_BOOL: True,
        F.CPPTYPE_ENUM: 1,
    }
    for field in message.DESCRIPTOR.fields:
        if field.message_type and field.message_type.GetOptions().map_entry:
            getattr(message, field.name)["key"] = 1.5
        elif field.message_type and field.message_type.full_name.startswith("google.protobuf"):
            continue
        elif field.message_type:
            target = getattr(message, field.name)
            target = target.add() if field.is_repeated else target
            target.SetInParent()
            if depth < 5:
                fill(target, depth + 1)
        else:
            value = b"\x00\xff" if field.type == F.TYPE_BYTES else values[field.cpp_type]
            if field.is_repeated:
                getattr(message, field.name).append(value)
            else:
                setattr(message, field.name, value)


@pytest.mark.parametrize("kind", list(messages()), ids=lambda kind: kind.DESCRIPTOR.full_name)
def test_every_message_round_trips(kind: type[Message]) -> None:
    message = kind()
    fill(message)
    assert kind.FromString(message.SerializeToString()) == message
    if message.DESCRIPTOR.fields:
        assert message.ByteSize() > 0


def test_arkit_names_are_the_52_of_apple() -> None:
    from taoxr import arkit

    assert len(arkit.NAMES) == len(set(arkit.NAMES)) == 52
    assert arkit.INDEX["tongueOut"] == 51
    left = {n.removesuffix("Left") for n in arkit.NAMES if n.endswith("Left")}
    assert left == {n.removesuffix("Right") for n in arkit.NAMES if n.endswith("Right")}
