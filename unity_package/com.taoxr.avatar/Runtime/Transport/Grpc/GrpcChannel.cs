#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Threading;
using System.Threading.Tasks;
using Taoxr.Protocol;

namespace Taoxr.Transport
{
    /// <summary>What a call may do, and for how long.</summary>
    public sealed class CallOptions
    {
        /// <summary>Headers of the call; null means none.</summary>
        public Metadata? Metadata { get; set; }

        /// <summary>Time after which the call ends with DeadlineExceeded; null means none.</summary>
        public TimeSpan? Timeout { get; set; }

        /// <summary>Ends the call with Cancelled.</summary>
        public CancellationToken Cancel { get; set; }

        /// <summary>Most bytes of a response.</summary>
        public int MaxResponseBytes { get; set; } = 4 << 20;
    }

    /// <summary>Makes gRPC calls over a transport. For any thread; disposing it closes the transport.</summary>
    public sealed class GrpcChannel : IDisposable
    {
        private readonly IHttp2Transport _transport;

        /// <param name="transport">A connection.</param>
        public GrpcChannel(IHttp2Transport transport)
        {
            _transport = transport;
        }

        /// <summary>Whether calls can be made.</summary>
        public bool IsOpen => _transport.IsOpen;

        /// <summary>Completes when the connection has ended, with the reason.</summary>
        public Task<TransportException> Closed => _transport.Closed;

        /// <summary>Closes the connection; calls that run end with Unavailable.</summary>
        public void Dispose() => _transport.Dispose();

        /// <summary>Begins a call of any kind.</summary>
        /// <exception cref="RpcException">The connection is closed, or the call is cancelled already.</exception>
        public GrpcCall<TRequest, TResponse> Start<TRequest, TResponse>(
            Method<TRequest, TResponse> method, CallOptions? options = null)
            where TRequest : class, IMessage
            where TResponse : class, IMessage
        {
            options ??= new CallOptions();
            var headers = new List<Header>
            {
                new Header(":method", "POST"),
                new Header(":scheme", _transport.Scheme),
                new Header(":path", method.Path),
                new Header(":authority", _transport.Authority),
                new Header("te", "trailers"),
                new Header("content-type", "application/grpc"),
                new Header("user-agent", "taoxr-unity"),
                new Header("grpc-accept-encoding", "identity"),
            };
            if (options.Timeout is TimeSpan timeout) headers.Add(new Header("grpc-timeout", TimeoutText(timeout)));
            if (options.Metadata != null) headers.AddRange(options.Metadata.Entries);
            if (options.Cancel.IsCancellationRequested)
                throw new RpcException(StatusCode.Cancelled, "the call was cancelled before it began");
            try
            {
                return new GrpcCall<TRequest, TResponse>(_transport.Open(headers), options);
            }
            catch (TransportException error)
            {
                throw GrpcStatus.Of(error);
            }
        }

        /// <summary>Calls a method with one request and one response.</summary>
        /// <exception cref="RpcException">It ended with another status than OK.</exception>
        public async Task<TResponse> UnaryAsync<TRequest, TResponse>(
            Method<TRequest, TResponse> method, TRequest request, CallOptions? options = null)
            where TRequest : class, IMessage
            where TResponse : class, IMessage
        {
            using var call = Start(method, options);
            await call.WriteAsync(request, true).ConfigureAwait(false);
            var response = method.MakeResponse();
            if (!await call.ReadAsync(response).ConfigureAwait(false))
                throw new RpcException(StatusCode.Internal, "the server answered OK without a response");
            if (await call.ReadAsync(method.MakeResponse()).ConfigureAwait(false))
                throw new RpcException(StatusCode.Internal, "the server sent more than one response");
            return response;
        }

        // At most 8 digits.
        private static string TimeoutText(TimeSpan timeout)
        {
            var milliseconds = Math.Max(1, (long)timeout.TotalMilliseconds);
            return milliseconds < 100_000_000
                ? milliseconds.ToString(CultureInfo.InvariantCulture) + "m"
                : Math.Min(milliseconds / 1000, 99_999_999).ToString(CultureInfo.InvariantCulture) + "S";
        }
    }
}
