#nullable enable
using System;

namespace Taoxr.Protocol
{
    /// <summary>
    /// Keeps short strings that a stream repeats (the name of the turn, phonemes), so that reading them again allocates
    /// nothing. A fixed number of places; a string that falls on a taken one replaces it. For one thread.
    /// </summary>
    public sealed class StringCache
    {
        private const int Places = 256;
        private const int LongestBytes = 64;
        private readonly byte[]?[] _bytes = new byte[Places][];
        private readonly string[] _strings = new string[Places];

        /// <summary>The string of UTF-8 bytes.</summary>
        /// <exception cref="ProtocolException">They are no UTF-8.</exception>
        public string Get(ReadOnlySpan<byte> utf8)
        {
            if (utf8.Length > LongestBytes) return Utf8.Decode(utf8);
            var hash = 2166136261u; // FNV-1a
            foreach (var b in utf8) hash = (hash ^ b) * 16777619u;
            var place = hash % Places;
            var kept = _bytes[place];
            if (kept != null && utf8.SequenceEqual(kept)) return _strings[place];
            var text = Utf8.Decode(utf8);
            _bytes[place] = utf8.ToArray();
            _strings[place] = text;
            return text;
        }
    }
}
