#nullable enable
using System;

namespace Taoxr.Avatar
{
    /// <summary>
    /// The frames of the face, in voice time, sampled at any. When nothing is heard (no turn, the sound ran dry, it was cut) the
    /// face eases to rest; when sound comes (again), it eases into its frames. So it never jumps, whatever arrives.
    /// </summary>
    public sealed class FaceTrack
    {
        /// <summary>Time that the face takes to come to rest, in seconds.</summary>
        public const double RestSeconds = 0.15;

        /// <summary>Time in which frames take over from rest, in seconds; short, so that a first "p" still closes the lips.</summary>
        public const double OnsetSeconds = 0.05;

        // The sound stands still between two blocks of the device, too.
        private const double StillSeconds = 0.12;
        private const int MostFrames = 1024;

        private readonly long[] _times = new long[MostFrames];
        private readonly float[] _frames;
        private readonly float[] _from;
        private readonly float[] _shown;
        private int _first;
        private int _count;
        private bool _speaks;
        private double _now;
        private double _changed = double.NegativeInfinity;
        private double _moved = double.NegativeInfinity;

        /// <param name="size">Numbers per frame.</param>
        public FaceTrack(int size)
        {
            Size = size;
            _frames = new float[MostFrames * size];
            _from = new float[size];
            _shown = new float[size];
        }

        /// <summary>Numbers per frame.</summary>
        public int Size { get; }

        /// <summary>Frames that it holds.</summary>
        public int Count => _count;

        /// <summary>What was shown last: one weight per name, 0 to 1.</summary>
        public Span<float> Shown => _shown;

        /// <summary>Puts a frame at the end; when there are too many, the oldest goes.</summary>
        /// <returns>Whether it was taken: it has the right size, and comes after those that are there.</returns>
        public bool Add(long timeUs, Span<float> weights)
        {
            if (weights.Length != Size || _count > 0 && timeUs <= Time(_count - 1)) return false;
            if (_count == MostFrames) Drop(1);
            var slot = (_first + _count++) % MostFrames;
            _times[slot] = timeUs;
            weights.CopyTo(new Span<float>(_frames, slot * Size, Size));
            return true;
        }

        /// <summary>Throws all frames away.</summary>
        public void Clear() => _count = 0;

        /// <summary>Works out the face.</summary>
        /// <param name="heardUs">What is heard, in voice time.</param>
        /// <param name="moves">Whether the sound has gone on since the last time.</param>
        /// <param name="seconds">Time since the last time.</param>
        public void Update(long heardUs, bool moves, double seconds)
        {
            _now += seconds;
            if (moves) _moved = _now;
            while (_count > 1 && Time(1) <= heardUs) Drop(1);
            var speaks = _now - _moved < StillSeconds && _count > 0 && heardUs < Time(_count - 1) + 100_000 && heardUs > Time(0) - 100_000;
            if (speaks != _speaks)
            {
                _speaks = speaks;
                _changed = _now;
                _shown.CopyTo(_from, 0);
            }
            var done = Smooth((_now - _changed) / (speaks ? OnsetSeconds : RestSeconds));
            var before = speaks ? Frame(0) : default;
            var after = speaks ? Frame(Math.Min(1, _count - 1)) : default;
            var mix = speaks ? Mix(heardUs) : 0;
            for (var i = 0; i < Size; i++)
            {
                var target = speaks ? before[i] + (after[i] - before[i]) * mix : 0;
                _shown[i] = _from[i] + (target - _from[i]) * done;
            }
        }

        internal static float Smooth(double x)
        {
            var y = (float)Math.Min(Math.Max(x, 0), 1);
            return y * y * (3 - 2 * y);
        }

        private float Mix(long heardUs)
        {
            if (_count < 2 || heardUs <= Time(0)) return 0;
            return Math.Min((float)(heardUs - Time(0)) / (Time(1) - Time(0)), 1);
        }

        private long Time(int index) => _times[(_first + index) % MostFrames];

        private Span<float> Frame(int index) => new Span<float>(_frames, (_first + index) % MostFrames * Size, Size);

        private void Drop(int count)
        {
            _first = (_first + count) % MostFrames;
            _count -= count;
        }
    }
}
