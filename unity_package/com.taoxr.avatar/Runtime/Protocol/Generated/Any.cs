// Made by protos/generate_csharp.py from google/protobuf/any.proto: do not edit.
#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Protocol.WellKnown
{
    public sealed class Any : IMessage
    {
        public string TypeUrl { get; set; } = "";

        public ByteBuffer Value { get; } = new ByteBuffer();

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Any Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Any();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            TypeUrl = "";
            Value.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        TypeUrl = reader.ReadString();
                        break;
                    case 18:
                        reader.ReadBytes(Value);
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (!string.IsNullOrEmpty(TypeUrl)) size += 1 + WireSize.String(TypeUrl);
            if (Value.Length != 0) size += 1 + WireSize.Bytes(Value);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(TypeUrl))
            {
                writer.WriteUInt32(10);
                writer.WriteString(TypeUrl);
            }
            if (Value.Length != 0)
            {
                writer.WriteUInt32(18);
                writer.WriteBytes(Value);
            }
        }
    }
}
