#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Http;
using System.Runtime.ExceptionServices;
using System.Threading;
using System.Threading.Tasks;
using Taoxr.Protocol;

namespace Taoxr.Transport
{
    /// <summary>A request of HttpHandlerTransport.</summary>
    internal sealed class HttpHandlerStream : IHttp2Stream
    {
        private static readonly Version Http2 = new Version(2, 0);
        private readonly RequestBody _body = new RequestBody();
        private readonly CancellationTokenSource _cancel = new CancellationTokenSource();
        private readonly CancellationTokenRegistration _end;
        private readonly Task<HttpResponseMessage> _response;
        private readonly byte[] _piece = new byte[16384];
        private List<Header>? _headers;
        private Stream? _content;
        private volatile Exception? _failure;
        private volatile bool _ended;

        public HttpHandlerStream(HttpMessageInvoker invoker, string server, IReadOnlyList<Header> headers, CancellationToken end)
        {
            var request = new HttpRequestMessage(HttpMethod.Post, server) { Version = Http2, Content = _body };
            foreach (var header in headers)
            {
                if (header.Name == ":path") request.RequestUri = new Uri(server + header.Value);
                else if (header.Name == "content-type") _body.Headers.TryAddWithoutValidation(header.Name, header.Value);
                else if (header.Name[0] != ':') request.Headers.TryAddWithoutValidation(header.Name, header.Value);
            }
            // Not on the caller's thread, which may be the one that draws; handlers look names up before they first wait.
            _response = Task.Run(() => invoker.SendAsync(request, _cancel.Token));
            _end = end.Register(() => Cancel(HttpHandlerTransport.ClosedHere()));
        }

        public IReadOnlyList<Header> Trailers { get; private set; } = Array.Empty<Header>();

        public Task WriteAsync(ReadOnlyMemory<byte> bytes, bool last) =>
            _ended && _failure == null ? Task.CompletedTask : _body.AddAsync(bytes, last);

        public async Task<IReadOnlyList<Header>> HeadersAsync()
        {
            if (_headers != null) return _headers;
            try
            {
                var response = await _response.ConfigureAwait(false);
                if (response.Version.Major < 2) throw new TransportException("the server does not speak HTTP/2", Http2Error.Http11Required);
                var headers = new List<Header> { new Header(":status", ((int)response.StatusCode).ToString()) };
                Put(response.Headers, headers);
                Put(response.Content.Headers, headers);
                _content = await response.Content.ReadAsStreamAsync().ConfigureAwait(false);
                return _headers = headers;
            }
            catch (Exception error) when (IsOfTheNetwork(error))
            {
                throw Failed(error);
            }
        }

        public async Task<bool> ReadAsync(ByteBuffer into)
        {
            var headers = await HeadersAsync().ConfigureAwait(false);
            if (_failure != null) ExceptionDispatchInfo.Capture(_failure).Throw();
            try
            {
                var count = await _content!.ReadAsync(_piece, 0, _piece.Length, _cancel.Token).ConfigureAwait(false);
                if (count > 0)
                {
                    new ReadOnlySpan<byte>(_piece, 0, count).CopyTo(into.Extend(count));
                    return true;
                }
                var trailers = new List<Header>();
                Put(_response.Result.TrailingHeaders, trailers);
                // A response of headers alone: they are its trailers too.
                Trailers = trailers.Count > 0 ? trailers : headers;
                End();
                return false;
            }
            catch (Exception error) when (IsOfTheNetwork(error))
            {
                throw Failed(error);
            }
        }

        public void Cancel(Exception error)
        {
            if (_ended) return;
            _failure ??= error;
            _body.Fail(_failure);
            End();
            _cancel.Cancel();
            _response.ContinueWith(Drop, TaskContinuationOptions.ExecuteSynchronously);
        }

        private static void Drop(Task<HttpResponseMessage> response)
        {
            if (response.Status == TaskStatus.RanToCompletion) response.Result.Dispose();
            else _ = response.Exception; // Seen, so that nobody is told of it later.
        }

        private void End()
        {
            _ended = true;
            _body.End();
            _end.Dispose();
        }

        private Exception Failed(Exception error)
        {
            var failure = _failure ?? (error as TransportException) ?? Explained(error);
            Cancel(failure);
            return failure;
        }

        private TransportException Explained(Exception error)
        {
            var cause = error;
            while (cause.InnerException != null) cause = cause.InnerException;
            var missing = IsMissing(error);
            var security = missing || cause is System.Security.Authentication.AuthenticationException;
            var what = missing ? "there is no TLS on this platform: "
                : security ? "the server's certificate is not trusted: "
                : _headers == null ? "the server cannot be reached: "
                : "the connection was lost: ";
            return new TransportException(what + cause.Message, security ? Http2Error.InadequateSecurity : Http2Error.NoError, cause: error);
        }

        private static bool IsOfTheNetwork(Exception error) =>
            error is HttpRequestException || error is IOException || error is OperationCanceledException || error is ObjectDisposedException
            || error is InvalidOperationException || error is TransportException || IsMissing(error);

        // A handler that is native has no library for every platform.
        private static bool IsMissing(Exception error) =>
            error is TypeLoadException || error is TypeInitializationException || error is BadImageFormatException || error is NotSupportedException;

        private static void Put(System.Net.Http.Headers.HttpHeaders from, List<Header> into)
        {
            foreach (var pair in from)
                foreach (var value in pair.Value) into.Add(new Header(pair.Key.ToLowerInvariant(), value));
        }
    }
}
