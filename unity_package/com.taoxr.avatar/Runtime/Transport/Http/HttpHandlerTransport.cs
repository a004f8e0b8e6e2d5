#nullable enable
using System;
using System.Collections.Generic;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;

namespace Taoxr.Transport
{
    /// <summary>HTTP/2 by an HttpMessageHandler, which keeps connections as it likes: this one is open until it is disposed.</summary>
    public sealed class HttpHandlerTransport : IHttp2Transport
    {
        private readonly HttpMessageInvoker _invoker;
        private readonly CancellationTokenSource _end = new CancellationTokenSource();
        private readonly TaskCompletionSource<TransportException> _closed =
            new TaskCompletionSource<TransportException>(TaskCreationOptions.RunContinuationsAsynchronously);

        /// <param name="handler">Speaks HTTP/2; disposed with the transport.</param>
        /// <param name="scheme">"http" or "https".</param>
        /// <param name="authority">Host and port.</param>
        public HttpHandlerTransport(HttpMessageHandler handler, string scheme, string authority)
        {
            _invoker = new HttpMessageInvoker(handler, true);
            Scheme = scheme;
            Authority = authority;
        }

        /// <inheritdoc/>
        public bool IsOpen => !_closed.Task.IsCompleted;

        /// <inheritdoc/>
        public Task<TransportException> Closed => _closed.Task;

        /// <inheritdoc/>
        public string Scheme { get; }

        /// <inheritdoc/>
        public string Authority { get; }

        /// <inheritdoc/>
        public IHttp2Stream Open(IReadOnlyList<Header> headers)
        {
            if (!IsOpen) throw ClosedHere();
            try
            {
                return new HttpHandlerStream(_invoker, Scheme + "://" + Authority, headers, _end.Token);
            }
            catch (UriFormatException error)
            {
                throw new TransportException("\"" + Authority + "\" names no server: " + error.Message, cause: error);
            }
        }

        /// <inheritdoc/>
        public void Dispose()
        {
            if (!_closed.TrySetResult(ClosedHere())) return;
            _end.Cancel();
            _invoker.Dispose();
        }

        internal static TransportException ClosedHere() => new TransportException("the connection was closed here");
    }
}
