#nullable enable
using System;
using System.Collections.Generic;
using System.Runtime.ExceptionServices;
using System.Threading.Tasks;
using Taoxr.Protocol;

namespace Taoxr.Transport
{
    /// <summary>A stream of Http2Connection. Everything in it is guarded by the connection's lock.</summary>
    internal sealed class Http2Stream : IHttp2Stream
    {
        private const int MostQueued = 1 << 18;
        private readonly Http2Connection _connection;
        private readonly ByteBuffer _incoming = new ByteBuffer();
        private IReadOnlyList<Header>? _headers;
        private IReadOnlyList<Header> _trailers = Array.Empty<Header>();
        private Exception? _failure;
        private TaskCompletionSource<bool>? _changed;

        internal Http2Stream(Http2Connection connection, int id, int sendWindow)
        {
            _connection = connection;
            Id = id;
            SendWindow = sendWindow;
        }

        internal int Id { get; }

        /// <summary>What the server still takes; may be negative after its settings changed.</summary>
        internal long SendWindow { get; set; }

        /// <summary>What the server may still send.</summary>
        internal int ReceiveWindow { get; set; } = Http2Connection.StreamWindow;

        internal ByteBuffer Outgoing { get; } = new ByteBuffer();

        /// <summary>Whether the request ends with Outgoing.</summary>
        internal bool OutgoingEnds { get; private set; }

        internal bool EndSent { get; set; }

        /// <summary>Whether the response is over.</summary>
        internal bool Ended { get; private set; }

        internal bool HasHeaders => _headers != null;

        public IReadOnlyList<Header> Trailers
        {
            get
            {
                lock (_connection.Gate) return _trailers;
            }
        }

        public async Task WriteAsync(ReadOnlyMemory<byte> bytes, bool last)
        {
            while (true)
            {
                Task changed;
                lock (_connection.Gate)
                {
                    ThrowFailure();
                    if (Ended) return; // The server has answered without wanting the rest.
                    if (OutgoingEnds) throw new InvalidOperationException("the request has ended already");
                    if (Outgoing.Length == 0 || Outgoing.Length + bytes.Length <= MostQueued)
                    {
                        bytes.Span.CopyTo(Outgoing.Extend(bytes.Length));
                        OutgoingEnds = last;
                        _connection.WakeWriter();
                        return;
                    }
                    changed = Changed();
                }
                await changed.ConfigureAwait(false);
            }
        }

        public async Task<bool> ReadAsync(ByteBuffer into)
        {
            while (true)
            {
                Task changed;
                lock (_connection.Gate)
                {
                    if (_incoming.Length > 0)
                    {
                        _incoming.Span.CopyTo(into.Extend(_incoming.Length));
                        if (!Ended) _connection.GiveWindow(this, _incoming.Length);
                        _incoming.Clear();
                        return true;
                    }
                    ThrowFailure();
                    if (Ended) return false;
                    changed = Changed();
                }
                await changed.ConfigureAwait(false);
            }
        }

        public async Task<IReadOnlyList<Header>> HeadersAsync()
        {
            while (true)
            {
                Task changed;
                lock (_connection.Gate)
                {
                    if (_headers != null) return _headers;
                    ThrowFailure();
                    changed = Changed();
                }
                await changed.ConfigureAwait(false);
            }
        }

        public void Cancel(Exception error) => _connection.Break(this, error, Http2Error.Cancel);

        internal void Receive(byte[] bytes, int start, int count)
        {
            new ReadOnlySpan<byte>(bytes, start, count).CopyTo(_incoming.Extend(count));
            Notify();
        }

        internal void ReceiveHeaders(IReadOnlyList<Header> headers, bool last)
        {
            if (_headers == null) _headers = headers;
            // A response of headers alone: they are its trailers too.
            if (last) _trailers = headers;
            Notify();
        }

        internal void End()
        {
            Ended = true;
            Outgoing.Clear();
            Notify();
        }

        internal void Fail(Exception error)
        {
            if (Ended) return;
            _failure = error;
            End();
        }

        /// <summary>Wakes whoever waits for something of this stream.</summary>
        internal void Notify()
        {
            var changed = _changed;
            _changed = null;
            changed?.TrySetResult(true);
        }

        private Task Changed()
        {
            // Not on the reader's thread, which everything else waits for.
            _changed ??= new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
            return _changed.Task;
        }

        private void ThrowFailure()
        {
            if (_failure != null) ExceptionDispatchInfo.Capture(_failure).Throw();
        }
    }
}
