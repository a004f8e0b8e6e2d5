// Made by protos/generate_csharp.py from taoxr/v1/tools.proto: do not edit.
#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Protocol.V1
{
    /// <summary>A function of the client that the avatar may call.</summary>
    public sealed class Tool : IMessage
    {
        /// <summary>1 to 64 letters, digits, `_` and `-`.</summary>
        public string Name { get; set; } = "";

        /// <summary>When to call it and what it does, for the language model; at most 1,000 characters.</summary>
        public string Description { get; set; } = "";

        /// <summary>JSON Schema of its arguments, an object; empty means that it takes none. At most 4,000 characters.</summary>
        public string ParametersJsonSchema { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Tool Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Tool();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Name = "";
            Description = "";
            ParametersJsonSchema = "";
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        Name = reader.ReadString();
                        break;
                    case 18:
                        Description = reader.ReadString();
                        break;
                    case 26:
                        ParametersJsonSchema = reader.ReadString();
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
            if (!string.IsNullOrEmpty(Name)) size += 1 + WireSize.String(Name);
            if (!string.IsNullOrEmpty(Description)) size += 1 + WireSize.String(Description);
            if (!string.IsNullOrEmpty(ParametersJsonSchema)) size += 1 + WireSize.String(ParametersJsonSchema);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(Name))
            {
                writer.WriteUInt32(10);
                writer.WriteString(Name);
            }
            if (!string.IsNullOrEmpty(Description))
            {
                writer.WriteUInt32(18);
                writer.WriteString(Description);
            }
            if (!string.IsNullOrEmpty(ParametersJsonSchema))
            {
                writer.WriteUInt32(26);
                writer.WriteString(ParametersJsonSchema);
            }
        }
    }

    /// <summary>The avatar wants something from a tool of the client, which answers with a ToolResult.</summary>
    public sealed class ToolCall : IMessage
    {
        /// <summary>Name of this call.</summary>
        public string CallId { get; set; } = "";

        /// <summary>Tool.name.</summary>
        public string Name { get; set; } = "";

        /// <summary>A JSON object, as the language model wrote it: it may not keep to Tool.parameters_json_schema.</summary>
        public string ArgumentsJson { get; set; } = "";

        /// <summary>Without a result after so long the avatar goes on without one, in microseconds.</summary>
        public long TimeoutUs { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static ToolCall Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new ToolCall();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            CallId = "";
            Name = "";
            ArgumentsJson = "";
            TimeoutUs = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        CallId = reader.ReadString();
                        break;
                    case 18:
                        Name = reader.ReadString();
                        break;
                    case 26:
                        ArgumentsJson = reader.ReadString();
                        break;
                    case 32:
                        TimeoutUs = reader.ReadInt64();
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
            if (!string.IsNullOrEmpty(CallId)) size += 1 + WireSize.String(CallId);
            if (!string.IsNullOrEmpty(Name)) size += 1 + WireSize.String(Name);
            if (!string.IsNullOrEmpty(ArgumentsJson)) size += 1 + WireSize.String(ArgumentsJson);
            if (TimeoutUs != 0) size += 1 + WireSize.Int64(TimeoutUs);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(CallId))
            {
                writer.WriteUInt32(10);
                writer.WriteString(CallId);
            }
            if (!string.IsNullOrEmpty(Name))
            {
                writer.WriteUInt32(18);
                writer.WriteString(Name);
            }
            if (!string.IsNullOrEmpty(ArgumentsJson))
            {
                writer.WriteUInt32(26);
                writer.WriteString(ArgumentsJson);
            }
            if (TimeoutUs != 0)
            {
                writer.WriteUInt32(32);
                writer.WriteInt64(TimeoutUs);
            }
        }
    }

    /// <summary>The client has run a tool.</summary>
    public sealed class ToolResult : IMessage
    {
        /// <summary>Which of the fields of Outcome is set.</summary>
        public enum OutcomeOneofCase
        {
            None = 0,
            Output = 2,
            Error = 3,
        }

        private string _output = "";

        private string _error = "";

        /// <summary>Which of them is set.</summary>
        public OutcomeOneofCase OutcomeCase { get; private set; }

        /// <summary>ToolCall.call_id; one that is not waited for (any more) is ignored.</summary>
        public string CallId { get; set; } = "";

        /// <summary>What came out, for the language model: text or JSON, at most 4,000 characters.</summary>
        public string Output
        {
            get => OutcomeCase == OutcomeOneofCase.Output ? _output : "";
            set
            {
                _output = value ?? "";
                OutcomeCase = OutcomeOneofCase.Output;
            }
        }

        /// <summary>Why it failed, in words that the language model may pass on; at most 1,000 characters.</summary>
        public string Error
        {
            get => OutcomeCase == OutcomeOneofCase.Error ? _error : "";
            set
            {
                _error = value ?? "";
                OutcomeCase = OutcomeOneofCase.Error;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static ToolResult Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new ToolResult();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            CallId = "";
            OutcomeCase = OutcomeOneofCase.None;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        CallId = reader.ReadString();
                        break;
                    case 18:
                        Output = reader.ReadString();
                        break;
                    case 26:
                        Error = reader.ReadString();
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
            if (!string.IsNullOrEmpty(CallId)) size += 1 + WireSize.String(CallId);
            if (OutcomeCase == OutcomeOneofCase.Output) size += 1 + WireSize.String(Output);
            if (OutcomeCase == OutcomeOneofCase.Error) size += 1 + WireSize.String(Error);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(CallId))
            {
                writer.WriteUInt32(10);
                writer.WriteString(CallId);
            }
            if (OutcomeCase == OutcomeOneofCase.Output)
            {
                writer.WriteUInt32(18);
                writer.WriteString(Output);
            }
            if (OutcomeCase == OutcomeOneofCase.Error)
            {
                writer.WriteUInt32(26);
                writer.WriteString(Error);
            }
        }
    }
}
