#nullable enable
using System;
using System.Buffers.Binary;
using System.Runtime.InteropServices;

namespace Taoxr.Protocol
{
    /// <summary>Writes the protobuf wire format into bytes that are as many as ByteSize said.</summary>
    public ref struct WireWriter
    {
        private readonly Span<byte> _bytes;
        private int _position;

        /// <param name="bytes">Where to write.</param>
        public WireWriter(Span<byte> bytes)
        {
            _bytes = bytes;
            _position = 0;
        }

        /// <summary>A tag, a uint32 or a length.</summary>
        public void WriteUInt32(uint value) => WriteUInt64(value);

        /// <summary>A uint64.</summary>
        public void WriteUInt64(ulong value)
        {
            while (value >= 0x80)
            {
                _bytes[_position++] = (byte)(value | 0x80);
                value >>= 7;
            }
            _bytes[_position++] = (byte)value;
        }

        /// <summary>An int32, or the number of an enum.</summary>
        public void WriteInt32(int value) => WriteUInt64(unchecked((ulong)(long)value));

        /// <summary>An int64.</summary>
        public void WriteInt64(long value) => WriteUInt64(unchecked((ulong)value));

        /// <summary>A bool.</summary>
        public void WriteBool(bool value) => _bytes[_position++] = value ? (byte)1 : (byte)0;

        /// <summary>A float.</summary>
        public void WriteFloat(float value)
        {
            BinaryPrimitives.WriteInt32LittleEndian(_bytes.Slice(_position), BitConverter.SingleToInt32Bits(value));
            _position += 4;
        }

        /// <summary>A double.</summary>
        public void WriteDouble(double value)
        {
            BinaryPrimitives.WriteInt64LittleEndian(_bytes.Slice(_position), BitConverter.DoubleToInt64Bits(value));
            _position += 8;
        }

        /// <summary>A string; null is empty.</summary>
        public void WriteString(string? text)
        {
            text ??= "";
            WriteUInt64((ulong)Utf8.ByteCount(text));
            _position += Utf8.Encode(text, _bytes.Slice(_position));
        }

        /// <summary>Bytes.</summary>
        public void WriteBytes(ByteBuffer buffer)
        {
            WriteUInt64((ulong)buffer.Length);
            buffer.Span.CopyTo(_bytes.Slice(_position));
            _position += buffer.Length;
        }

        /// <summary>A message that is a field.</summary>
        public void WriteMessage(IMessage message)
        {
            WriteUInt64((ulong)message.CachedSize);
            message.WriteTo(ref this);
        }

        /// <summary>Packed floats.</summary>
        public void WritePacked(ValueList<float> values)
        {
            var bytes = MemoryMarshal.AsBytes(values.Span);
            WriteUInt64((ulong)bytes.Length);
            bytes.CopyTo(_bytes.Slice(_position));
            _position += bytes.Length;
        }

        /// <summary>Packed doubles.</summary>
        public void WritePacked(ValueList<double> values)
        {
            var bytes = MemoryMarshal.AsBytes(values.Span);
            WriteUInt64((ulong)bytes.Length);
            bytes.CopyTo(_bytes.Slice(_position));
            _position += bytes.Length;
        }
    }

    /// <summary>Sizes on the wire, in bytes, without tags.</summary>
    public static class WireSize
    {
        /// <summary>Of a varint.</summary>
        public static int UInt64(ulong value)
        {
            var size = 1;
            for (; value >= 0x80; value >>= 7) size++;
            return size;
        }

        /// <summary>Of a uint32.</summary>
        public static int UInt32(uint value) => UInt64(value);

        /// <summary>Of an int32, or the number of an enum.</summary>
        public static int Int32(int value) => UInt64(unchecked((ulong)(long)value));

        /// <summary>Of an int64.</summary>
        public static int Int64(long value) => UInt64(unchecked((ulong)value));

        /// <summary>Of a string with its length; null is empty.</summary>
        public static int String(string? text) => Delimited(Utf8.ByteCount(text ?? ""));

        /// <summary>Of bytes with their length.</summary>
        public static int Bytes(ByteBuffer buffer) => Delimited(buffer.Length);

        /// <summary>Of a message with its length.</summary>
        public static int Message(IMessage message) => Delimited(message.ByteSize());

        /// <summary>Of so many bytes with their length.</summary>
        public static int Delimited(int length) => checked(UInt64((ulong)length) + length);
    }
}
