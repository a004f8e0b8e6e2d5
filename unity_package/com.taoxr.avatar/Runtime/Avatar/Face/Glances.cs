#nullable enable
using System;

namespace Taoxr.Avatar
{
    /// <summary>
    /// Where eyes wander that look at somebody: small jumps between the other's eyes and mouth, now and then a glance
    /// away. A jump of a degrees takes 21 ms + 2.2 ms * a (Carpenter 1988).
    /// </summary>
    public sealed class Glances
    {
        private readonly Random _random;
        private double _now;
        private double _start;
        private double _end;
        private bool _away;
        private float _fromYaw, _fromPitch, _toYaw, _toPitch;

        /// <param name="seed">Other seeds look elsewhere.</param>
        public Glances(int seed)
        {
            _random = new Random(seed);
            _end = 0.6 + _random.NextDouble();
        }

        /// <summary>Degrees to the avatar's left, beside the target.</summary>
        public float Yaw { get; private set; }

        /// <summary>Degrees up, beside the target.</summary>
        public float Pitch { get; private set; }

        /// <summary>Goes on.</summary>
        /// <param name="seconds">Time since the last call.</param>
        public void Update(double seconds)
        {
            _now += seconds;
            if (_now >= _end) Jump();
            var size = Math.Sqrt((_toYaw - _fromYaw) * (_toYaw - _fromYaw) + (_toPitch - _fromPitch) * (_toPitch - _fromPitch));
            var mix = FaceTrack.Smooth((_now - _start) / (0.021 + 0.0022 * size));
            Yaw = _fromYaw + (_toYaw - _fromYaw) * mix;
            Pitch = _fromPitch + (_toPitch - _fromPitch) * mix;
        }

        private void Jump()
        {
            _fromYaw = Yaw;
            _fromPitch = Pitch;
            _start = _now;
            _away = !_away && _random.NextDouble() < 0.12;
            if (_away)
            {
                _toYaw = (float)((_random.NextDouble() < 0.5 ? -1 : 1) * (7 + 9 * _random.NextDouble()));
                _toPitch = (float)(-7 + 8 * _random.NextDouble());
                _end = _now + 0.5 + 0.8 * _random.NextDouble();
                return;
            }
            _toYaw = (float)(2.4 * _random.NextDouble() - 1.2);
            _toPitch = (float)(1.6 * _random.NextDouble() - 0.8);
            _end = _now + 0.35 + 1.15 * _random.NextDouble();
        }
    }
}
