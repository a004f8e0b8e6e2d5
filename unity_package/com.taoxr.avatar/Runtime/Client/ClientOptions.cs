#nullable enable
using System;
using System.Globalization;

namespace Taoxr.Client
{
    /// <summary>Where the server is, and how patiently it is asked. Read once, by the client that is made with it.</summary>
    public sealed class ClientOptions
    {
        /// <summary>The port of "taoxr serve" where no other is named.</summary>
        public const int DefaultPort = 50061;

        /// <summary>Name or address.</summary>
        public string Host { get; set; } = "127.0.0.1";

        /// <summary>Port.</summary>
        public int Port { get; set; } = DefaultPort;

        /// <summary>Whether the connection is encrypted.</summary>
        public bool Tls { get; set; }

        /// <summary>
        /// Allows a server on another machine without TLS, as "taoxr serve --insecure" is: anybody on the way can then
        /// listen and speak. For a network that is trusted.
        /// </summary>
        public bool AllowInsecure { get; set; }

        /// <summary>PEM text of the authority that signed the server's certificate; null: those the platform knows.</summary>
        public string? RootCertificates { get; set; }

        /// <summary>Secret that the server wants; null where it wants none.</summary>
        public string? Token { get; set; }

        /// <summary>How long one attempt to connect may take.</summary>
        public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(5);

        /// <summary>How long a call with one answer may take, connecting included.</summary>
        public TimeSpan CallTimeout { get; set; } = TimeSpan.FromSeconds(10);

        /// <summary>How long a conversation may take to start once the server is reached; models may have to be loaded.</summary>
        public TimeSpan StartTimeout { get; set; } = TimeSpan.FromSeconds(60);

        /// <summary>About how long the first wait before another attempt is. Each is twice as long as the one before it.</summary>
        public TimeSpan FirstRetry { get; set; } = TimeSpan.FromSeconds(0.2);

        /// <summary>The longest wait between two attempts.</summary>
        public TimeSpan LongestRetry { get; set; } = TimeSpan.FromSeconds(5);

        /// <summary>Whether a conversation in which nobody speaks is kept when the server asks; else it ends.</summary>
        public bool KeepIdleConversations { get; set; } = true;

        /// <summary>Options for a server named as people write it: "host", "host:port", "[::1]:50061", "https://host:port".</summary>
        /// <exception cref="FormatException">It is none of these.</exception>
        public static ClientOptions For(string target)
        {
            var options = new ClientOptions();
            var rest = target.Trim().TrimEnd('/');
            var scheme = rest.IndexOf("://", StringComparison.Ordinal);
            if (scheme >= 0)
            {
                var name = rest.Substring(0, scheme).ToLowerInvariant();
                if (name != "http" && name != "https") throw new FormatException("\"" + target + "\": it begins with http:// or https://, or with the host");
                options.Tls = name == "https";
                rest = rest.Substring(scheme + 3);
            }
            var colon = rest.LastIndexOf(':');
            if (colon >= 0 && (rest.IndexOf(':') == colon || rest[colon - 1] == ']'))
            {
                if (!int.TryParse(rest.Substring(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out var port) || port < 1 || port > 65535)
                    throw new FormatException("\"" + target + "\": a port is a number from 1 to 65535");
                options.Port = port;
                rest = rest.Substring(0, colon);
            }
            if (rest.StartsWith("[", StringComparison.Ordinal) && rest.EndsWith("]", StringComparison.Ordinal)) rest = rest.Substring(1, rest.Length - 2);
            if (rest.Length == 0 || rest.IndexOfAny(new[] { '/', ' ', '@', '[', ']' }) >= 0)
                throw new FormatException("\"" + target + "\" names no host; write host or host:port");
            options.Host = rest;
            return options;
        }
    }
}
