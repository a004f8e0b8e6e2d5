#nullable enable
using System.Diagnostics;
using System.Threading;

namespace Taoxr.Avatar
{
    /// <summary>
    /// When which samples went to the device: written by the audio thread block by block, read by another. So the
    /// mouth follows what was played, not what should have been: when the sound stops, it stops.
    /// </summary>
    internal sealed class PlayedBlocks
    {
        private const int Kept = 128;

        private readonly Block[] _blocks = new Block[Kept];
        private long _count;

        private struct Block
        {
            public long Ticks;
            public double Start;
            public double Played;
        }

        /// <summary>A block goes to the device.</summary>
        /// <param name="ticks">When, on Stopwatch's clock.</param>
        /// <param name="start">Its first sample.</param>
        /// <param name="played">Samples in it; silence may follow them.</param>
        public void Add(long ticks, double start, double played)
        {
            var count = _count;
            _blocks[count % Kept] = new Block { Ticks = ticks, Start = start, Played = played };
            Volatile.Write(ref _count, count + 1);
        }

        /// <summary>The sample that leaves the device at a time.</summary>
        /// <param name="ticks">The time that it went to the device: the latency is taken off.</param>
        /// <param name="rate">Samples per second.</param>
        public double At(long ticks, int rate)
        {
            while (true)
            {
                var count = Volatile.Read(ref _count);
                var place = Find(count, ticks, rate);
                // The audio thread may have overwritten what was read, if this one was asleep for long.
                if (Volatile.Read(ref _count) - count < Kept / 2) return place;
            }
        }

        private double Find(long count, long ticks, int rate)
        {
            var block = default(Block);
            for (var back = 1; back <= Kept / 2 && back <= count; back++)
            {
                block = _blocks[(count - back) % Kept];
                if (block.Ticks > ticks) continue;
                var passed = (double)(ticks - block.Ticks) / Stopwatch.Frequency * rate;
                return block.Start + (passed < block.Played ? passed : block.Played);
            }
            return block.Start;
        }
    }
}
