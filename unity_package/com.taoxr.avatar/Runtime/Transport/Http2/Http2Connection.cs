#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Taoxr.Protocol;

namespace Taoxr.Transport
{
    /// <summary>
    /// An HTTP/2 client (RFC 9113) without TLS on a socket, for loopback and trusted networks; no part of the runtime
    /// that Unity lacks. One thread reads and one writes; all state is behind one lock, which no one holds while waiting for
    /// the network. What a server can make it hold is bounded: windows, headers, and answers that wait to be sent.
    /// </summary>
    public sealed partial class Http2Connection : IHttp2Transport
    {
        internal const int StreamWindow = 1 << 20;
        private const int MaxFrame = 16384;
        private static readonly TimeSpan DefaultKeepAlive = TimeSpan.FromSeconds(10);
        private const int MostControl = 1 << 18;
        private static readonly byte[] Preface = Encoding.ASCII.GetBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

        private readonly Socket _socket;
        private readonly NetworkStream _network;
        private readonly FrameReader _reader;
        private readonly TimeSpan _keepAlive;
        private readonly Dictionary<int, Http2Stream> _streams = new Dictionary<int, Http2Stream>();
        private readonly List<Http2Stream> _order = new List<Http2Stream>();
        private readonly ByteBuffer _control = new ByteBuffer();
        private readonly ByteBuffer _block = new ByteBuffer();
        private readonly TaskCompletionSource<bool> _ready =
            new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly TaskCompletionSource<TransportException> _closed =
            new TaskCompletionSource<TransportException>(TaskCreationOptions.RunContinuationsAsynchronously);
        private TransportException? _failure;
        private Timer? _lastWords;
        private bool _goingAway;
        private int _nextId = 1;
        private int _turn;
        private long _sendWindow = 65535;
        private int _initialSendWindow = 65535;
        private long _maxStreams = int.MaxValue;

        private Http2Connection(Socket socket, string authority, TimeSpan keepAlive)
        {
            _keepAlive = keepAlive;
            _socket = socket;
            _network = new NetworkStream(socket, true);
            _reader = new FrameReader(this);
            Authority = authority;
            lock (Gate)
            {
                Preface.AsSpan().CopyTo(_control.Extend(Preface.Length));
                // No header table, no push, our window for each stream; and one for the connection that never ends first.
                WriteFrame(4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, 0, StreamWindow >> 16, 0, 0);
                WriteFrame(8, 0, 0, 0x7F, 0xFF, 0, 0);
            }
        }

        internal object Gate { get; } = new object();

        /// <inheritdoc/>
        public Task<TransportException> Closed => _closed.Task;

        /// <inheritdoc/>
        public string Scheme => "http";

        /// <inheritdoc/>
        public string Authority { get; }

        /// <inheritdoc/>
        public bool IsOpen
        {
            get
            {
                lock (Gate) return _failure == null && !_goingAway;
            }
        }

