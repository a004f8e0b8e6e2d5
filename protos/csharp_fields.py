"""Messages, enums and fields of the protos, as C# says them; for ``generate_csharp.py``."""

from collections.abc import Iterator
from dataclasses import dataclass

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

F = FieldDescriptorProto
NAMESPACES = {
    "taoxr.v1": "Taoxr.Protocol.V1",
    "google.rpc": "Taoxr.Protocol.Rpc",
    "google.protobuf": "Taoxr.Protocol.WellKnown",
    "grpc.health.v1": "Taoxr.Protocol.Health",
}


@dataclass(frozen=True)
class Scalar:
    """How C# deals with a type of proto values.

    Attributes:
        name: The C# type.
        method: What the methods of reader, writer and sizes are called.
        wire: Wire type.
        size: Bytes on the wire where they are always the same, else 0.
        differs: Condition that a value is not the default; ``{}`` is the value.
        default: Expression of the default.
    """

    name: str
    method: str
    wire: int = 0
    size: int = 0
    differs: str = "{} != 0"
    default: str = "0"


# Bits are compared, for -0.0 is not the default.
SCALARS = {
    F.TYPE_INT32: Scalar("int", "Int32"),
    F.TYPE_INT64: Scalar("long", "Int64"),
    F.TYPE_UINT32: Scalar("uint", "UInt32"),
    F.TYPE_UINT64: Scalar("ulong", "UInt64"),
    F.TYPE_BOOL: Scalar("bool", "Bool", size=1, differs="{}", default="false"),
    F.TYPE_FLOAT: Scalar("float", "Float", 5, 4, "BitConverter.SingleToInt32Bits({}) != 0"),
    F.TYPE_DOUBLE: Scalar("double", "Double", 1, 8, "BitConverter.DoubleToInt64Bits({}) != 0"),
    F.TYPE_STRING: Scalar("string", "String", 2, differs="!string.IsNullOrEmpty({})", default='""'),
}


def pascal(name: str) -> str:
    """``blendshape_names`` or ``HANDS_FREE`` to ``BlendshapeNames``, ``HandsFree``."""
    return "".join(part[:1].upper() + part[1:].lower() for part in name.split("_"))


def camel(name: str) -> str:
    """``blendshape_names`` to ``_blendshapeNames``, the name of a private field."""
    made = pascal(name)
    return f"_{made[0].lower()}{made[1:]}"


class Types:
    """The C# name of every message and enum, and which messages are map entries."""

    def __init__(self, files: list[FileDescriptorProto]) -> None:
        self.names: dict[str, str] = {}
        self.entries: dict[str, DescriptorProto] = {}
        for file in files:
            for message in file.message_type:
                self._add(message, file.package, NAMESPACES[file.package], "")
            for enum in file.enum_type:
                self.names[f".{file.package}.{enum.name}"] = f"{NAMESPACES[file.package]}.{enum.name}"

    def _add(self, message: DescriptorProto, scope: str, namespace: str, prefix: str) -> None:
        full, name = f"{scope}.{message.name}", prefix + message.name
        self.names[f".{full}"] = f"{namespace}.{name}"
        if message.options.map_entry:
            self.entries[f".{full}"] = message
        for nested in message.nested_type:
            self._add(nested, full, namespace, name)
        for enum in message.enum_type:
            self.names[f".{full}.{enum.name}"] = f"{namespace}.{name}{enum.name}"


