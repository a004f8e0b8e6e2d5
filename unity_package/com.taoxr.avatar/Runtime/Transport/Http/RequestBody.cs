#nullable enable
using System;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Threading.Tasks;
using Taoxr.Protocol;

namespace Taoxr.Transport
{
    /// <summary>The body of a request that grows while it is sent.</summary>
    internal sealed class RequestBody : HttpContent
    {
        private const int MostQueued = 1 << 18;
        private readonly object _gate = new object();
        private ByteBuffer _waiting = new ByteBuffer();
        private ByteBuffer _sending = new ByteBuffer();
        private TaskCompletionSource<bool>? _changed;
        private Exception? _failure;
        private bool _ends;
        private bool _over;

        /// <summary>Puts bytes at the end; waits while much is there.</summary>
        public async Task AddAsync(ReadOnlyMemory<byte> bytes, bool last)
        {
            while (true)
            {
                Task changed;
                lock (_gate)
                {
                    if (_failure != null) ExceptionDispatchInfo.Capture(_failure).Throw();
                    if (_over) return;
                    if (_ends) throw new InvalidOperationException("the request has ended already");
                    if (_waiting.Length == 0 || _waiting.Length + bytes.Length <= MostQueued)
                    {
                        bytes.Span.CopyTo(_waiting.Extend(bytes.Length));
                        _ends = last;
                        Notify();
                        return;
                    }
                    changed = Changed();
                }
                await changed.ConfigureAwait(false);
            }
        }

        /// <summary>Nobody wants more of it.</summary>
        public void End()
        {
            lock (_gate)
            {
                _over = true;
                Notify();
            }
        }

        /// <summary>It cannot be sent.</summary>
        public void Fail(Exception error)
        {
            lock (_gate)
            {
                _failure ??= error;
                End();
            }
        }

        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            await stream.FlushAsync().ConfigureAwait(false); // Sends the headers, before there is a first byte.
            while (true)
            {
                Task? changed = null;
                var last = false;
                lock (_gate)
                {
                    if (_over) return;
                    if (_waiting.Length == 0 && _ends) return;
                    if (_waiting.Length == 0) changed = Changed();
                    else
                    {
                        (_waiting, _sending) = (_sending, _waiting);
                        last = _ends;
                        Notify();
                    }
                }
                if (changed != null)
                {
                    await changed.ConfigureAwait(false);
                    continue;
                }
                MemoryMarshal.TryGetArray(_sending.Memory, out var segment);
                await stream.WriteAsync(segment.Array!, segment.Offset, segment.Count).ConfigureAwait(false);
                await stream.FlushAsync().ConfigureAwait(false);
                _sending.Clear();
                if (last) return;
            }
        }

        protected override bool TryComputeLength(out long length)
        {
            length = -1;
            return false;
        }

        private Task Changed()
        {
            _changed ??= new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
            return _changed.Task;
        }

        private void Notify()
        {
            var changed = _changed;
            _changed = null;
            changed?.TrySetResult(true);
        }
    }
}