        /// <summary>Connects, and waits until the server has shown that it speaks HTTP/2.</summary>
        /// <param name="host">Name or address.</param>
        /// <param name="port">Port.</param>
        /// <param name="timeout">How long all of it may take.</param>
        /// <param name="cancel">Gives up earlier.</param>
        /// <param name="keepAlive">
        /// Silence after which the server is asked whether it is there; after as much again it is taken for lost. Null is
        /// 10 s; servers refuse much less than that.
        /// </param>
        /// <exception cref="TransportException">Nobody is there, or no HTTP/2 server.</exception>
        public static async Task<Http2Connection> ConnectAsync(
            string host, int port, TimeSpan timeout, CancellationToken cancel = default, TimeSpan? keepAlive = null)
        {
            var authority = (host.IndexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
            var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
            limit.CancelAfter(timeout);
            // Closing the socket is what ends a connect that waits, on every runtime.
            using var closing = limit.Token.Register(socket.Dispose);
            Http2Connection? connection = null;
            try
            {
                await socket.ConnectAsync(host, port).ConfigureAwait(false);
                connection = new Http2Connection(socket, authority, keepAlive ?? DefaultKeepAlive);
                connection.Run();
                await connection._ready.Task.ConfigureAwait(false);
                return connection;
            }
            catch (Exception error) when (!(error is OutOfMemoryException))
            {
                socket.Dispose();
                connection?.Dispose();
                cancel.ThrowIfCancellationRequested();
                if (limit.IsCancellationRequested)
                    throw new TransportException(authority + " did not answer within " + (long)timeout.TotalMilliseconds + " ms", cause: error);
                if (error is TransportException) throw;
                throw new TransportException("cannot connect to " + authority + ": " + error.Message, cause: error);
            }
        }

        /// <inheritdoc/>
        public IHttp2Stream Open(IReadOnlyList<Header> headers)
        {
            lock (Gate)
            {
                if (_failure != null) throw new TransportException(_failure.Message, _failure.Error, cause: _failure);
                if (_goingAway) throw new TransportException("the server is closing the connection");
                if (_streams.Count >= _maxStreams)
                    throw new TransportException("the server takes only " + _maxStreams + " calls at once", Http2Error.RefusedStream);
                _block.Clear();
                Hpack.Encode(headers, _block);
                if (_block.Length > MaxFrame) throw new TransportException("the headers of the call are larger than 16 KiB");
                var stream = new Http2Stream(this, _nextId, _initialSendWindow);
                _nextId += 2;
                _streams.Add(stream.Id, stream);
                _order.Add(stream);
                WriteHead(_block.Length, 1, 4, stream.Id, _control);
                _block.Span.CopyTo(_control.Extend(_block.Length));
                WakeWriter();
                return stream;
            }
        }

        /// <summary>Closes the connection; calls that run end with an error.</summary>
        public void Dispose() => Close(new TransportException("the connection was closed here"));

        internal void Break(Http2Stream stream, Exception error, Http2Error code)
        {
            lock (Gate)
            {
                if (stream.Ended && stream.EndSent) return;
                stream.Fail(error);
                if (_streams.ContainsKey(stream.Id)) WriteFrame(3, 0, stream.Id, 0, 0, 0, (int)code);
                Forget(stream);
            }
        }

        private void Run()
        {
            new Thread(ReadLoop) { IsBackground = true, Name = "taoxr read" }.Start();
            new Thread(WriteLoop) { IsBackground = true, Name = "taoxr write" }.Start();
            _aliveTimer = new Timer(_ => AskWhetherAlive(), null, HalfKeepAlive, HalfKeepAlive);
        }

        private void ReadLoop()
        {
            try
            {
                _reader.Run(_network);
            }
            catch (TransportException error)
            {
                Close(error);
            }
            catch (Exception error) when (error is IOException || error is ObjectDisposedException || error is SocketException)
            {
                Close(new TransportException("the connection was lost: " + error.Message, cause: error));
            }
        }

        private void Close(TransportException error)
        {
            lock (Gate)
            {
                if (_failure != null) return;
                _failure = error;
                foreach (var stream in _order) stream.Fail(error);
                _streams.Clear();
                _order.Clear();
                _ready.TrySetException(error);
                _closed.TrySetResult(error);
                if (_control.Length < MostControl) WriteFrame(7, 0, 0, 0, 0, 0, 0, 0, 0, 0, (int)error.Error);
                WakeWriter();
            }
            _aliveTimer?.Dispose();
            // Ends the reader at once; the writer may still tell the server why, but not wait for one that does not listen.
            _lastWords = new Timer(_ => _socket.Dispose(), null, 500, Timeout.Infinite);
            try
            {
                _socket.Shutdown(SocketShutdown.Receive);
            }
            catch (Exception closed) when (closed is SocketException || closed is ObjectDisposedException)
            {
                // The other side was faster.
            }
        }

        private void Forget(Http2Stream stream)
        {
            if (_streams.Remove(stream.Id)) _order.Remove(stream);
        }
    }
}
