#nullable enable
using System;
using System.Collections.Generic;
using System.Threading;

namespace Taoxr.Transport
{
    // What the reader finds; each is called on its thread.
    public sealed partial class Http2Connection
    {
        internal void OnFrame() => Volatile.Write(ref _silentTicks, 0);

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
