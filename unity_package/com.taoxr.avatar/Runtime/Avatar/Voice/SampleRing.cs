#nullable enable
using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Taoxr.Avatar
{
    /// <summary>Sound between one thread that writes and one that reads; neither ever waits. Samples are counted from the first.</summary>
    public sealed class SampleRing
    {
        private readonly float[] _samples;
        private readonly int _mask;
        private long _written;
        private long _released;

        /// <param name="atLeast">Samples that it holds; rounded up to a power of two.</param>
        public SampleRing(int atLeast)
        {
            var size = 1;
            while (size < atLeast) size *= 2;
            _samples = new float[size];
            _mask = size - 1;
        }

        /// <summary>Samples that it holds.</summary>
        public int Capacity => _samples.Length;

        /// <summary>Samples that were written so far. For both threads.</summary>
        public long Written => Volatile.Read(ref _written);

        /// <summary>Puts samples at the end. For the thread that writes.</summary>
        /// <param name="pcm">Signed 16 bit, little-endian.</param>
        /// <returns>Samples that found room; the others are not in it.</returns>
        public int Write(ReadOnlySpan<byte> pcm)
        {
            var start = _written;
            var room = Capacity - (int)(start - Volatile.Read(ref _released));
            var count = Math.Min(pcm.Length / 2, room);
            var at = start;
            foreach (var sample in MemoryMarshal.Cast<byte, short>(pcm.Slice(0, 2 * count))) _samples[at++ & _mask] = sample / 32768f;
            Volatile.Write(ref _written, start + count);
            return count;
        }

        /// <summary>Copies samples, which must have been written and not released. For the thread that reads.</summary>
        public void Copy(long from, Span<float> into)
        {
            var start = (int)(from & _mask);
            var first = Math.Min(into.Length, Capacity - start);
            new Span<float>(_samples, start, first).CopyTo(into);
            new Span<float>(_samples, 0, into.Length - first).CopyTo(into.Slice(first));
        }

        /// <summary>What is before this sample may be overwritten. For the thread that reads.</summary>
        public void Release(long before)
        {
            if (before > _released) Volatile.Write(ref _released, before);
        }
    }
}
