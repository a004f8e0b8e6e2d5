#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;
using Taoxr.Protocol;
using Taoxr.Protocol.V1;
using Taoxr.Transport;

namespace Taoxr.Client
{
    /// <summary>Keeps one connection to the server, from the first time that one is wanted. For any thread.</summary>
    internal sealed class Connector : IDisposable
    {
        // Nobody may ever poll.
        private const int MostChanges = 32;

        private readonly object _gate = new object();
        private readonly ClientOptions _options;
        private readonly Backoff _backoff;
        private readonly Metadata? _metadata;
        private readonly CancellationTokenSource _end = new CancellationTokenSource();
        private readonly Queue<ConnectionChange> _changes = new Queue<ConnectionChange>();
        private TaskCompletionSource<GrpcChannel> _wanted = NewWanted();
        private TaskCompletionSource<GetServerInfoResponse> _attempt = NewAttempt();
        private TaskCompletionSource<bool> _hurry = new TaskCompletionSource<bool>();
        private TaskCompletionSource<bool>? _lost;
        private GrpcChannel? _channel;
        private RpcException? _error;
        private bool _runs;

        public Connector(ClientOptions options)
        {
            _options = options;
            _backoff = new Backoff(options.FirstRetry, options.LongestRetry, new Random());
            if (string.IsNullOrEmpty(options.Token)) return;
            _metadata = new Metadata();
            _metadata.Add("authorization", "Bearer " + options.Token);
        }

        public ConnectionState State { get; private set; }

        public bool TryTakeChange(out ConnectionChange change)
        {
            lock (_gate)
            {
                var there = _changes.Count > 0;
                change = there ? _changes.Dequeue() : default;
                return there;
            }
        }

        public Task<GetServerInfoResponse> ConnectAsync()
        {
            lock (_gate)
            {
                Start();
                if (State == ConnectionState.Waiting)
                {
                    if (_attempt.Task.IsCompleted) _attempt = NewAttempt();
                    _hurry.TrySetResult(true);
                }
                return _attempt.Task;
            }
        }

        /// <summary>The connection, as soon as there is one.</summary>
        /// <exception cref="RpcException">The server refuses us, or the client was disposed.</exception>
        public Task<GrpcChannel> WaitAsync()
        {
            lock (_gate)
            {
                Start();
                return _wanted.Task;
            }
        }

        /// <summary>A call on the connection failed because the server was not there.</summary>
        public void Lost(GrpcChannel channel, RpcException error)
        {
            lock (_gate)
            {
                if (channel != _channel) return;
                _error = error;
                _lost?.TrySetResult(true);
            }
        }

        public CallOptions Options(TimeSpan? timeout = null, CancellationToken cancel = default) =>
            new CallOptions { Timeout = timeout, Cancel = cancel, Metadata = _metadata };

        public async Task<TResponse> CallAsync<TRequest, TResponse>(
            Method<TRequest, TResponse> method, TRequest request, CancellationToken cancel)
            where TRequest : class, IMessage
            where TResponse : class, IMessage
        {
            var waited = Stopwatch.StartNew();
            using var late = CancellationTokenSource.CreateLinkedTokenSource(cancel);
            var waiting = WaitAsync();
            if (await Task.WhenAny(waiting, Task.Delay(_options.CallTimeout, late.Token)).ConfigureAwait(false) != waiting)
            {
                if (cancel.IsCancellationRequested) throw new RpcException(StatusCode.Cancelled, "the call was cancelled here");
                throw LastError() ?? new RpcException(StatusCode.DeadlineExceeded, "no connection after " + (long)_options.CallTimeout.TotalMilliseconds + " ms");
            }
            late.Cancel();
            var channel = await waiting.ConfigureAwait(false);
            try
            {
                return await channel.UnaryAsync(method, request, Options(_options.CallTimeout - waited.Elapsed, cancel)).ConfigureAwait(false);
            }
            catch (RpcException error) when (Retry.IsLoss(error))
            {
                Lost(channel, error);
                throw;
            }
        }

        public void Dispose()
        {
            lock (_gate)
            {
                if (State == ConnectionState.Closed) return;
                Change(ConnectionState.Closed);
                _end.Cancel();
                var closed = new RpcException(StatusCode.Cancelled, "the client was disposed");
                Fail(closed);
                // Also whoever asks from now on.
                _wanted = NewWanted();
                _attempt = NewAttempt();
                Fail(closed);
                _lost?.TrySetResult(true);
                _channel?.Dispose();
            }
        }

