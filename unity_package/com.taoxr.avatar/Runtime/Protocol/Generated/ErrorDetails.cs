// Made by protos/generate_csharp.py from google/rpc/error_details.proto: do not edit.
#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Protocol.Rpc
{
    public sealed class ErrorInfo : IMessage
    {
        public string Reason { get; set; } = "";

        public string Domain { get; set; } = "";

        public Dictionary<string, string> Metadata { get; } = new Dictionary<string, string>();

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static ErrorInfo Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new ErrorInfo();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Reason = "";
            Domain = "";
            Metadata.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        Reason = reader.ReadString();
                        break;
                    case 18:
                        Domain = reader.ReadString();
                        break;
                    case 26:
                        {
                            string key = "";
                            string value = "";
                            var end = reader.EnterMessage();
                            while (reader.ReadTag(out var part))
                            {
                                if (part == 10) key = reader.ReadString();
                                else if (part == 18) value = reader.ReadString();
                                else reader.Skip(part);
                            }
                            reader.LeaveMessage(end);
                            Metadata[key] = value;
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
            if (!string.IsNullOrEmpty(Reason)) size += 1 + WireSize.String(Reason);
            if (!string.IsNullOrEmpty(Domain)) size += 1 + WireSize.String(Domain);
            foreach (var pair in Metadata) size += 1 + WireSize.Delimited(2 + WireSize.String(pair.Key) + WireSize.String(pair.Value));
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(Reason))
            {
                writer.WriteUInt32(10);
                writer.WriteString(Reason);
            }
            if (!string.IsNullOrEmpty(Domain))
            {
                writer.WriteUInt32(18);
                writer.WriteString(Domain);
            }
            foreach (var pair in Metadata)
            {
                writer.WriteUInt32(26);
                writer.WriteInt32(2 + WireSize.String(pair.Key) + WireSize.String(pair.Value));
                writer.WriteUInt32(10);
                writer.WriteString(pair.Key);
                writer.WriteUInt32(18);
                writer.WriteString(pair.Value);
            }
        }
    }

    public sealed class RetryInfo : IMessage
    {
        private Taoxr.Protocol.WellKnown.Duration? _retryDelay;
        private bool _hasRetryDelay;

        private Taoxr.Protocol.WellKnown.Duration OpenRetryDelay()
        {
            _retryDelay ??= new Taoxr.Protocol.WellKnown.Duration();
            if (!(_hasRetryDelay)) _retryDelay.Clear();
            _hasRetryDelay = true;
            return _retryDelay;
        }

        public Taoxr.Protocol.WellKnown.Duration? RetryDelay
        {
            get => _hasRetryDelay ? _retryDelay : null;
            set
            {
                if (value != null) _retryDelay = value;
                _hasRetryDelay = value != null;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static RetryInfo Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new RetryInfo();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            _hasRetryDelay = false;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadMessage(OpenRetryDelay());
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
            if (_hasRetryDelay) size += 1 + WireSize.Message(_retryDelay!);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (_hasRetryDelay)
            {
                writer.WriteUInt32(10);
                writer.WriteMessage(_retryDelay!);
            }
        }
    }

    public sealed class BadRequest : IMessage
    {
        public MessageList<BadRequestFieldViolation> FieldViolations { get; } = new MessageList<BadRequestFieldViolation>(() => new BadRequestFieldViolation());

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static BadRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new BadRequest();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            FieldViolations.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadMessage(FieldViolations.Add());
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
            foreach (var item in FieldViolations) size += 1 + WireSize.Message(item);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            foreach (var item in FieldViolations)
            {
                writer.WriteUInt32(10);
                writer.WriteMessage(item);
            }
        }
    }

    public sealed class BadRequestFieldViolation : IMessage
    {
        private LocalizedMessage? _localizedMessage;
        private bool _hasLocalizedMessage;

        private LocalizedMessage OpenLocalizedMessage()
        {
            _localizedMessage ??= new LocalizedMessage();
            if (!(_hasLocalizedMessage)) _localizedMessage.Clear();
            _hasLocalizedMessage = true;
            return _localizedMessage;
        }

        public string Field { get; set; } = "";

        public string Description { get; set; } = "";

        public string Reason { get; set; } = "";

        public LocalizedMessage? LocalizedMessage
        {
            get => _hasLocalizedMessage ? _localizedMessage : null;
            set
            {
                if (value != null) _localizedMessage = value;
                _hasLocalizedMessage = value != null;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static BadRequestFieldViolation Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new BadRequestFieldViolation();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Field = "";
            Description = "";
            Reason = "";
            _hasLocalizedMessage = false;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        Field = reader.ReadString();
                        break;
                    case 18:
                        Description = reader.ReadString();
                        break;
                    case 26:
                        Reason = reader.ReadString();
                        break;
                    case 34:
                        reader.ReadMessage(OpenLocalizedMessage());
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
            if (!string.IsNullOrEmpty(Field)) size += 1 + WireSize.String(Field);
            if (!string.IsNullOrEmpty(Description)) size += 1 + WireSize.String(Description);
            if (!string.IsNullOrEmpty(Reason)) size += 1 + WireSize.String(Reason);
            if (_hasLocalizedMessage) size += 1 + WireSize.Message(_localizedMessage!);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(Field))
            {
                writer.WriteUInt32(10);
                writer.WriteString(Field);
            }
            if (!string.IsNullOrEmpty(Description))
            {
                writer.WriteUInt32(18);
                writer.WriteString(Description);
            }
            if (!string.IsNullOrEmpty(Reason))
            {
                writer.WriteUInt32(26);
                writer.WriteString(Reason);
            }
            if (_hasLocalizedMessage)
            {
                writer.WriteUInt32(34);
                writer.WriteMessage(_localizedMessage!);
            }
        }
    }

    public sealed class LocalizedMessage : IMessage
    {
        public string Locale { get; set; } = "";

        public string Message { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static LocalizedMessage Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new LocalizedMessage();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Locale = "";
            Message = "";
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        Locale = reader.ReadString();
                        break;
                    case 18:
                        Message = reader.ReadString();
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
            if (!string.IsNullOrEmpty(Locale)) size += 1 + WireSize.String(Locale);
            if (!string.IsNullOrEmpty(Message)) size += 1 + WireSize.String(Message);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(Locale))
            {
                writer.WriteUInt32(10);
                writer.WriteString(Locale);
            }
            if (!string.IsNullOrEmpty(Message))
            {
                writer.WriteUInt32(18);
                writer.WriteString(Message);
            }
        }
    }
}
