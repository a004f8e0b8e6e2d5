#nullable enable
using System;
using System.Diagnostics;

namespace Taoxr.Avatar
{
    /// <summary>
    /// The avatar's voice on its way to the device. Its clock ("voice time") is the sound played since the start, in
    /// microseconds, over all turns: everything else of the avatar follows it. Read is for the audio thread, the rest for the
    /// main thread.
    /// </summary>
    public sealed class Voice
    {
        /// <summary>Sound that waits at most; the server sends about 1.2 s ahead of what was heard.</summary>
        public const int MostSeconds = 10;

        private const int MostSegments = 64;

        private readonly SampleRing _ring;
        private readonly PlayedBlocks _blocks = new PlayedBlocks();
        private readonly VoiceOutput _output;
        private readonly Segment[] _segments = new Segment[MostSegments];
        private long _firstSegment;
        private long _segmentCount;
        private long _cut;
        private double _heard;
        private int _underrunsBefore;

        private struct Segment
        {
            public string TurnId;
            public long Start;
            public long StartUs;
            public int UnderrunsBefore;
        }

        /// <param name="rate">Samples per second of the voice.</param>
        /// <param name="startSeconds">How much must have come before it begins; against networks that stutter.</param>
        public Voice(int rate, double startSeconds = 0.08)
        {
            Rate = rate;
            _ring = new SampleRing(rate * MostSeconds);
            _output = new VoiceOutput(_ring, rate, startSeconds, _blocks);
        }

        /// <summary>Samples per second of the voice.</summary>
        public int Rate { get; }

        /// <summary>What is heard now, in voice time.</summary>
        public long HeardUs { get; private set; }

        /// <summary>Whether sound was heard since the last Update.</summary>
        public bool Moves { get; private set; }

        /// <summary>The turn that is, or was last, heard; empty before the first.</summary>
        public string TurnId { get; private set; } = "";

        /// <summary>How much of the turn was heard, on its media clock.</summary>
        public long PlayedUs { get; private set; }

        /// <summary>Times that the sound ran dry in the turn.</summary>
        public int Underruns => _output.Underruns - _underrunsBefore;

        /// <summary>Sound that waits, in microseconds.</summary>
        public long WaitingUs => ToUs(Math.Max(0, _ring.Written - _heard));

        /// <summary>Samples that found no room.</summary>
        public long Dropped { get; private set; }

        /// <summary>The device's samples per second; it may change at any time.</summary>
        public void SetDeviceRate(int rate) => _output.SetDeviceRate(rate);

        /// <summary>More sound.</summary>
        /// <param name="turnId">Its turn.</param>
        /// <param name="startUs">Its start on the media clock of the turn.</param>
        /// <param name="pcm">Signed 16 bit, little-endian.</param>
        /// <param name="last">Whether the turn ends with it.</param>
        /// <returns>What to add to the times of the turn to get voice time.</returns>
        public long Add(string turnId, long startUs, ReadOnlySpan<byte> pcm, bool last)
        {
            var start = _ring.Written;
            if (_segmentCount == 0 || Newest.TurnId != turnId || Math.Abs(Newest.StartUs + ToUs(start - Newest.Start) - startUs) > 1000)
            {
                if (_segmentCount - _firstSegment == MostSegments) _firstSegment++;
                var segment = new Segment
                {
                    TurnId = turnId,
                    Start = start,
                    StartUs = startUs,
                    UnderrunsBefore = _segmentCount > 0 && Newest.TurnId == turnId ? Newest.UnderrunsBefore : _output.Underruns,
                };
                _segments[_segmentCount++ % MostSegments] = segment;
            }
            Dropped += pcm.Length / 2 - _ring.Write(pcm);
            if (last) _output.Complete();
            return ToUs(start) - startUs;
        }

        /// <summary>The avatar is silent from here on: what was not played is thrown away, within one block of the device.</summary>
        public void Cut()
        {
            _output.Cut();
            _cut = _ring.Written;
        }

        /// <summary>The turn has ended: what is there is played to its end.</summary>
        public void Complete() => _output.Complete();

        /// <summary>Fills a block. For the audio thread.</summary>
        public void Read(Span<float> data, int channels, long ticks) => _output.Read(data, channels, ticks);

        /// <summary>Finds out what is heard now.</summary>
        /// <param name="ticks">Now, on Stopwatch's clock.</param>
        /// <param name="latencySeconds">How long after it went to the device a sample is heard.</param>
        public void Update(long ticks, double latencySeconds)
        {
            var heard = _blocks.At(ticks - (long)(latencySeconds * Stopwatch.Frequency), Rate);
            Moves = heard > _heard && heard > _cut;
            if (heard <= _heard) return;
            _heard = heard;
            HeardUs = ToUs(heard);
            while (_firstSegment + 1 < _segmentCount && _segments[(_firstSegment + 1) % MostSegments].Start <= heard) _firstSegment++;
            if (_firstSegment == _segmentCount) return;
            var segment = _segments[_firstSegment % MostSegments];
            if (segment.TurnId != TurnId)
            {
                TurnId = segment.TurnId;
                _underrunsBefore = segment.UnderrunsBefore;
                PlayedUs = 0;
            }
            // A place that was jumped to by a cut is the end of what was thrown away, not something heard.
            if (heard > _cut) PlayedUs = segment.StartUs + ToUs(heard - segment.Start);
        }

        private ref Segment Newest => ref _segments[(_segmentCount - 1) % MostSegments];

        private long ToUs(double samples) => (long)(samples * 1e6 / Rate);
    }
}
