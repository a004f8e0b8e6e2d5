#nullable enable
using System;

namespace Taoxr.Client
{
    /// <summary>
    /// Growing waits between attempts, each of a random length from half of it to all, so that the clients of a server that
    /// comes back do not all ask at once.
    /// </summary>
    internal sealed class Backoff
    {
        private readonly TimeSpan _first;
        private readonly TimeSpan _longest;
        private readonly Random _random;
        private TimeSpan _next;

        public Backoff(TimeSpan first, TimeSpan longest, Random random)
        {
            _first = first;
            _longest = longest;
            _random = random;
            _next = first;
        }

        /// <summary>The next wait.</summary>
        public TimeSpan Next()
        {
            var wait = TimeSpan.FromTicks((long)(_next.Ticks * (0.5 + 0.5 * _random.NextDouble())));
            _next = TimeSpan.FromTicks(Math.Min(2 * _next.Ticks, _longest.Ticks));
            return wait;
        }

        /// <summary>An attempt succeeded.</summary>
        public void Reset() => _next = _first;
    }
}
