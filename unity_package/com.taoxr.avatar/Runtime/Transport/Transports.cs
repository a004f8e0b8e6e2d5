#nullable enable
using System;
using System.Net.Http;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Taoxr.Transport
{
    /// <summary>
    /// Chooses the transport for a server. Without TLS, which is for this machine and networks that are trusted, it is our own
    /// connection. With TLS it is the package YetAnotherHttpHandler where the project has it (Unity's Mono and IL2CPP have no
    /// HTTP/2 with TLS of their own), else the HTTP/2 of the runtime, which .NET has.
    /// </summary>
    public static class Transports
    {
        // Mono and IL2CPP call themselves "Mono". Asking the handler would mean to fail with it first.
        private static bool RuntimeHasHttp2 =>
            RuntimeInformation.FrameworkDescription.StartsWith(".NET", StringComparison.Ordinal)
            && !RuntimeInformation.FrameworkDescription.StartsWith(".NET Framework", StringComparison.Ordinal);

        /// <summary>Connects: with TLS when it is asked for; without only to this machine, or where that was allowed.</summary>
        /// <param name="address">The server.</param>
        /// <param name="timeout">How long it may take.</param>
        /// <param name="cancel">Gives up earlier.</param>
        /// <exception cref="TransportException">Nobody is there; or TLS is missing here or there (InadequateSecurity).</exception>
        public static async Task<IHttp2Transport> ConnectAsync(ServerAddress address, TimeSpan timeout, CancellationToken cancel = default)
        {
            if (address.Tls) return new HttpHandlerTransport(Handler(address), "https", address.Authority);
            if (!address.IsLoopback && !address.AllowInsecure)
                throw new TransportException(
                    address.Authority + " is another machine, so TLS is needed: use https://, or allow an insecure connection on a network that you trust",
                    Http2Error.InadequateSecurity);
            return await Http2Connection.ConnectAsync(address.Host, address.Port, timeout, cancel).ConfigureAwait(false);
        }

        private static HttpMessageHandler Handler(ServerAddress address)
        {
            if (Yaha.IsInstalled) return Yaha.Handler(address.RootCertificates);
            if (!RuntimeHasHttp2)
                throw new TransportException(
                    "this runtime has no HTTP/2 with TLS: add the package YetAnotherHttpHandler (com.cysharp.yetanotherhttphandler) to the project",
                    Http2Error.InadequateSecurity);
            var handler = new HttpClientHandler { AllowAutoRedirect = false, UseCookies = false, UseProxy = false };
            if (address.RootCertificates != null) handler.ServerCertificateCustomValidationCallback = new TrustedRoots(address.RootCertificates).Accepts;
            return handler;
        }
    }
}
