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
    public sealed class Http2Connection : IHttp2Transport
    {
        internal const int StreamWindow = 1 << 20;
        private const int MaxFrame = 16384;
        private const int MostControl = 1 << 18;
        private static readonly byte[] Preface = Encoding.ASCII.GetBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

        private readonly Socket _socket;
        private readonly NetworkStream _network;
        private readonly FrameReader _reader;
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

        private Http2Connection(Socket socket, string authority)
        {
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
        /// <exception cref="TransportException">Nobody is there, or no HTTP/2 server.</exception>
        public static async Task<Http2Connection> ConnectAsync(
            string host, int port, TimeSpan timeout, CancellationToken cancel = default)
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
                connection = new Http2Connection(socket, authority);
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

        internal void WakeWriter() => Monitor.PulseAll(Gate);

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

        /// <summary>Lets the server send as much again as was taken.</summary>
        internal void GiveWindow(Http2Stream stream, int count)
        {
            stream.ReceiveWindow += count;
            WriteFrame(8, 0, stream.Id, count >> 24, count >> 16, count >> 8, count);
        }

        private void Run()
        {
            new Thread(ReadLoop) { IsBackground = true, Name = "taoxr read" }.Start();
            new Thread(WriteLoop) { IsBackground = true, Name = "taoxr write" }.Start();
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

        private void WriteLoop()
        {
            var output = new ByteBuffer();
            try
            {
                while (TakeOutput(output))
                {
                    MemoryMarshal.TryGetArray(output.Memory, out var segment);
                    _network.Write(segment.Array!, segment.Offset, segment.Count);
                    output.Clear();
                }
            }
            catch (Exception error) when (error is IOException || error is ObjectDisposedException || error is SocketException)
            {
                Close(new TransportException("the connection was lost: " + error.Message, cause: error));
            }
            finally
            {
                _network.Dispose();
            }
        }

        // Waits for something to send: what is urgent, then data of each stream in turn. False when all is said.
        private bool TakeOutput(ByteBuffer output)
        {
            lock (Gate)
            {
                while (true)
                {
                    if (_control.Length > 0)
                    {
                        _control.Span.CopyTo(output.Extend(_control.Length));
                        _control.Clear();
                        return true;
                    }
                    if (_failure != null) return false;
                    for (var i = 0; i < _order.Count; i++)
                    {
                        var stream = _order[(_turn + i) % _order.Count];
                        if (!TakeData(stream, output)) continue;
                        _turn = (_turn + i + 1) % Math.Max(1, _order.Count);
                        return true;
                    }
                    Monitor.Wait(Gate);
                }
            }
        }

        private bool TakeData(Http2Stream stream, ByteBuffer output)
        {
            var count = (int)Math.Min(Math.Min(stream.Outgoing.Length, MaxFrame), Math.Min(stream.SendWindow, _sendWindow));
            if (count <= 0 && (stream.Outgoing.Length > 0 || !stream.OutgoingEnds || stream.EndSent)) return false;
            count = Math.Max(0, count);
            var last = stream.OutgoingEnds && count == stream.Outgoing.Length;
            WriteHead(count, 0, last ? 1 : 0, stream.Id, output);
            stream.Outgoing.Span.Slice(0, count).CopyTo(output.Extend(count));
            stream.Outgoing.RemoveFirst(count);
            stream.SendWindow -= count;
            _sendWindow -= count;
            stream.EndSent = last;
            stream.Notify();
            return true;
        }

        private static void WriteHead(int length, int type, int flags, int stream, ByteBuffer into)
        {
            var head = into.Extend(9);
            head[0] = (byte)(length >> 16);
            head[1] = (byte)(length >> 8);
            head[2] = (byte)length;
            head[3] = (byte)type;
            head[4] = (byte)flags;
            head[5] = (byte)(stream >> 24);
            head[6] = (byte)(stream >> 16);
            head[7] = (byte)(stream >> 8);
            head[8] = (byte)stream;
        }

        private void WriteFrame(int type, int flags, int stream, params int[] payload)
        {
            WriteHead(payload.Length, type, flags, stream, _control);
            var bytes = _control.Extend(payload.Length);
            for (var i = 0; i < payload.Length; i++) bytes[i] = (byte)payload[i];
            WakeWriter();
        }

        private void Forget(Http2Stream stream)
        {
            if (_streams.Remove(stream.Id)) _order.Remove(stream);
        }

        // What the reader finds; each is called on its thread.

        internal void OnSettings(byte[] bytes, int count)
        {
            lock (Gate)
            {
                for (var i = 0; i < count; i += 6)
                {
                    var value = FrameReader.Int32(bytes, i + 2);
                    switch (bytes[i] << 8 | bytes[i + 1])
                    {
                        case 3:
                            _maxStreams = (uint)value;
                            break;
                        case 4:
                            if (value < 0) throw FrameReader.Wrong("a window of more than 2^31 - 1", Http2Error.FlowControlError);
                            foreach (var stream in _order) stream.SendWindow += (long)value - _initialSendWindow;
                            _initialSendWindow = value;
                            break;
                    }
                }
                Answer(4, Array.Empty<int>());
                _ready.TrySetResult(true);
            }
        }

        internal void OnPing(byte[] bytes)
        {
            var payload = new int[8];
            for (var i = 0; i < 8; i++) payload[i] = bytes[i];
            lock (Gate) Answer(6, payload);
        }

        // A server that asks and asks, and does not read the answers, must not fill our memory.
        private void Answer(int type, int[] payload)
        {
            if (_control.Length > MostControl)
                throw new TransportException("the server floods the connection", Http2Error.EnhanceYourCalm);
            WriteFrame(type, 1, 0, payload);
        }

        internal void OnGoAway(int lastStream, Http2Error code, string text)
        {
            lock (Gate)
            {
                _goingAway = true;
                var error = new TransportException("the server closes the connection (" + code + (text == "" ? ")" : ", " + text + ")"), code);
                foreach (var stream in _order.ToArray())
                {
                    if (stream.Id <= lastStream) continue;
                    stream.Fail(error);
                    Forget(stream);
                }
            }
        }

        internal void OnWindow(int id, int count)
        {
            lock (Gate)
            {
                if (id == 0) _sendWindow = Grown(_sendWindow, count);
                else if (_streams.TryGetValue(id, out var stream)) stream.SendWindow = Grown(stream.SendWindow, count);
                WakeWriter();
            }
        }

        private static long Grown(long window, int count)
        {
            if (count == 0) throw FrameReader.Wrong("a window grows by 0", Http2Error.ProtocolError);
            if (window + count > int.MaxValue) throw FrameReader.Wrong("a window overflows", Http2Error.FlowControlError);
            return window + count;
        }

        internal void OnReset(int id, Http2Error code)
        {
            lock (Gate)
            {
                if (!_streams.TryGetValue(id, out var stream)) return;
                stream.Fail(new TransportException("the server broke the call off (" + code + ")", code, true));
                Forget(stream);
            }
        }

        internal void OnHeaders(int id, List<Header> headers, bool last)
        {
            lock (Gate)
            {
                if (!_streams.TryGetValue(id, out var stream))
                {
                    RequireKnown(id);
                    return;
                }
                if (stream.HasHeaders && !last) throw FrameReader.Wrong("headers in the middle of a response", Http2Error.ProtocolError);
                if (!last && headers.Count > 0 && headers[0].Name == ":status" && headers[0].Value.StartsWith("1", StringComparison.Ordinal))
                    return; // Informational; the response is still to come.
                stream.ReceiveHeaders(headers, last);
                if (last) EndOf(stream);
            }
        }

        internal void OnData(int id, byte[] bytes, int start, int count, int frame, bool last)
        {
            lock (Gate)
            {
                // What is held is bounded by the streams' windows, so the connection's is given back at once.
                if (frame > 0) WriteFrame(8, 0, 0, frame >> 24, frame >> 16, frame >> 8, frame);
                if (_control.Length > MostControl)
                    throw new TransportException("the server floods the connection", Http2Error.EnhanceYourCalm);
                if (!_streams.TryGetValue(id, out var stream))
                {
                    RequireKnown(id);
                    return;
                }
                if (!stream.HasHeaders) throw FrameReader.Wrong("data before the headers", Http2Error.ProtocolError);
                if (frame > stream.ReceiveWindow) throw FrameReader.Wrong("more data than its window", Http2Error.FlowControlError);
                stream.ReceiveWindow -= frame;
                if (frame > count && !last) GiveWindow(stream, frame - count);
                if (count > 0) stream.Receive(bytes, start, count);
                if (last) EndOf(stream);
            }
        }

        // Streams that ended may still get frames which were on their way; others never were.
        private void RequireKnown(int id)
        {
            if (id % 2 == 0 || id >= _nextId) throw FrameReader.Wrong("a frame for stream " + id + ", which is not there", Http2Error.ProtocolError);
        }

        private void EndOf(Http2Stream stream)
        {
            // A server may answer before it has heard all; it then wants no more (RFC 9113, section 8.1).
            if (!stream.EndSent) WriteFrame(3, 0, stream.Id, 0, 0, 0, (int)Http2Error.NoError);
            stream.EndSent = true;
            stream.End();
            Forget(stream);
        }
    }
}
