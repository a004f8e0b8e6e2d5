// Made by protos/generate_csharp.py from taoxr/v1/common.proto: do not edit.
#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Protocol.V1
{
    /// <summary>Who is speaking in a conversation history.</summary>
    public enum Role
    {
        /// <summary>Not valid.</summary>
        Unspecified = 0,
        /// <summary>Instructions to the language model.</summary>
        System = 1,
        /// <summary>The person.</summary>
        User = 2,
        /// <summary>The avatar.</summary>
        Assistant = 3,
    }

    /// <summary>Linear PCM, always one channel, little-endian signed 16 bit.</summary>
    public sealed class AudioFormat : IMessage
    {
        /// <summary>Samples per second. Accepted on input: 8000 to 48000.</summary>
        public int SampleRateHz { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static AudioFormat Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new AudioFormat();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            SampleRateHz = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        SampleRateHz = reader.ReadInt32();
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
            if (SampleRateHz != 0) size += 1 + WireSize.Int32(SampleRateHz);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (SampleRateHz != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt32(SampleRateHz);
            }
        }
    }

    /// <summary>One blendshape vector. Names and their order are announced once per stream (RigDescription).</summary>
    public sealed class Frame : IMessage
    {
        /// <summary>Time on the media clock of the turn (or of the clip), in microseconds.</summary>
        public long TimeUs { get; set; }

        /// <summary>One value per name in RigDescription.blendshape_names; for arkit52 each in [0, 1].</summary>
        public ValueList<float> Weights { get; } = new ValueList<float>();

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Frame Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Frame();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            TimeUs = 0;
            Weights.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        TimeUs = reader.ReadInt64();
                        break;
                    case 21:
                        Weights.Add(reader.ReadFloat());
                        break;
                    case 18:
                        reader.ReadPacked(Weights);
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
            if (TimeUs != 0) size += 1 + WireSize.Int64(TimeUs);
            if (Weights.Count != 0) size += 1 + WireSize.Delimited(Weights.Count * 4);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (TimeUs != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt64(TimeUs);
            }
            if (Weights.Count != 0)
            {
                writer.WriteUInt32(18);
                writer.WritePacked(Weights);
            }
        }
    }

    /// <summary>What the numbers in Frame.weights mean.</summary>
    public sealed class RigDescription : IMessage
    {
        /// <summary>Coefficient space: "arkit52" or "flame53".</summary>
        public string Space { get; set; } = "";

        /// <summary>Names in the order of Frame.weights.</summary>
        public List<string> BlendshapeNames { get; } = new List<string>();

        /// <summary>Frames per second of the frame track.</summary>
        public double FrameRate { get; set; }

        /// <summary>True when the lips come from a provisional method (see the docs of AnimateAudio).</summary>
        public bool Provisional { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static RigDescription Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new RigDescription();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Space = "";
            BlendshapeNames.Clear();
            FrameRate = 0;
            Provisional = false;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        Space = reader.ReadString();
                        break;
                    case 18:
                        reader.CountItem();
                        BlendshapeNames.Add(reader.ReadString());
                        break;
                    case 25:
                        FrameRate = reader.ReadDouble();
                        break;
                    case 32:
                        Provisional = reader.ReadBool();
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
            if (!string.IsNullOrEmpty(Space)) size += 1 + WireSize.String(Space);
            foreach (var item in BlendshapeNames) size += 1 + WireSize.String(item);
            if (BitConverter.DoubleToInt64Bits(FrameRate) != 0) size += 1 + 8;
            if (Provisional) size += 1 + 1;
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(Space))
            {
                writer.WriteUInt32(10);
                writer.WriteString(Space);
            }
            foreach (var item in BlendshapeNames)
            {
                writer.WriteUInt32(18);
                writer.WriteString(item);
            }
            if (BitConverter.DoubleToInt64Bits(FrameRate) != 0)
            {
                writer.WriteUInt32(25);
                writer.WriteDouble(FrameRate);
            }
            if (Provisional)
            {
                writer.WriteUInt32(32);
                writer.WriteBool(Provisional);
            }
        }
    }

    /// <summary>A phoneme and when it is heard.</summary>
    public sealed class PhonemeTiming : IMessage
    {
        /// <summary>IPA symbol as the voice uses it; "" or "_" is silence.</summary>
        public string Symbol { get; set; } = "";

        /// <summary>Start, inclusive, in microseconds on the clock of the audio it belongs to.</summary>
        public long StartUs { get; set; }

        /// <summary>End, exclusive, in microseconds on the same clock.</summary>
        public long EndUs { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static PhonemeTiming Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new PhonemeTiming();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Symbol = "";
            StartUs = 0;
            EndUs = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        Symbol = reader.ReadString();
                        break;
                    case 16:
                        StartUs = reader.ReadInt64();
                        break;
                    case 24:
                        EndUs = reader.ReadInt64();
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
            if (!string.IsNullOrEmpty(Symbol)) size += 1 + WireSize.String(Symbol);
            if (StartUs != 0) size += 1 + WireSize.Int64(StartUs);
            if (EndUs != 0) size += 1 + WireSize.Int64(EndUs);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(Symbol))
            {
                writer.WriteUInt32(10);
                writer.WriteString(Symbol);
            }
            if (StartUs != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt64(StartUs);
            }
            if (EndUs != 0)
            {
                writer.WriteUInt32(24);
                writer.WriteInt64(EndUs);
            }
        }
    }

    /// <summary>One message of a conversation.</summary>
    public sealed class ChatMessage : IMessage
    {
        /// <summary>Who said it.</summary>
        public Role Role { get; set; }

        /// <summary>What was said; 1 to 4,000 characters from clients.</summary>
        public string Content { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static ChatMessage Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new ChatMessage();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Role = (Role)0;
            Content = "";
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        Role = (Role)reader.ReadInt32();
                        break;
                    case 18:
                        Content = reader.ReadString();
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
            if (Role != 0) size += 1 + WireSize.Int32((int)Role);
            if (!string.IsNullOrEmpty(Content)) size += 1 + WireSize.String(Content);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Role != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt32((int)Role);
            }
            if (!string.IsNullOrEmpty(Content))
            {
                writer.WriteUInt32(18);
                writer.WriteString(Content);
            }
        }
    }
}
