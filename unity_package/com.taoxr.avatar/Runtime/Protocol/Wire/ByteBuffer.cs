#nullable enable
using System;

namespace Taoxr.Protocol
{
    /// <summary>Bytes in an array that grows and is kept, so that filling it again allocates nothing.</summary>
    public sealed class ByteBuffer
    {
        private byte[] _array = Array.Empty<byte>();

        /// <summary>Bytes in it.</summary>
        public int Length { get; private set; }

        /// <summary>The bytes, until the buffer changes.</summary>
        public ReadOnlySpan<byte> Span => new ReadOnlySpan<byte>(_array, 0, Length);

        /// <summary>The bytes, until the buffer changes.</summary>
        public ReadOnlyMemory<byte> Memory => new ReadOnlyMemory<byte>(_array, 0, Length);

        /// <summary>Empties it; the array stays.</summary>
        public void Clear() => Length = 0;

        /// <summary>Replaces what is in it by a copy.</summary>
        public void Set(ReadOnlySpan<byte> bytes)
        {
            Length = 0;
            bytes.CopyTo(Extend(bytes.Length));
        }

        /// <summary>Makes it longer.</summary>
        /// <param name="count">By how many bytes.</param>
        /// <returns>The new bytes, to be filled.</returns>
        public Span<byte> Extend(int count)
        {
            var start = Length;
            var needed = checked(start + count);
            if (needed > _array.Length) Array.Resize(ref _array, Growth.Of(_array.Length, needed));
            Length = needed;
            return new Span<byte>(_array, start, count);
        }

        /// <summary>Drops bytes from its start.</summary>
        public void RemoveFirst(int count)
        {
            if (count < 0 || count > Length) throw new ArgumentOutOfRangeException(nameof(count));
            Length -= count;
            Buffer.BlockCopy(_array, count, _array, 0, Length);
        }
    }

    internal static class Growth
    {
        public static int Of(int capacity, int needed) => (int)Math.Min(Math.Max(needed, Math.Max(16, capacity * 2L)), 0x7FFFFFC7);
    }
}
