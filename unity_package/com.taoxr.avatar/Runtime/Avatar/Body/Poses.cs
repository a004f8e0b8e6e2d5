#nullable enable
using System;

namespace Taoxr.Avatar
{
    /// <summary>Poses in time, sampled at any. A pose is the numbers of BodyFrame: a quaternion x, y, z, w per bone, then the hips' x, y, z.</summary>
    internal sealed class Poses
    {
        private const int Most = 512;

        private readonly long[] _times = new long[Most];
        private readonly float[] _poses;
        private readonly int _bones;
        private int _first;

        public Poses(int bones)
        {
            _bones = bones;
            Size = 4 * bones + 3;
            _poses = new float[Most * Size];
        }

        /// <summary>Numbers per pose.</summary>
        public int Size { get; }

        public int Count { get; private set; }

        public long FirstUs => Time(0);

        public long LastUs => Time(Count - 1);

        public void Clear() => Count = 0;

        /// <summary>Poses from here on are replaced by others.</summary>
        public void CutFrom(long timeUs)
        {
            while (Count > 0 && LastUs >= timeUs) Count--;
        }

        /// <summary>Puts a pose at the end; when there are too many, the oldest goes.</summary>
        public void Add(long timeUs, Span<float> rotations, Span<float> hips)
        {
            CutFrom(timeUs);
            if (Count == Most)
            {
                _first = (_first + 1) % Most;
                Count--;
            }
            var slot = (_first + Count++) % Most;
            _times[slot] = timeUs;
            rotations.CopyTo(new Span<float>(_poses, slot * Size, 4 * _bones));
            hips.CopyTo(new Span<float>(_poses, slot * Size + 4 * _bones, 3));
        }

        /// <summary>The pose at a time; the first or the last one outside of what is there.</summary>
        public void At(long timeUs, Span<float> into)
        {
            int low = 0, high = Count;
            while (low < high)
            {
                var middle = (low + high) / 2;
                if (Time(middle) <= timeUs) low = middle + 1;
                else high = middle;
            }
            if (low == 0 || low == Count)
            {
                Pose(low == 0 ? 0 : Count - 1).CopyTo(into);
                return;
            }
            var mix = (float)((double)(timeUs - Time(low - 1)) / (Time(low) - Time(low - 1)));
            Blend(Pose(low - 1), Pose(low), mix, into);
        }

        /// <summary>Between two poses: every bone on the shortest way. The result may be one of them.</summary>
        public static void Blend(Span<float> from, Span<float> to, float mix, Span<float> into)
        {
            var bones = (into.Length - 3) / 4;
            for (var bone = 0; bone < bones; bone++) Slerp(from.Slice(4 * bone, 4), to.Slice(4 * bone, 4), mix, into.Slice(4 * bone, 4));
            for (var i = 4 * bones; i < into.Length; i++) into[i] = from[i] + (to[i] - from[i]) * mix;
        }

        private static void Slerp(Span<float> a, Span<float> b, float mix, Span<float> into)
        {
            var dot = (double)a[0] * b[0] + (double)a[1] * b[1] + (double)a[2] * b[2] + (double)a[3] * b[3];
            var sign = dot < 0 ? -1 : 1;
            var angle = Math.Acos(Math.Min(dot * sign, 1));
            double first = 1 - mix, second = mix;
            if (angle > 1e-3)
            {
                first = Math.Sin((1 - mix) * angle) / Math.Sin(angle);
                second = Math.Sin(mix * angle) / Math.Sin(angle);
            }
            double x = a[0] * first + b[0] * sign * second, y = a[1] * first + b[1] * sign * second;
            double z = a[2] * first + b[2] * sign * second, w = a[3] * first + b[3] * sign * second;
            var scale = 1 / Math.Sqrt(x * x + y * y + z * z + w * w);
            into[0] = (float)(x * scale);
            into[1] = (float)(y * scale);
            into[2] = (float)(z * scale);
            into[3] = (float)(w * scale);
        }

        private long Time(int index) => _times[(_first + index) % Most];

        private Span<float> Pose(int index) => new Span<float>(_poses, (_first + index) % Most * Size, Size);
    }
}
