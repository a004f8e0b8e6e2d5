#nullable enable
using System;
using System.Net;

namespace Taoxr.Transport
{
    /// <summary>Where a server is, and how it is spoken to.</summary>
    public sealed class ServerAddress
    {
        /// <param name="host">Name or address.</param>
        /// <param name="port">Port.</param>
        /// <param name="tls">Whether the connection is encrypted.</param>
        /// <param name="allowInsecure">Whether it need not be, off this machine.</param>
        /// <param name="rootCertificates">PEM text of the authorities that are trusted; null: those the platform knows.</param>
        public ServerAddress(string host, int port, bool tls = false, bool allowInsecure = false, string? rootCertificates = null)
        {
            Host = host;
            Port = port;
            Tls = tls;
            AllowInsecure = allowInsecure;
            RootCertificates = rootCertificates;
        }

        /// <summary>Name or address.</summary>
        public string Host { get; }

        /// <summary>Port.</summary>
        public int Port { get; }

        /// <summary>Whether the connection is encrypted.</summary>
        public bool Tls { get; }

        /// <summary>Whether it need not be, off this machine.</summary>
        public bool AllowInsecure { get; }

        /// <summary>PEM text of the authorities that are trusted; null: those the platform knows.</summary>
        public string? RootCertificates { get; }

        /// <summary>Host and port, as requests name them.</summary>
        public string Authority => (Host.IndexOf(':') < 0 ? Host : "[" + Host + "]") + ":" + Port;

        /// <summary>Whether it is this machine: "localhost" or an address of the loopback.</summary>
        public bool IsLoopback =>
            string.Equals(Host, "localhost", StringComparison.OrdinalIgnoreCase) || IPAddress.TryParse(Host, out var address) && IPAddress.IsLoopback(address);
    }
}
