#nullable enable
using System;
using System.Text;

namespace Taoxr.Protocol
{
    /// <summary>UTF-8 that refuses what is not.</summary>
    internal static class Utf8
    {
        private static readonly UTF8Encoding Strict = new UTF8Encoding(false, true);

        public static string Decode(ReadOnlySpan<byte> bytes)
        {
            if (bytes.IsEmpty) return "";
            try
            {
                return Strict.GetString(bytes);
            }
            catch (DecoderFallbackException)
            {
                throw new ProtocolException("a string is not valid UTF-8");
            }
        }

        public static int ByteCount(string text)
        {
            try
            {
                return Strict.GetByteCount(text);
            }
            catch (EncoderFallbackException)
            {
                throw new ProtocolException("a string holds half a surrogate pair, which UTF-8 cannot say");
            }
        }

        public static int Encode(string text, Span<byte> bytes) => Strict.GetBytes(text.AsSpan(), bytes);
    }
}
