#nullable enable
using System;
using System.Diagnostics;
using System.Threading;

namespace Taoxr.Avatar
{
    /// <summary>
    /// What the audio thread plays: the ring's sound at the device's rate. Begins when a little has come, so that it does not
    /// stumble at once; goes silent when the sound runs dry; fades out in 5 ms when it is cut.
    /// </summary>
    internal sealed class VoiceOutput
    {
        private const double FadeSeconds = 0.005;

        private readonly SampleRing _ring;
        private readonly int _rate;
        private readonly int _startSamples;
        private readonly PlayedBlocks _blocks;
        private SincKernel? _kernel;
        private float[] _window = new float[8192];
        private long _complete;
        private long _cut;
        private int _underruns;
        private long _position;
        private long _from;
        private double _fraction;
        private bool _playing;
        private long _due;

        public VoiceOutput(SampleRing ring, int rate, double startSeconds, PlayedBlocks blocks)
        {
            _ring = ring;
            _rate = rate;
            _startSamples = (int)(rate * startSeconds);
            _blocks = blocks;
        }

        /// <summary>Times that the sound ran dry in the middle of a turn.</summary>
        public int Underruns => Volatile.Read(ref _underruns);

        /// <summary>The device's rate changed, or is known now.</summary>
        public void SetDeviceRate(int rate)
        {
            if (_kernel?.To != rate) Volatile.Write(ref _kernel, new SincKernel(_rate, rate));
        }

        /// <summary>Nothing follows what was written so far: it is played to its end.</summary>
        public void Complete() => Volatile.Write(ref _complete, _ring.Written);

        /// <summary>What was written so far is not to be played any more.</summary>
        public void Cut()
        {
            Volatile.Write(ref _complete, _ring.Written);
            Volatile.Write(ref _cut, _ring.Written);
        }

        /// <summary>Fills a block. For the audio thread.</summary>
        /// <param name="data">Samples of all channels, frame by frame; overwritten.</param>
        /// <param name="channels">How many.</param>
        /// <param name="ticks">Now, on Stopwatch's clock.</param>
        public void Read(Span<float> data, int channels, long ticks)
        {
            var kernel = Volatile.Read(ref _kernel);
            var frames = data.Length / channels;
            var start = _position + _fraction;
            var played = 0;
            if (kernel != null)
            {
                var cut = Volatile.Read(ref _cut);
                if (cut > _position)
                {
                    if (_playing) played = Play(kernel, data.Slice(0, Math.Min(frames, (int)(FadeSeconds * kernel.To)) * channels), channels, true);
                    start = _position = _from = cut;
                    _fraction = 0;
                    _playing = false;
                }
                else
                {
                    played = Play(kernel, data, channels, false);
                }
                _ring.Release(_position - kernel.Half);
            }
            data.Slice(played * channels).Clear();
            // The mixer asks for several blocks at once now and then; they are heard one after the other. What the device's clock
            // runs faster than ours is forgotten little by little.
            var at = Math.Max(ticks, _due - (_due - ticks) / 100);
            _due = at + (long)frames * Stopwatch.Frequency / (kernel?.To ?? _rate);
            _blocks.Add(at, start, _position + _fraction - start);
        }

        // Frames played.
        private int Play(SincKernel kernel, Span<float> data, int channels, bool fade)
        {
            var frames = data.Length / channels;
            var complete = Volatile.Read(ref _complete);
            var written = _ring.Written;
            var whole = complete >= written;
            if (!_playing) _playing = whole ? written > _position : written - _position >= _startSamples + kernel.Half;
            if (!_playing) return 0;
            var limit = whole ? written : written - kernel.Half;
            var window = Window(kernel, frames, written);
            var origin = _position;
            var played = 0;
            while (played < frames && _position < limit)
            {
                var value = kernel.Interpolate(window.Slice((int)(_position - origin)), _fraction);
                if (fade) value *= 1f - (played + 1f) / frames;
                for (var channel = 0; channel < channels; channel++) data[played * channels + channel] = value;
                played++;
                _fraction += kernel.Step;
                var passed = (int)_fraction;
                _position += passed;
                _fraction -= passed;
            }
            if (_position < limit) return played;
            _playing = false;
            if (whole)
            {
                _position = written;
                _fraction = 0;
            }
            else
            {
                Interlocked.Increment(ref _underruns);
            }
            return played;
        }

        // What the kernel needs for so many frames; silence where there is no sound (yet), or none any more.
        private Span<float> Window(SincKernel kernel, int frames, long written)
        {
            var first = _position - kernel.Half + 1;
            var count = (int)Math.Ceiling(frames * kernel.Step) + 2 * kernel.Half + 1;
            if (_window.Length < count) _window = new float[count];
            var window = new Span<float>(_window, 0, count);
            var silent = (int)Math.Max(0, _from - first);
            var there = (int)Math.Max(silent, Math.Min(count, written - first));
            window.Slice(0, silent).Clear();
            _ring.Copy(first + silent, window.Slice(silent, there - silent));
            window.Slice(there).Clear();
            return window;
        }
    }
}
