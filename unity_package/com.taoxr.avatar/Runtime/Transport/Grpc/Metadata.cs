#nullable enable
using System;
using System.Collections.Generic;
using System.Text;

namespace Taoxr.Transport
{
    /// <summary>Headers or trailers of a call. Names are in lower case; those of bytes end in "-bin".</summary>
    public sealed class Metadata
    {
        private readonly List<Header> _entries = new List<Header>();

        /// <summary>The entries as they are sent.</summary>
        public IReadOnlyList<Header> Entries => _entries;

        /// <summary>Adds a text.</summary>
        /// <exception cref="ArgumentException">The name or the value cannot be sent.</exception>
        public void Add(string name, string value)
        {
            CheckName(name);
            if (name.EndsWith("-bin", StringComparison.Ordinal)) throw new ArgumentException(name + ": \"-bin\" is for bytes", nameof(name));
            foreach (var c in value)
                if (c < ' ' || c > '~') throw new ArgumentException(name + ": a value is printable ASCII", nameof(value));
            _entries.Add(new Header(name, value));
        }

        /// <summary>Adds bytes; the name ends in "-bin".</summary>
        /// <exception cref="ArgumentException">The name cannot be sent.</exception>
        public void Add(string name, byte[] value)
        {
            CheckName(name);
            if (!name.EndsWith("-bin", StringComparison.Ordinal)) throw new ArgumentException(name + ": bytes need \"-bin\"", nameof(name));
            _entries.Add(new Header(name, Convert.ToBase64String(value).TrimEnd('=')));
        }

        /// <summary>The first text of a name, or null.</summary>
        public string? Get(string name)
        {
            foreach (var entry in _entries)
                if (entry.Name == name) return entry.Value;
            return null;
        }

        /// <summary>The first bytes of a name that ends in "-bin"; null where there are none, or no base 64.</summary>
        public byte[]? GetBytes(string name)
        {
            var text = Get(name);
            if (text == null) return null;
            try
            {
                return Convert.FromBase64String(text.TrimEnd('=') + new string('=', (4 - text.TrimEnd('=').Length % 4) % 4));
            }
            catch (FormatException)
            {
                return null;
            }
        }

        internal static Metadata Of(IReadOnlyList<Header> headers)
        {
            var made = new Metadata();
            foreach (var header in headers)
                if (!header.Name.StartsWith(":", StringComparison.Ordinal)) made._entries.Add(header);
            return made;
        }

        /// <summary>What percent-encoded UTF-8 says; what is damaged stays as it is.</summary>
        internal static string PercentDecode(string text)
        {
            if (text.IndexOf('%') < 0) return text;
            var bytes = new byte[text.Length];
            var count = 0;
            for (var i = 0; i < text.Length; i++)
            {
                if (text[i] == '%' && i + 2 < text.Length && Uri.IsHexDigit(text[i + 1]) && Uri.IsHexDigit(text[i + 2]))
                {
                    bytes[count++] = (byte)(Uri.FromHex(text[i + 1]) << 4 | Uri.FromHex(text[i + 2]));
                    i += 2;
                }
                else bytes[count++] = text[i] < 128 ? (byte)text[i] : (byte)'?';
            }
            return Encoding.UTF8.GetString(bytes, 0, count);
        }

        private static void CheckName(string name)
        {
            if (name.Length == 0 || name.StartsWith("grpc-", StringComparison.Ordinal)) throw new ArgumentException("\"" + name + "\" is no name for metadata", nameof(name));
            foreach (var c in name)
                if (!(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'))
                    throw new ArgumentException("\"" + name + "\": names are lower-case letters, digits, \"-\", \"_\" and \".\"", nameof(name));
        }
    }
}
