#nullable enable
using System;

namespace Taoxr.Avatar
{
    /// <summary>The microphone's sound on its way to the server: at the rate that the conversation was begun with, and how loud it is.</summary>
    public sealed class SoundIn
    {
        /// <summary>What a level is when nothing is heard, in decibels of full scale.</summary>
        public const float Silence = -80;

        private const float FallPerSecond = 40;

        private readonly SincKernel? _kernel;
        private float[] _window;
        private float[] _out;
        private int _kept;
        private int _at;
        private double _fraction;

        /// <param name="from">Samples per second of the microphone.</param>
        /// <param name="to">Samples per second of the conversation.</param>
        /// <param name="block">Samples that usually come at once.</param>
        public SoundIn(int from, int to, int block)
        {
            From = from;
            if (from != to) _kernel = new SincKernel(from, to);
            _kept = _kernel == null ? 0 : _kernel.Half - 1;
            _window = new float[_kept + block + 2 * (_kernel?.Half ?? 0)];
            _out = new float[(int)((long)block * to / from) + 2];
        }

        /// <summary>Samples per second of the microphone.</summary>
        public int From { get; }

        /// <summary>How loud it is: decibels of full scale; rises at once and falls slowly, as meters do.</summary>
        public float LevelDb { get; private set; } = Silence;

        /// <summary>Measures and converts a block.</summary>
        /// <param name="samples">From -1 to 1.</param>
        /// <param name="result">The converted samples, until the next call.</param>
        /// <returns>How many.</returns>
        public int Convert(Span<float> samples, out float[] result)
        {
            Measure(samples);
            if (_kernel == null)
            {
                if (_out.Length < samples.Length) _out = new float[samples.Length];
                samples.CopyTo(_out);
                result = _out;
                return samples.Length;
            }
            if (_window.Length < _kept + samples.Length) Array.Resize(ref _window, _kept + samples.Length);
            samples.CopyTo(new Span<float>(_window, _kept, samples.Length));
            _kept += samples.Length;
            var taps = 2 * _kernel.Half;
            var most = (int)((_kept - _at) / _kernel.Step) + 2;
            if (_out.Length < most) _out = new float[most];
            var count = 0;
            while (_at + taps <= _kept)
            {
                _out[count++] = _kernel.Interpolate(new Span<float>(_window, _at, taps), _fraction);
                _fraction += _kernel.Step;
                var passed = (int)_fraction;
                _at += passed;
                _fraction -= passed;
            }
            var used = Math.Min(_at, _kept);
            Array.Copy(_window, used, _window, 0, _kept - used);
            _kept -= used;
            _at -= used;
            result = _out;
            return count;
        }

        private void Measure(Span<float> samples)
        {
            if (samples.Length == 0) return;
            double power = 0;
            foreach (var sample in samples) power += (double)sample * sample;
            var level = (float)Math.Max(Silence, 10 * Math.Log10(power / samples.Length + 1e-12));
            LevelDb = Math.Max(level, LevelDb - FallPerSecond * samples.Length / From);
        }
    }
}
