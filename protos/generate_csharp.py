"""Regenerate the C# messages of the Unity package: ``python protos/generate_csharp.py [OUT_DIR]``.

The result is committed; ``tests/unity/test_unity_codec.py`` regenerates it and compares. It is C# 9 for Unity
2021.3 without any library: what it calls is beside it, in ``Runtime/Protocol/Wire``. Messages that need what
no proto here uses (groups, fixed and zigzag numbers, optional bytes) are refused.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
    ServiceDescriptorProto,
)
from google.rpc import error_details_pb2  # pyright: ignore[reportMissingTypeStubs]
from grpc_health.v1 import health_pb2

import generate
from csharp_fields import NAMESPACES, Field, Types, pascal

OUT = Path(__file__).parents[1] / "unity_package/com.taoxr.avatar/Runtime/Protocol/Generated"
# Of files that are not ours, only what the client uses.
WANTED = {
    "google/rpc/error_details.proto": {"ErrorInfo", "RetryInfo", "BadRequest", "LocalizedMessage"},
    "grpc/health/v1/health.proto": {"HealthCheckRequest", "HealthCheckResponse"},
}


class Writer:
    """Lines of one C# file."""

    def __init__(self, file: FileDescriptorProto, types: Types) -> None:
        self.types, self.namespace, self.package = types, NAMESPACES[file.package], file.package
        self.lines: list[str] = []
        # Comments of other people's protos stay with them.
        self.comments = {tuple(loc.path): loc.leading_comments for loc in file.source_code_info.location}
        if file.package != "taoxr.v1":
            self.comments = {}
        self.wanted = WANTED.get(file.name)
        self.lines += [
            f"// Made by protos/generate_csharp.py from {file.name}: do not edit.",
            "#nullable enable",
        ]
        self.lines += [
            "using System;",
            "using System.Collections.Generic;",
            "",
            f"namespace {self.namespace}",
            "{",
        ]
        for index, enum in enumerate(file.enum_type):
            self._enum(enum, enum.name, (5, index))
        for index, message in enumerate(file.message_type):
            if self.wanted is None or message.name in self.wanted:
                self._message(message, message.name, (4, index))
        for index, service in enumerate(file.service):
            if self.wanted is None:
                self._service(service, (6, index))
        self.lines.pop()
        self.lines.append("}")

    def text(self) -> str:
        """The file."""
        return "\n".join(self.lines) + "\n"

    def _add(self, depth: int, *lines: str) -> None:
        self.lines += [("    " * depth + line) if line else "" for line in lines]

    def _doc(self, depth: int, path: tuple[int, ...]) -> None:
        comment = self.comments.get(path, "").strip()
        if not comment:
            return
        lines = [escape(line.strip()) for line in comment.splitlines()]
        if len(lines) == 1:
            self._add(depth, f"/// <summary>{lines[0]}</summary>")
        else:
            self._add(depth, "/// <summary>", *(f"/// {line}".rstrip() for line in lines), "/// </summary>")

    def _enum(self, enum: EnumDescriptorProto, name: str, path: tuple[int, ...]) -> None:
        prefix = "".join(f"_{c}" if c.isupper() else c for c in enum.name).upper().lstrip("_") + "_"
        self._doc(1, path)
        self._add(1, f"public enum {name}", "{")
        for index, value in enumerate(enum.value):
            self._doc(2, (*path, 2, index))
            self._add(2, f"{pascal(value.name.removeprefix(prefix))} = {value.number},")
        self._add(1, "}", "")

    def _message(self, message: DescriptorProto, name: str, path: tuple[int, ...]) -> None:
        fields = [Field(field, message, self.types, self.namespace) for field in message.field]
        in_order = sorted(fields, key=lambda field: field.number)
        oneofs = list(dict.fromkeys(field.oneof for field in fields if field.oneof))
        self._doc(1, path)
        self._add(1, f"public sealed class {name} : IMessage", "{")
        for oneof in oneofs:
            cases = [f"{f.name} = {f.number}," for f in fields if f.oneof == oneof]
            self._add(2, f"/// <summary>Which of the fields of {oneof} is set.</summary>")
            self._add(
                2,
                f"public enum {oneof}OneofCase",
                "{",
                "    None = 0,",
                *(f"    {c}" for c in cases),
                "}",
                "",
            )
        for field in fields:
            self._add(2, *field.state())
        for oneof in oneofs:
            self._add(2, "/// <summary>Which of them is set.</summary>")
            self._add(2, f"public {oneof}OneofCase {oneof}Case {{ get; private set; }}", "")
        for index, field in enumerate(fields):
            self._doc(2, (*path, 2, index))
            self._add(2, *field.declaration(), "")
        self._add(2, "/// <inheritdoc/>", "public int CachedSize { get; private set; }", "")
        self._add(2, "/// <summary>The message that the bytes are.</summary>")
        self._add(2, '/// <exception cref="ProtocolException">They are no such message.</exception>')
        self._add(
            2,
            f"public static {name} Parse(ReadOnlySpan<byte> bytes)",
            "{",
            f"    var message = new {name}();",
        )
        self._add(2, "    Messages.Parse(message, bytes);", "    return message;", "}", "")
        cleared = [f.clear() for f in fields if f.clear()] + [f"{o}Case = {o}OneofCase.None;" for o in oneofs]
        self._method("public void Clear()", cleared)
        self._add(2, "/// <inheritdoc/>", "public void MergeFrom(ref WireReader reader)", "{")
        self._add(3, "while (reader.ReadTag(out var tag))", "{")
        if fields:
            self._add(4, "switch (tag)", "{")
            for field in in_order:
                self._add(5, *field.parse())
            self._add(5, "default:", "    reader.Skip(tag);", "    break;")
            self._add(4, "}")
        else:
            self._add(4, "reader.Skip(tag);")
        self._add(3, "}")
        self._add(2, "}", "")
        sizes = [line for field in in_order for line in field.add_size()]
        self._method("public int ByteSize()", ["var size = 0;", *sizes, "CachedSize = size;", "return size;"])
        self._method(
            "public void WriteTo(ref WireWriter writer)", [line for field in in_order for line in field.put()]
        )
        self.lines.pop()
        self._add(1, "}", "")
        for index, enum in enumerate(message.enum_type):
            self._enum(enum, name + enum.name, (*path, 4, index))
        for index, nested in enumerate(message.nested_type):
            if not nested.options.map_entry:
                self._message(nested, name + nested.name, (*path, 3, index))

    def _method(self, head: str, body: list[str]) -> None:
        self._add(2, "/// <inheritdoc/>", head, "{", *(f"    {line}" for line in body), "}", "")

    def _service(self, service: ServiceDescriptorProto, path: tuple[int, ...]) -> None:
        self._doc(1, path)
        self._add(1, f"public static class {service.name}", "{")
        for index, method in enumerate(service.method):
            self._doc(2, (*path, 2, index))
            self._add(2, *self._rpc(service, method), "")
        self.lines.pop()
        self._add(1, "}", "")

    def _rpc(self, service: ServiceDescriptorProto, method: MethodDescriptorProto) -> Iterator[str]:
        takes, gives = (
            self.types.names[t].removeprefix(self.namespace + ".")
            for t in (method.input_type, method.output_type)
        )
        path = f"/{self.package}.{service.name}/{method.name}"
        streams = [str(s).lower() for s in (method.client_streaming, method.server_streaming)]
        yield f"public static readonly Method<{takes}, {gives}> {method.name} ="
        yield f'    new Method<{takes}, {gives}>("{path}", {", ".join(streams)}, () => new {gives}());'


def descriptors() -> list[FileDescriptorProto]:
    """The files whose messages a client needs, with comments where they are ours."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all.binpb"
        generate.describe(path)
        files = list(FileDescriptorSet.FromString(path.read_bytes()).file)
    known = {file.name for file in files}
    duration = error_details_pb2.DESCRIPTOR.dependencies[0]
    others = (duration, error_details_pb2.DESCRIPTOR, health_pb2.DESCRIPTOR)
    files += [FileDescriptorProto.FromString(o.serialized_pb) for o in others if o.name not in known]
    return [file for file in files if file.package in NAMESPACES]


def generate_csharp(out: Path) -> None:
    """Writes one C# file per proto into ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    files = descriptors()
    types = Types(files)
    for file in files:
        (out / f"{pascal(Path(file.name).stem)}.cs").write_text(Writer(file, types).text(), encoding="utf-8")


if __name__ == "__main__":
    generate_csharp(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