        private RpcException? LastError()
        {
            lock (_gate) return _error;
        }

        // Under the lock.
        private void Start()
        {
            if (_runs || State == ConnectionState.Closed) return;
            _runs = true;
            if (State == ConnectionState.Refused)
            {
                _wanted = NewWanted();
                _attempt = NewAttempt();
            }
            Change(ConnectionState.Connecting);
            _ = Task.Run(RunAsync);
        }

        private async Task RunAsync()
        {
            while (!_end.IsCancellationRequested)
            {
                try
                {
                    await KeepOneAsync().ConfigureAwait(false);
                }
                catch (RpcException error)
                {
                    Task waiting;
                    lock (_gate)
                    {
                        if (State == ConnectionState.Closed) return;
                        _error = error;
                        if (!Retry.IsWorthIt(error))
                        {
                            _runs = false;
                            Change(ConnectionState.Refused, error);
                            Fail(error);
                            return;
                        }
                        var wait = _backoff.Next();
                        _hurry = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
                        waiting = Task.WhenAny(Task.Delay(wait, _end.Token), _hurry.Task);
                        Change(ConnectionState.Waiting, error, wait);
                        _attempt.TrySetException(error);
                        _ = _attempt.Task.Exception;
                    }
                    await waiting.ConfigureAwait(false);
                    lock (_gate)
                    {
                        if (State == ConnectionState.Closed) return;
                        if (_attempt.Task.IsCompleted) _attempt = NewAttempt();
                        Change(ConnectionState.Connecting);
                    }
                }
            }
        }

        // Returns never: throws why the connection was not made, or was lost.
        private async Task KeepOneAsync()
        {
            using var channel = await OpenAsync().ConfigureAwait(false);
            // Shows that the server is there and takes our token.
            var info = await channel.UnaryAsync(
                ConversationService.GetServerInfo, new GetServerInfoRequest(), Options(_options.CallTimeout, _end.Token)).ConfigureAwait(false);
            Task lost;
            lock (_gate)
            {
                if (State == ConnectionState.Closed) throw new RpcException(StatusCode.Cancelled, "the client was disposed");
                _backoff.Reset();
                _channel = channel;
                _lost = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
                lost = _lost.Task;
                _error = null;
                Change(ConnectionState.Connected);
                _attempt.TrySetResult(info);
                _wanted.TrySetResult(channel);
            }
            await Task.WhenAny(lost, channel.Closed).ConfigureAwait(false);
            lock (_gate)
            {
                _channel = null;
                _lost = null;
                if (State != ConnectionState.Closed)
                {
                    _wanted = NewWanted();
                    _attempt = NewAttempt();
                }
                throw _error ?? new RpcException(StatusCode.Unavailable, channel.Closed.IsCompleted ? channel.Closed.Result.Message : "the connection was lost");
            }
        }

        private async Task<GrpcChannel> OpenAsync()
        {
            try
            {
                var address = new ServerAddress(_options.Host, _options.Port, _options.Tls, _options.AllowInsecure, _options.RootCertificates);
                return new GrpcChannel(await Transports.ConnectAsync(address, _options.ConnectTimeout, _end.Token).ConfigureAwait(false));
            }
            catch (TransportException error)
            {
                var code = error.Error == Http2Error.InadequateSecurity ? StatusCode.PermissionDenied : StatusCode.Unavailable;
                throw new RpcException(code, error.Message, cause: error);
            }
            catch (OperationCanceledException error)
            {
                throw new RpcException(StatusCode.Cancelled, "the client was disposed", cause: error);
            }
        }

        // Under the lock: whoever waits learns why, and nobody needs to.
        private void Fail(RpcException error)
        {
            _wanted.TrySetException(error);
            _attempt.TrySetException(error);
            _ = _wanted.Task.Exception;
            _ = _attempt.Task.Exception;
        }

        private void Change(ConnectionState state, RpcException? error = null, TimeSpan retryIn = default)
        {
            State = state;
            if (_changes.Count == MostChanges) _changes.Dequeue();
            _changes.Enqueue(new ConnectionChange(state, error, retryIn));
        }

        private static TaskCompletionSource<GrpcChannel> NewWanted() =>
            new TaskCompletionSource<GrpcChannel>(TaskCreationOptions.RunContinuationsAsynchronously);

        private static TaskCompletionSource<GetServerInfoResponse> NewAttempt() =>
            new TaskCompletionSource<GetServerInfoResponse>(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
