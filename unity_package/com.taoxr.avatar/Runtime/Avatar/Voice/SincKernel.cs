#nullable enable
using System;

namespace Taoxr.Avatar
{
    /// <summary>
    /// Resamples by a windowed sinc: band-limited interpolation (Smith and Gossett, 1984), with Kaiser's window. 70 dB of
    /// stop band; passes 82 % of the lower of the two bandwidths.
    /// </summary>
    public sealed class SincKernel
    {
        private const int Zeros = 24;
        private const int Phases = 256;
        private const double Beta = 7;
        private const double Passed = 0.91;

        private readonly float[] _table;

        /// <param name="from">Samples per second that come in.</param>
        /// <param name="to">Samples per second that go out.</param>
        public SincKernel(int from, int to)
        {
            if (from <= 0 || to <= 0) throw new ArgumentOutOfRangeException(nameof(from), from + " to " + to + " Hz");
            From = from;
            To = to;
            var cutoff = Passed * Math.Min(1.0, (double)to / from);
            Half = (int)Math.Ceiling(Zeros / cutoff);
            Step = (double)from / to;
            _table = new float[(Phases + 1) * 2 * Half];
            for (var phase = 0; phase <= Phases; phase++)
                for (var tap = 0; tap < 2 * Half; tap++)
                    _table[phase * 2 * Half + tap] = (float)At(tap - Half + 1 - (double)phase / Phases, cutoff, Half);
        }

        /// <summary>Samples per second that come in.</summary>
        public int From { get; }

        /// <summary>Samples per second that go out.</summary>
        public int To { get; }

        /// <summary>Samples that are needed on either side of a place.</summary>
        public int Half { get; }

        /// <summary>Samples that come in per sample that goes out.</summary>
        public double Step { get; }

        /// <summary>The sound at a place.</summary>
        /// <param name="window">2 * Half samples; the place is at or after number Half - 1 and before number Half.</param>
        /// <param name="fraction">How far after it, from 0 to 1.</param>
        public float Interpolate(Span<float> window, double fraction)
        {
            var place = fraction * Phases;
            var phase = Math.Min((int)place, Phases - 1);
            var mix = (float)(place - phase);
            var taps = 2 * Half;
            var lower = new Span<float>(_table, phase * taps, taps);
            var upper = new Span<float>(_table, (phase + 1) * taps, taps);
            window = window.Slice(0, taps);
            float a = 0, b = 0;
            for (var i = 0; i < window.Length; i++)
            {
                a += window[i] * lower[i];
                b += window[i] * upper[i];
            }
            return a + (b - a) * mix;
        }

        private static double At(double t, double cutoff, int half)
        {
            var x = t / half;
            if (Math.Abs(x) >= 1) return 0;
            var angle = Math.PI * cutoff * t;
            var sinc = Math.Abs(angle) < 1e-9 ? 1 : Math.Sin(angle) / angle;
            return cutoff * sinc * Bessel(Beta * Math.Sqrt(1 - x * x)) / Bessel(Beta);
        }

        // The modified Bessel function of order 0, by its series.
        private static double Bessel(double x)
        {
            double sum = 1, term = 1;
            for (var k = 1; term > 1e-12 * sum; k++)
            {
                term *= x * x / (4.0 * k * k);
                sum += term;
            }
            return sum;
        }
    }
}
