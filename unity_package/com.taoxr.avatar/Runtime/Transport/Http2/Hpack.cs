#nullable enable
using System;
using System.Collections.Generic;
using System.Text;
using Taoxr.Protocol;

namespace Taoxr.Transport
{
    /// <summary>
    /// HPACK (RFC 7541) without a dynamic table: the client announces that its table has size 0, so nothing
    /// refers to earlier headers, and what arrives can only be as large as MaxHeaderBytes.
    /// </summary>
    internal static class Hpack
    {
        /// <summary>Most that the headers of one block may count, as HTTP/2 counts them (32 for each beside its text).</summary>
        public const int MaxHeaderBytes = 65536;

        private static readonly string[] StaticNames =
        {
            ":authority", ":method", ":method", ":path", ":path", ":scheme", ":scheme", ":status", ":status", ":status",
            ":status", ":status", ":status", ":status", "accept-charset", "accept-encoding", "accept-language",
            "accept-ranges", "accept", "access-control-allow-origin", "age", "allow", "authorization", "cache-control",
            "content-disposition", "content-encoding", "content-language", "content-length", "content-location",
            "content-range", "content-type", "cookie", "date", "etag", "expect", "expires", "from", "host", "if-match",
            "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified", "link", "location",
            "max-forwards", "proxy-authenticate", "proxy-authorization", "range", "referer", "refresh", "retry-after",
            "server", "set-cookie", "strict-transport-security", "transfer-encoding", "user-agent", "vary", "via",
            "www-authenticate",
        };

        // Of the first ones; the others have none.
        private static readonly string[] StaticValues =
        {
            "", "GET", "POST", "/", "/index.html", "http", "https", "200", "204", "206", "304", "400", "404", "500", "",
            "gzip, deflate",
        };

        private static readonly Encoding Latin1 = Encoding.GetEncoding(28591);

        public static TransportException Wrong(string what) =>
            new TransportException("the server's headers are damaged: " + what, Http2Error.CompressionError);

        /// <summary>Puts headers behind the bytes of a buffer, as literals that no table keeps.</summary>
        public static void Encode(IReadOnlyList<Header> headers, ByteBuffer into)
        {
            foreach (var header in headers)
            {
                into.Extend(1)[0] = 0;
                EncodeString(header.Name, into);
                EncodeString(header.Value, into);
            }
        }

        private static void EncodeString(string text, ByteBuffer into)
        {
            var length = text.Length;
            if (length < 127) into.Extend(1)[0] = (byte)length;
            else
            {
                into.Extend(1)[0] = 127;
                for (length -= 127; length >= 128; length >>= 7) into.Extend(1)[0] = (byte)(length | 128);
                into.Extend(1)[0] = (byte)length;
            }
            Latin1.GetBytes(text.AsSpan(), into.Extend(text.Length));
        }

        /// <summary>The headers of a block.</summary>
        /// <exception cref="TransportException">It is damaged, too large, or uses a table that we do not have.</exception>
        public static List<Header> Decode(byte[] block, int start, int end)
        {
            var headers = new List<Header>();
            var position = start;
            var size = 0;
            while (position < end)
            {
                var first = block[position];
                string name;
                string value;
                if ((first & 0x80) != 0)
                {
                    var index = DecodeInteger(block, ref position, end, 7);
                    name = StaticName(index);
                    value = index <= StaticValues.Length ? StaticValues[index - 1] : "";
                }
                else if ((first & 0xE0) == 0x20)
                {
                    if (DecodeInteger(block, ref position, end, 5) != 0) throw Wrong("a table was made that must not be");
                    continue;
                }
                else
                {
                    var index = DecodeInteger(block, ref position, end, (first & 0x40) != 0 ? 6 : 4);
                    name = index == 0 ? DecodeString(block, ref position, end) : StaticName(index);
                    value = DecodeString(block, ref position, end);
                }
                size += name.Length + value.Length + 32;
                if (size > MaxHeaderBytes)
                    throw new TransportException("the server's headers are too large", Http2Error.EnhanceYourCalm);
                headers.Add(new Header(name, value));
            }
            return headers;
        }

        private static string StaticName(int index)
        {
            if (index < 1 || index > StaticNames.Length) throw Wrong("entry " + index + " is in no table");
            return StaticNames[index - 1];
        }

        private static int DecodeInteger(byte[] block, ref int position, int end, int bits)
        {
            if (position >= end) throw Wrong("they end inside a number");
            var limit = (1 << bits) - 1;
            var value = block[position++] & limit;
            if (value < limit) return value;
            for (var shift = 0; shift <= 21; shift += 7)
            {
                if (position >= end) throw Wrong("they end inside a number");
                var b = block[position++];
                value += (b & 127) << shift;
                if (b < 128) return value;
            }
            throw Wrong("a number is too large");
        }

        private static string DecodeString(byte[] block, ref int position, int end)
        {
            var huffman = position < end && (block[position] & 0x80) != 0;
            var length = DecodeInteger(block, ref position, end, 7);
            if (length > end - position) throw Wrong("a string goes beyond the end");
            var start = position;
            position += length;
            if (!huffman) return Latin1.GetString(block, start, length);
            var decoded = new byte[length * 8 / 5 + 1];
            return Latin1.GetString(decoded, 0, Huffman.Decode(block, start, position, decoded));
        }
    }
}
