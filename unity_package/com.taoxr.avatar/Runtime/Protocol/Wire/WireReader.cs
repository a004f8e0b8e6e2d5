#nullable enable
using System;
using System.Buffers.Binary;
using System.Runtime.InteropServices;

namespace Taoxr.Protocol
{
    /// <summary>
    /// Reads the protobuf wire format (protobuf.dev/programming-guides/encoding) from bytes that nobody has checked.
    /// </summary>
    public ref struct WireReader
    {
        // Only read. Not a ReadOnlySpan, whose indexer C# compilers refuse on assemblies that Mono's own compiler made.
        private readonly Span<byte> _bytes;
        private readonly StringCache? _strings;
        private readonly int _maxDepth;
        private int _position;
        private int _end;
        private int _depth;
        private int _itemsLeft;

        /// <param name="bytes">One message.</param>
        /// <param name="strings">Where strings are kept; null makes new ones.</param>
        /// <param name="limits">What it may cost.</param>
        public WireReader(ReadOnlySpan<byte> bytes, StringCache? strings, ParseLimits limits)
        {
            _bytes = MemoryMarshal.CreateSpan(ref MemoryMarshal.GetReference(bytes), bytes.Length);
            _strings = strings;
            _maxDepth = limits.MaxDepth;
            _itemsLeft = limits.MaxItems;
            _position = 0;
            _end = bytes.Length;
            _depth = 0;
        }

        /// <summary>The tag of the next field of this message.</summary>
        /// <returns>False at the end of the message.</returns>
        public bool ReadTag(out uint tag)
        {
            if (_position == _end)
            {
                tag = 0;
                return false;
            }
            var value = ReadVarint();
            if (value > uint.MaxValue || value >> 3 == 0) throw Wrong("a field has number 0 or a number that is too large");
            tag = (uint)value;
            return true;
        }

        /// <summary>Passes over a field that is not known.</summary>
        public void Skip(uint tag)
        {
            switch (tag & 7)
            {
                case 0:
                    ReadVarint();
                    break;
                case 1:
                    Take(8);
                    break;
                case 2:
                    Take(ReadLength());
                    break;
                case 3:
                    SkipGroup(tag >> 3);
                    break;
                case 5:
                    Take(4);
                    break;
                default:
                    throw Wrong("a field has wire type " + (tag & 7) + ", which is not expected there");
            }
        }

        /// <summary>Reads a message that is a field, over what the message holds.</summary>
        public void ReadMessage(IMessage message)
        {
            var end = EnterMessage();
            message.MergeFrom(ref this);
            LeaveMessage(end);
        }

        /// <summary>Goes into a message that is a field: its end is now the end.</summary>
        /// <returns>What LeaveMessage wants.</returns>
        public int EnterMessage()
        {
            CountItem();
            var length = ReadLength();
            Deeper();
            var outer = _end;
            _end = _position + length;
            return outer;
        }

        /// <summary>Goes out of a message after ReadTag returned false.</summary>
        public void LeaveMessage(int outer)
        {
            _end = outer;
            _depth--;
        }

        /// <summary>Counts something that costs an object.</summary>
        public void CountItem()
        {
            if (--_itemsLeft < 0) throw Wrong("the message has too many parts");
        }

        /// <summary>A bool.</summary>
        public bool ReadBool() => ReadVarint() != 0;

        /// <summary>An int32, or the number of an enum.</summary>
        public int ReadInt32() => unchecked((int)ReadVarint());

        /// <summary>An int64.</summary>
        public long ReadInt64() => unchecked((long)ReadVarint());

        /// <summary>A uint32.</summary>
        public uint ReadUInt32() => unchecked((uint)ReadVarint());

        /// <summary>A uint64.</summary>
        public ulong ReadUInt64() => ReadVarint();

        /// <summary>A float.</summary>
        public float ReadFloat() => BitConverter.Int32BitsToSingle(BinaryPrimitives.ReadInt32LittleEndian(Take(4)));

        /// <summary>A double.</summary>
        public double ReadDouble() => BitConverter.Int64BitsToDouble(BinaryPrimitives.ReadInt64LittleEndian(Take(8)));

        /// <summary>A string.</summary>
        public string ReadString()
        {
            var utf8 = Take(ReadLength());
            if (utf8.IsEmpty) return "";
            return _strings != null ? _strings.Get(utf8) : Utf8.Decode(utf8);
        }

        /// <summary>Bytes, copied into a buffer in place of what it held.</summary>
        public void ReadBytes(ByteBuffer into) => into.Set(Take(ReadLength()));

        /// <summary>Packed floats, put at the end of a list.</summary>
        public void ReadPacked(ValueList<float> into)
        {
            var bytes = Take(ReadLength());
            if (bytes.Length % 4 != 0) throw Wrong("packed floats end inside a float");
            // As they are in memory: every platform of Unity is little-endian.
            bytes.CopyTo(MemoryMarshal.AsBytes(into.Extend(bytes.Length / 4)));
        }

        /// <summary>Packed doubles, put at the end of a list.</summary>
        public void ReadPacked(ValueList<double> into)
        {
            var bytes = Take(ReadLength());
            if (bytes.Length % 8 != 0) throw Wrong("packed doubles end inside a double");
            bytes.CopyTo(MemoryMarshal.AsBytes(into.Extend(bytes.Length / 8)));
        }

        /// <summary>Goes into packed varints: InPacked is true until their end.</summary>
        /// <returns>What InPacked wants.</returns>
        public int EnterPacked()
        {
            var length = ReadLength();
            var outer = _end;
            _end = _position + length;
            return outer;
        }

        /// <summary>Whether packed varints go on; goes out of them at their end.</summary>
        public bool InPacked(int outer)
        {
            if (_position < _end) return true;
            _end = outer;
            return false;
        }

        private void SkipGroup(uint number)
        {
            Deeper();
            while (ReadTag(out var tag))
            {
                if ((tag & 7) != 4)
                {
                    Skip(tag);
                    continue;
                }
                if (tag >> 3 != number) throw Wrong("a group ends as another one than it began");
                _depth--;
                return;
            }
            throw Wrong("a group does not end");
        }

        private ulong ReadVarint()
        {
            ulong value = 0;
            for (var shift = 0; shift < 64; shift += 7)
            {
                if (_position >= _end) throw Wrong("the message ends inside a number");
                var b = _bytes[_position++];
                if (shift == 63 && b > 1) break;
                value |= (ulong)(b & 0x7F) << shift;
                if (b < 0x80) return value;
            }
            throw Wrong("a number has more than 64 bits");
        }

        private int ReadLength()
        {
            var length = ReadVarint();
            if (length > (ulong)(_end - _position)) throw Wrong("a field of " + length + " bytes goes beyond the end");
            return (int)length;
        }

        private ReadOnlySpan<byte> Take(int count)
        {
            if (count > _end - _position) throw Wrong("the message ends inside a field");
            var taken = _bytes.Slice(_position, count);
            _position += count;
            return taken;
        }

        private void Deeper()
        {
            if (++_depth > _maxDepth) throw Wrong("messages are nested more than " + _maxDepth + " deep");
        }

        private readonly ProtocolException Wrong(string what) => new ProtocolException("at byte " + _position + ": " + what);
    }
}
