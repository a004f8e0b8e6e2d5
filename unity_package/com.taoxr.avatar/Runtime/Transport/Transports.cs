#nullable enable
using System;
using System.Net;
using System.Threading;
using System.Threading.Tasks;

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

    /// <summary>Chooses the transport for a server.</summary>
    public static class Transports
    {
        /// <summary>Connects: with TLS when it is asked for; without only to this machine, or where that was allowed.</summary>
        /// <exception cref="TransportException">Nobody is there; or TLS is missing here or there (InadequateSecurity).</exception>
        public static async Task<IHttp2Transport> ConnectAsync(ServerAddress address, TimeSpan timeout, CancellationToken cancel = default)
        {
            if (address.Tls)
                throw new TransportException("this build has no TLS", Http2Error.InadequateSecurity);
            if (!address.IsLoopback && !address.AllowInsecure)
                throw new TransportException(
                    address.Authority + " is another machine, so TLS is needed: use https://, or allow an insecure connection on a network that you trust",
                    Http2Error.InadequateSecurity);
            return await Http2Connection.ConnectAsync(address.Host, address.Port, timeout, cancel).ConfigureAwait(false);
        }
    }
}
