// Made by protos/generate_csharp.py from google/rpc/status.proto: do not edit.
#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Protocol.Rpc
{
    public sealed class Status : IMessage
    {
        public int Code { get; set; }

        public string Message { get; set; } = "";

        public MessageList<Taoxr.Protocol.WellKnown.Any> Details { get; } = new MessageList<Taoxr.Protocol.WellKnown.Any>(() => new Taoxr.Protocol.WellKnown.Any());

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Status Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Status();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Code = 0;
            Message = "";
            Details.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        Code = reader.ReadInt32();
                        break;
                    case 18:
                        Message = reader.ReadString();
                        break;
                    case 26:
                        reader.ReadMessage(Details.Add());
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
            if (Code != 0) size += 1 + WireSize.Int32(Code);
            if (!string.IsNullOrEmpty(Message)) size += 1 + WireSize.String(Message);
            foreach (var item in Details) size += 1 + WireSize.Message(item);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Code != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt32(Code);
            }
            if (!string.IsNullOrEmpty(Message))
            {
                writer.WriteUInt32(18);
                writer.WriteString(Message);
            }
            foreach (var item in Details)
            {
                writer.WriteUInt32(26);
                writer.WriteMessage(item);
            }
        }
    }
}
