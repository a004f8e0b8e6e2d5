#nullable enable
using System;
using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
using Taoxr.Protocol;

namespace Taoxr.Transport
{
    /// <summary>A call that runs: messages in both directions. One caller writes and one reads at a time.</summary>
    public sealed class GrpcCall<TRequest, TResponse> : IDisposable
        where TRequest : class, IMessage
        where TResponse : class, IMessage
    {
        private readonly IHttp2Stream _stream;
        private readonly int _maxResponseBytes;
        private readonly ByteBuffer _outgoing = new ByteBuffer();
        private readonly ByteBuffer _incoming = new ByteBuffer();
        private readonly StringCache _strings = new StringCache();
        private readonly CancellationTokenRegistration _cancel;
        private readonly Timer? _deadline;
        private int _taken;
        private bool _checked;
        private bool _finished;
        private RpcException? _failure;

        internal GrpcCall(IHttp2Stream stream, CallOptions options)
        {
            _stream = stream;
            _maxResponseBytes = options.MaxResponseBytes;
            if (options.Timeout is TimeSpan timeout)
            {
                var late = new RpcException(StatusCode.DeadlineExceeded, "no end after " + (long)timeout.TotalMilliseconds + " ms");
                var due = Math.Min(Math.Max(1, (long)timeout.TotalMilliseconds), 0xFFFFFFFE);
                _deadline = new Timer(_ => _stream.Cancel(late), null, due, Timeout.Infinite);
            }
            _cancel = options.Cancel.Register(Cancel);
        }

        /// <summary>Headers of the response; empty before the first response was read.</summary>
        public Metadata Headers { get; private set; } = new Metadata();

        /// <summary>Trailers of the response; empty before its end.</summary>
        public Metadata Trailers { get; private set; } = new Metadata();

        /// <summary>Bytes of the last response.</summary>
        public int ResponseBytes { get; private set; }

        /// <summary>Sends a request; completes when it is queued, which waits for a server that reads slowly.</summary>
        /// <param name="request">May be used again at once.</param>
        /// <param name="last">Whether it is the last one.</param>
        /// <exception cref="RpcException">The call cannot go on.</exception>
        public Task WriteAsync(TRequest request, bool last = false)
        {
            _outgoing.Clear();
            var length = request.ByteSize();
            var head = _outgoing.Extend(5);
            head[0] = 0; // Not compressed.
            head[1] = (byte)(length >> 24);
            head[2] = (byte)(length >> 16);
            head[3] = (byte)(length >> 8);
            head[4] = (byte)length;
            Messages.Append(request, _outgoing);
            return SendAsync(last);
        }

        /// <summary>Says that no more requests come.</summary>
        /// <exception cref="RpcException">The call cannot go on.</exception>
        public Task CompleteAsync()
        {
            _outgoing.Clear();
            return SendAsync(true);
        }

        /// <summary>Waits for the next response.</summary>
        /// <param name="into">Becomes the response; may be the same for all.</param>
        /// <returns>False when the call ended with OK.</returns>
        /// <exception cref="RpcException">It ended with another status.</exception>
        public async Task<bool> ReadAsync(TResponse into)
        {
            if (_failure != null) throw _failure;
            if (_finished) return false;
            try
            {
                if (!_checked) await CheckHeadersAsync().ConfigureAwait(false);
                int length;
                while ((length = Complete()) < 0)
                {
                    if (_taken > 0) _incoming.RemoveFirst(_taken);
                    _taken = 0;
                    if (await _stream.ReadAsync(_incoming).ConfigureAwait(false)) continue;
                    _finished = true;
                    Trailers = Metadata.Of(_stream.Trailers);
                    GrpcStatus.CheckTrailers(Trailers);
                    if (_incoming.Length > 0) throw new RpcException(StatusCode.Internal, "the response ended inside a message");
                    return false;
                }
                Messages.Parse(into, _incoming.Span.Slice(_taken + 5, length), _strings);
                _taken += 5 + length;
                ResponseBytes = length;
                return true;
            }
            catch (TransportException error)
            {
                throw Fail(GrpcStatus.Of(error));
            }
            catch (ProtocolException error)
            {
                throw Fail(new RpcException(StatusCode.Internal, "a response cannot be read: " + error.Message, cause: error));
            }
            catch (RpcException error)
            {
                throw Fail(error);
            }
        }

        /// <summary>Breaks the call off; whoever waits gets Cancelled.</summary>
        public void Cancel() => Cancel(new RpcException(StatusCode.Cancelled, "the call was cancelled here"));

        /// <summary>Breaks the call off; whoever waits gets the reason.</summary>
        public void Cancel(RpcException reason) => _stream.Cancel(reason);

        /// <summary>Breaks the call off if it runs.</summary>
        public void Dispose()
        {
            _cancel.Dispose();
            _deadline?.Dispose();
            Cancel();
        }

        private async Task CheckHeadersAsync()
        {
            var headers = await _stream.HeadersAsync().ConfigureAwait(false);
            GrpcStatus.CheckHeaders(headers);
            Headers = Metadata.Of(headers);
            _checked = true;
        }

        private async Task SendAsync(bool last)
        {
            try
            {
                await _stream.WriteAsync(_outgoing.Memory, last).ConfigureAwait(false);
            }
            catch (TransportException error)
            {
                throw GrpcStatus.Of(error);
            }
        }

        // The length of the message that is there as a whole, or -1.
        private int Complete()
        {
            if (_incoming.Length - _taken < 5) return -1;
            var head = _incoming.Span.Slice(_taken, 5);
            if (MemoryMarshal.GetReference(head) != 0)
                throw new RpcException(StatusCode.Internal, "the server sent a compressed message, which was not asked for");
            var length = BinaryPrimitives.ReadUInt32BigEndian(head.Slice(1));
            if (length > _maxResponseBytes)
                throw new RpcException(StatusCode.ResourceExhausted, "a response of " + length + " bytes; at most " + _maxResponseBytes + " are taken");
            return _incoming.Length - _taken - 5 >= length ? (int)length : -1;
        }

        private RpcException Fail(RpcException error)
        {
            _failure = error;
            _stream.Cancel(error);
            return error;
        }
    }
}
