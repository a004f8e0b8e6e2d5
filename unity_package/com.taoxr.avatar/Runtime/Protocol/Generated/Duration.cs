// Made by protos/generate_csharp.py from google/protobuf/duration.proto: do not edit.
#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Protocol.WellKnown
{
    public sealed class Duration : IMessage
    {
        public long Seconds { get; set; }

        public int Nanos { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Duration Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Duration();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Seconds = 0;
            Nanos = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        Seconds = reader.ReadInt64();
                        break;
                    case 16:
                        Nanos = reader.ReadInt32();
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
            if (Seconds != 0) size += 1 + WireSize.Int64(Seconds);
            if (Nanos != 0) size += 1 + WireSize.Int32(Nanos);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Seconds != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt64(Seconds);
            }
            if (Nanos != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt32(Nanos);
            }
        }
    }
}
