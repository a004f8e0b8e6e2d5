"""The C# codec in a long-lived process, and what it should answer."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from csharp import Runtime, command
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

F: Final = FieldDescriptor
# The type stubs have two classes for each, one of Python and one of upb.
AnyDescriptor = Any
_NAMESPACES: Final = {
    "taoxr.v1": "V1",
    "google.rpc": "Rpc",
    "google.protobuf": "WellKnown",
    "grpc.health.v1": "Health",
}


class ProtocolError(Exception):
    """The C# side threw a ProtocolException; its text."""


class CodecServer:
    """``harness/CodecServer.cs`` on one of the runtimes; a context manager."""

    def __init__(self, runtime: Runtime, program: Path) -> None:
        self._command = command(runtime, program)

    def __enter__(self) -> CodecServer:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        assert self._process.wait(30) == 0

    def ask(self, operation: str, descriptor: AnyDescriptor, data: bytes) -> bytes:
        """One question.

        Raises:
            ProtocolError: The codec refuses the bytes.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        name = csharp_name(descriptor).encode()
        question = operation.encode() + struct.pack("<i", len(name)) + name
        stdin.write(question + struct.pack("<i", len(data)) + data)
        stdin.flush()
        head = stdout.read(5)
        if len(head) < 5:
            raise AssertionError(f"the codec server died of {name.decode()} {data[:200]!r}")
        status, length = struct.unpack("<bi", head)
        answer = stdout.read(length)
        if status:
            raise ProtocolError(answer.decode())
        return answer

    def parse(self, descriptor: AnyDescriptor, data: bytes) -> tuple[str, bytes, bytes]:
        """The properties as text; the message written again; a copy through its properties, written."""
        answer = self.ask("p", descriptor, data)
        parts: list[bytes] = []
        while answer:
            (length,) = struct.unpack_from("<i", answer)
            parts.append(answer[4 : 4 + length])
            answer = answer[4 + length :]
        text, again, copy = parts
        return text.decode(), again, copy


def csharp_name(descriptor: AnyDescriptor) -> str:
    """The C# type of a message."""
    package = descriptor.file.package
    own = descriptor.full_name.removeprefix(f"{package}.").replace(".", "")
    return f"Taoxr.Protocol.{_NAMESPACES[package]}.{own}"


def describe(message: Message) -> str:
    """The text that the C# side has to give for the message."""
    return "\n".join(sorted(_lines(message, ""), key=lambda line: line.encode("utf-16-be")))


def _lines(message: Message, path: str) -> Iterator[str]:
    yield path + "{}"
    fields: list[AnyDescriptor] = list(message.DESCRIPTOR.fields)
    for field in fields:
        here = path + "." + "".join(part.capitalize() for part in field.name.split("_"))
        value: Any = getattr(message, field.name)
        if is_map(field):
            for key in value:
                yield from _value(
                    field.message_type.fields_by_name["value"], value[key], f"{here}[{_hex(key)}]"
                )
        elif field.is_repeated:
            for index, item in enumerate(value):
                yield from _value(field, item, f"{here}[{index}]")
        elif not field.has_presence or message.HasField(field.name):
            yield from _value(field, value, here)


def _value(field: AnyDescriptor, value: Any, path: str) -> Iterator[str]:
    match field.type:
        case F.TYPE_MESSAGE:
            yield from _lines(value, path)
        case F.TYPE_BYTES:
            yield f"{path}=b{value.hex()}"
        case F.TYPE_STRING:
            yield f"{path}=s{_hex(value)}"
        case F.TYPE_FLOAT:
            yield f"{path}=f{struct.unpack('<i', struct.pack('<f', value))[0]}"
        case F.TYPE_DOUBLE:
            yield f"{path}=d{struct.unpack('<q', struct.pack('<d', value))[0]}"
        case _:
            yield f"{path}={int(value)}"


def is_map(field: AnyDescriptor) -> bool:
    """Whether it is a map."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _hex(text: str) -> str:
    return text.encode().hex()
