#nullable enable
using System;

namespace Taoxr.Avatar
{
    /// <summary>
    /// Blinks, which the server leaves to the client: every few seconds, irregularly (Bentivoglio et al. 1997); the lid
    /// closes about twice as fast as it opens (VanderWerf et al. 2003).
    /// </summary>
    public sealed class Blinks
    {
        private const double Closing = 0.07;
        private const double Shut = 0.03;
        private const double Opening = 0.12;

        private readonly Random _random;
        private double _now;
        private double _start;

        /// <param name="seed">Other seeds blink at other times.</param>
        public Blinks(int seed)
        {
            _random = new Random(seed);
            _start = 0.8 + 1.2 * _random.NextDouble();
        }

        /// <summary>How far the lids are shut, 0 to 1.</summary>
        /// <param name="seconds">Time since the last call.</param>
        public float Update(double seconds)
        {
            _now += seconds;
            var age = _now - _start;
            if (age < 0) return 0;
            if (age > Closing + Shut + Opening)
            {
                var pause = Math.Min(2 - 1.6 * Math.Log(1 - _random.NextDouble()), 6);
                // Sometimes twice.
                _start = _now + (_random.NextDouble() < 0.15 ? 0.1 : pause);
                return 0;
            }
            return age <= Closing ? FaceTrack.Smooth(age / Closing) : 1 - FaceTrack.Smooth((age - Closing - Shut) / Opening);
        }
    }
}
