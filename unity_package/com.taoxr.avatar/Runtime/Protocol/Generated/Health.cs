// Made by protos/generate_csharp.py from grpc_health/v1/health.proto: do not edit.
#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Protocol.Health
{
    public sealed class HealthCheckRequest : IMessage
    {
        public string Service { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static HealthCheckRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new HealthCheckRequest();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Service = "";
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        Service = reader.ReadString();
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
            if (!string.IsNullOrEmpty(Service)) size += 1 + WireSize.String(Service);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(Service))
            {
                writer.WriteUInt32(10);
                writer.WriteString(Service);
            }
        }
    }

    public sealed class HealthCheckResponse : IMessage
    {
        public HealthCheckResponseServingStatus Status { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static HealthCheckResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new HealthCheckResponse();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Status = (HealthCheckResponseServingStatus)0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        Status = (HealthCheckResponseServingStatus)reader.ReadInt32();
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
            if (Status != 0) size += 1 + WireSize.Int32((int)Status);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Status != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt32((int)Status);
            }
        }
    }

    public enum HealthCheckResponseServingStatus
    {
        Unknown = 0,
        Serving = 1,
        NotServing = 2,
        ServiceUnknown = 3,
    }

    public sealed class HealthListRequest : IMessage
    {
        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static HealthListRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new HealthListRequest();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                reader.Skip(tag);
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
        }
    }

    public sealed class HealthListResponse : IMessage
    {
        public Dictionary<string, HealthCheckResponse> Statuses { get; } = new Dictionary<string, HealthCheckResponse>();

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static HealthListResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new HealthListResponse();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Statuses.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        {
                            string key = "";
                            HealthCheckResponse value = new HealthCheckResponse();
                            var end = reader.EnterMessage();
                            while (reader.ReadTag(out var part))
                            {
                                if (part == 10) key = reader.ReadString();
                                else if (part == 18) reader.ReadMessage(value);
                                else reader.Skip(part);
                            }
                            reader.LeaveMessage(end);
                            Statuses[key] = value;
                        }
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
            foreach (var pair in Statuses) size += 1 + WireSize.Delimited(2 + WireSize.String(pair.Key) + WireSize.Message(pair.Value));
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            foreach (var pair in Statuses)
            {
                writer.WriteUInt32(10);
                writer.WriteInt32(2 + WireSize.String(pair.Key) + WireSize.Message(pair.Value));
                writer.WriteUInt32(10);
                writer.WriteString(pair.Key);
                writer.WriteUInt32(18);
                writer.WriteMessage(pair.Value);
            }
        }
    }

    public static class Health
    {
        public static readonly Method<HealthCheckRequest, HealthCheckResponse> Check =
            new Method<HealthCheckRequest, HealthCheckResponse>("/grpc.health.v1.Health/Check", false, false, () => new HealthCheckResponse());

        public static readonly Method<HealthListRequest, HealthListResponse> List =
            new Method<HealthListRequest, HealthListResponse>("/grpc.health.v1.Health/List", false, false, () => new HealthListResponse());

        public static readonly Method<HealthCheckRequest, HealthCheckResponse> Watch =
            new Method<HealthCheckRequest, HealthCheckResponse>("/grpc.health.v1.Health/Watch", false, true, () => new HealthCheckResponse());
    }
}
