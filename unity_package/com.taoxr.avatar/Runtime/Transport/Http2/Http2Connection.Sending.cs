#nullable enable
using System;
using System.IO;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Threading;
using Taoxr.Protocol;

namespace Taoxr.Transport
{
    // What is sent, and the thread that sends it.
    public sealed partial class Http2Connection
    {
        private Timer? _aliveTimer;
        private int _silentTicks;

        private long HalfKeepAlive => Math.Max(1, (long)_keepAlive.TotalMilliseconds / 2);

        internal void WakeWriter() => Monitor.PulseAll(Gate);

        /// <summary>Lets the server send as much again as was taken.</summary>
        internal void GiveWindow(Http2Stream stream, int count)
        {
            stream.ReceiveWindow += count;
            WriteFrame(8, 0, stream.Id, count >> 24, count >> 16, count >> 8, count);
        }

        // Every half of the keep-alive time. A network that is gone says nothing; a socket can wait for it for minutes.
        private void AskWhetherAlive()
        {
            lock (Gate)
            {
                if (_failure != null) _aliveTimer?.Dispose(); // Closed before the timer was there to be stopped.
                if (_failure != null || ++_silentTicks < 2) return;
                if (_silentTicks == 2) WriteFrame(6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
                if (_silentTicks < 4) return;
            }
            Close(new TransportException("the connection was lost: the server is silent"));
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
    }
}