class Field:
    """One field, and the C# for each thing that is done to it."""

    def __init__(
        self, field: FieldDescriptorProto, owner: DescriptorProto, types: Types, namespace: str
    ) -> None:
        self.number, self.repeated = field.number, field.label == F.LABEL_REPEATED
        self.name, self.private = pascal(field.name), camel(field.name)
        if self.name == owner.name:
            raise SystemExit(f"{owner.name}.{field.name}: a C# member cannot be called as its class")
        self.entry = types.entries.get(field.type_name)
        if self.entry is not None:
            self.key, self.value = (Field(f, self.entry, types, namespace) for f in self.entry.field)
        self.is_message = field.type == F.TYPE_MESSAGE
        self.is_bytes = field.type == F.TYPE_BYTES
        self.is_enum = field.type == F.TYPE_ENUM
        self.optional = field.proto3_optional and not self.is_message
        in_oneof = field.HasField("oneof_index") and not field.proto3_optional
        self.oneof = pascal(owner.oneof_decl[field.oneof_index].name) if in_oneof else ""
        if self.is_message or self.is_enum:
            self.type = types.names[field.type_name].removeprefix(namespace + ".")
            self.scalar = Scalar(self.type, "Int32", default="0")
        elif self.is_bytes:
            self.type, self.scalar = "ByteBuffer", Scalar("ByteBuffer", "Bytes", 2)
        elif field.type in SCALARS:
            self.scalar = SCALARS[field.type]
            self.type = self.scalar.name
        else:
            raise SystemExit(f"{owner.name}.{field.name}: type {F.Type.Name(field.type)} is not supported")
        if self.is_bytes and (self.optional or self.repeated):
            raise SystemExit(f"{owner.name}.{field.name}: bytes may be neither optional nor repeated")
        self.slot = (self.is_message and not self.repeated) or (self.is_bytes and bool(self.oneof))
        """An object that may be absent, and is kept for reuse then."""

    @property
    def wire(self) -> int:
        """Wire type of a value that is not packed."""
        return 2 if self.is_message or self.is_bytes else self.scalar.wire

    @property
    def packed(self) -> bool:
        """Whether values come one behind the other in one field."""
        return self.repeated and self.wire != 2

    def tag(self, wire: int | None = None) -> int:
        """The number of the field with a wire type."""
        return self.number << 3 | (self.wire if wire is None else wire)

    @property
    def tag_size(self) -> int:
        """Bytes of the tag."""
        return 1 if self.number < 16 else 2 if self.number < 2048 else 3 if self.number < 262144 else 5

    @property
    def case(self) -> str:
        """Condition that the oneof holds this field."""
        return f"{self.oneof}Case == {self.oneof}OneofCase.{self.name}"

    def read(self) -> str:
        """Expression of the next value."""
        cast = f"({self.type})" if self.is_enum else ""
        return f"{cast}reader.Read{self.scalar.method}()"

    def write(self, value: str) -> str:
        """Statement that writes a value."""
        if self.is_message:
            return f"writer.WriteMessage({value});"
        return f"writer.Write{self.scalar.method}({'(int)' if self.is_enum else ''}{value});"

    def size(self, value: str) -> str:
        """Expression of the size of a value."""
        if self.is_message:
            return f"WireSize.Message({value})"
        if self.scalar.size:
            return str(self.scalar.size)
        return f"WireSize.{self.scalar.method}({'(int)' if self.is_enum else ''}{value})"

    def default(self) -> str:
        """Expression of the default."""
        if self.is_message:
            return f"new {self.type}()"
        return f"({self.type})0" if self.is_enum else self.scalar.default

    # Each of the following yields lines for the body of a class or method.

    def declaration(self) -> Iterator[str]:
        """The property."""
        if self.entry is not None:
            kind = f"Dictionary<{self.key.type}, {self.value.type}>"
            yield f"public {kind} {self.name} {{ get; }} = new {kind}();"
        elif self.repeated and self.is_message:
            kind = f"MessageList<{self.type}>"
            yield f"public {kind} {self.name} {{ get; }} = new {kind}(() => new {self.type}());"
        elif self.repeated:
            kind = f"List<{self.type}>" if self.type == "string" else f"ValueList<{self.type}>"
            yield f"public {kind} {self.name} {{ get; }} = new {kind}();"
        elif self.slot:
            yield from self._slot()
        elif self.oneof:
            yield f"public {self.type} {self.name}"
            yield "{"
            yield f"    get => {self.case} ? {self.private} : {self.default()};"
            yield "    set"
            yield "    {"
            yield f"        {self.private} = value{self._or_empty(' ?? ')};"
            yield f"        {self.oneof}Case = {self.oneof}OneofCase.{self.name};"
            yield "    }"
            yield "}"
        elif self.is_bytes:
            yield f"public ByteBuffer {self.name} {{ get; }} = new ByteBuffer();"
        elif self.optional:
            yield f"public {self.type}? {self.name} {{ get; set; }}"
        else:
            start = ' = "";' if self.type == "string" else ""
            yield f"public {self.type} {self.name} {{ get; set; }}{start}"

    def _or_empty(self, operator: str) -> str:
        return f'{operator}""' if self.type == "string" else ""

    def _slot(self) -> Iterator[str]:
        there = self.case if self.oneof else f"_has{self.name}"
        yield f"public {self.type}? {self.name}"
        yield "{"
        yield f"    get => {there} ? {self.private} : null;"
        yield "    set"
        yield "    {"
        yield f"        if (value != null) {self.private} = value;"
        if self.oneof:
            yield f"        if (value != null) {self.oneof}Case = {self.oneof}OneofCase.{self.name};"
            yield f"        else if ({self.case}) {self.oneof}Case = {self.oneof}OneofCase.None;"
        else:
            yield f"        _has{self.name} = value != null;"
        yield "    }"
        yield "}"

    def state(self) -> Iterator[str]:
        """What a slot or a value in a oneof needs beside its property."""
        if self.slot:
            there = self.case if self.oneof else f"_has{self.name}"
            put = (
                f"{self.oneof}Case = {self.oneof}OneofCase.{self.name}"
                if self.oneof
                else f"_has{self.name} = true"
            )
            yield f"private {self.type}? {self.private};"
            if not self.oneof:
                yield f"private bool _has{self.name};"
            yield ""
            yield f"private {self.type} Open{self.name}()"
            yield "{"
            yield f"    {self.private} ??= new {self.type}();"
            yield f"    if (!({there})) {self.private}.Clear();"
            yield f"    {put};"
            yield f"    return {self.private};"
            yield "}"
            yield ""
        elif self.oneof:
            yield f"private {self.type} {self.private}{self._or_empty(' = ')};"
            yield ""
        elif self.packed and not self.scalar.size:
            yield f"private int {self.name}Size()"
            yield "{"
            yield "    var size = 0;"
            yield f"    foreach (var value in {self.name}.Span) size += {self.size('value')};"
            yield "    return size;"
            yield "}"
            yield ""

    def clear(self) -> str:
        """Statement that sets the default; empty where clearing the oneof does."""
        if self.oneof:
            return ""
        if self.slot:
            return f"_has{self.name} = false;"
        if self.repeated or self.is_bytes:
            return f"{self.name}.Clear();"
        return f"{self.name} = {'null' if self.optional else self.default()};"

    def parse(self) -> Iterator[str]:
        """The cases of the field in the switch over tags."""
        yield f"case {self.tag()}:"
        if self.entry is not None:
            yield from (f"    {line}" for line in self._parse_entry())
        elif self.slot and self.is_message:
            yield f"    reader.ReadMessage(Open{self.name}());"
        elif self.is_bytes:
            yield f"    reader.ReadBytes({f'Open{self.name}()' if self.oneof else self.name});"
        elif self.is_message:
            yield f"    reader.ReadMessage({self.name}.Add());"
        elif self.repeated:
            if self.type == "string":
                yield "    reader.CountItem();"
            yield f"    {self.name}.Add({self.read()});"
        else:
            yield f"    {self.name} = {self.read()};"
        yield "    break;"
        if self.packed:
            yield f"case {self.tag(2)}:"
            if self.type in ("float", "double"):
                yield f"    reader.ReadPacked({self.name});"
            else:
                end = f"{self.private[1:]}End"
                yield f"    var {end} = reader.EnterPacked();"
                yield f"    while (reader.InPacked({end})) {self.name}.Add({self.read()});"
            yield "    break;"

    def _parse_entry(self) -> Iterator[str]:
        yield "{"
        yield f"    {self.key.type} key = {self.key.default()};"
        yield f"    {self.value.type} value = {self.value.default()};"
        yield "    var end = reader.EnterMessage();"
        yield "    while (reader.ReadTag(out var part))"
        yield "    {"
        yield f"        if (part == {self.key.tag()}) key = {self.key.read()};"
        read = "reader.ReadMessage(value)" if self.value.is_message else f"value = {self.value.read()}"
        yield f"        else if (part == {self.value.tag()}) {read};"
        yield "        else reader.Skip(part);"
        yield "    }"
        yield "    reader.LeaveMessage(end);"
        yield f"    {self.name}[key] = value;"
        yield "}"

    def _there(self) -> str:
        """Condition that the field is written; of one that is not repeated."""
        if self.oneof:
            return self.case
        if self.slot:
            return f"_has{self.name}"
        if self.is_bytes:
            return f"{self.name}.Length != 0"
        return f"{self.name} != null" if self.optional else self.scalar.differs.format(self.name)

    def _held(self) -> str:
        """The value of a field that is there."""
        if self.slot:
            return f"{self.private}!"
        return f"{self.name}.Value" if self.optional and self.type != "string" else self.name

    def _entry_size(self) -> str:
        return f"2 + {self.key.size('pair.Key')} + {self.value.size('pair.Value')}"

    def add_size(self) -> Iterator[str]:
        """Statements that add the field's size to ``size``."""
        start = f"size += {self.tag_size} + "
        if self.entry is not None:
            yield f"foreach (var pair in {self.name}) {start}WireSize.Delimited({self._entry_size()});"
        elif self.packed:
            length = f"{self.name}.Count * {self.scalar.size}" if self.scalar.size else f"{self.name}Size()"
            yield f"if ({self.name}.Count != 0) {start}WireSize.Delimited({length});"
        elif self.repeated:
            yield f"foreach (var item in {self.name}) {start}{self.size('item')};"
        else:
            yield f"if ({self._there()}) {start}{self.size(self._held())};"

    def put(self) -> Iterator[str]:
        """Writes the field."""
        if self.entry is not None:
            yield f"foreach (var pair in {self.name})"
            yield "{"
            yield f"    writer.WriteUInt32({self.tag()});"
            yield f"    writer.WriteInt32({self._entry_size()});"
            yield f"    writer.WriteUInt32({self.key.tag()});"
            yield f"    {self.key.write('pair.Key')}"
            yield f"    writer.WriteUInt32({self.value.tag()});"
            yield f"    {self.value.write('pair.Value')}"
            yield "}"
        elif self.packed:
            yield f"if ({self.name}.Count != 0)"
            yield "{"
            yield f"    writer.WriteUInt32({self.tag(2)});"
            if self.type in ("float", "double"):
                yield f"    writer.WritePacked({self.name});"
            else:
                length = (
                    f"{self.name}.Count * {self.scalar.size}" if self.scalar.size else f"{self.name}Size()"
                )
                yield f"    writer.WriteInt32({length});"
                yield f"    foreach (var value in {self.name}.Span) {self.write('value')}"
            yield "}"
        else:
            loop = f"foreach (var item in {self.name})" if self.repeated else f"if ({self._there()})"
            yield loop
            yield "{"
            yield f"    writer.WriteUInt32({self.tag()});"
            yield f"    {self.write('item' if self.repeated else self._held())}"
            yield "}"
