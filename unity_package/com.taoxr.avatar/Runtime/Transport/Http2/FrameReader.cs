#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using Taoxr.Protocol;

namespace Taoxr.Transport
{
    /// <summary>Reads the frames of a server that may send anything, and hands them to the connection.</summary>
    internal sealed class FrameReader
    {
        private const int MaxFrame = 16384;
        private const int MostContinuations = 64;
        private const int MostEmptyFrames = 1000;
        private readonly Http2Connection _connection;
        private readonly byte[] _head = new byte[9];
        private readonly byte[] _payload = new byte[MaxFrame];
        private readonly ByteBuffer _block = new ByteBuffer();
        private int _blockStream;
        private bool _blockEnds;
        private int _continuations;
        private int _emptyFrames;

        public FrameReader(Http2Connection connection)
        {
            _connection = connection;
        }

        public static TransportException Wrong(string what, Http2Error error) =>
            new TransportException("the server broke the rules of HTTP/2: " + what, error);

        public static int Int32(byte[] bytes, int at) => bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];

        /// <summary>Reads until the connection ends, which throws.</summary>
        public void Run(Stream network)
        {
            for (var first = true; ; first = false)
            {
                Fill(network, _head, 9);
                var length = _head[0] << 16 | _head[1] << 8 | _head[2];
                _connection.OnFrame();
                int type = _head[3], flags = _head[4], id = Int32(_head, 5) & 0x7FFFFFFF;
                if (first && type != 4)
                    throw new TransportException("this port does not speak HTTP/2", Http2Error.ProtocolError);
                if (length > MaxFrame) throw Wrong("a frame of " + length + " bytes", Http2Error.FrameSizeError);
                Fill(network, _payload, length);
                if (_blockStream != 0 && (type != 9 || id != _blockStream))
                    throw Wrong("something between the pieces of headers", Http2Error.ProtocolError);
                Frame(type, flags, id, length);
            }
        }

        private static void Fill(Stream network, byte[] into, int count)
        {
            for (var got = 0; got < count;)
            {
                var more = network.Read(into, got, count - got);
                if (more <= 0) throw new TransportException("the server closed the connection");
                got += more;
            }
        }

        private void Frame(int type, int flags, int id, int length)
        {
            switch (type)
            {
                case 0:
                    Data(flags, id, length);
                    break;
                case 1:
                    Headers(flags, id, length);
                    break;
                case 3:
                    Require(length == 4 && id != 0, "RST_STREAM");
                    _connection.OnReset(id, (Http2Error)Int32(_payload, 0));
                    break;
                case 4:
                    Require(id == 0 && length % 6 == 0 && ((flags & 1) == 0 || length == 0), "SETTINGS");
                    if ((flags & 1) == 0) _connection.OnSettings(_payload, length);
                    break;
                case 5:
                    throw Wrong("PUSH_PROMISE, which was switched off", Http2Error.ProtocolError);
                case 6:
                    Require(length == 8 && id == 0, "PING");
                    if ((flags & 1) == 0) _connection.OnPing(_payload);
                    break;
                case 7:
                    Require(length >= 8 && id == 0, "GOAWAY");
                    var text = Encoding.ASCII.GetString(_payload, 8, Math.Min(length - 8, 200));
                    _connection.OnGoAway(Int32(_payload, 0) & 0x7FFFFFFF, (Http2Error)Int32(_payload, 4), text);
                    break;
                case 8:
                    Require(length == 4, "WINDOW_UPDATE");
                    _connection.OnWindow(id, Int32(_payload, 0) & 0x7FFFFFFF);
                    break;
                case 9:
                    if (_blockStream == 0) throw Wrong("CONTINUATION of nothing", Http2Error.ProtocolError);
                    if (++_continuations > MostContinuations) throw TooLarge();
                    Piece(0, length, (flags & 4) != 0);
                    break;
            }
        }

        private void Data(int flags, int id, int length)
        {
            Require(id != 0, "DATA");
            var (start, count) = Unpadded(flags, 0, length);
            var last = (flags & 1) != 0;
            if (count > 0 || last) _emptyFrames = 0;
            else if (++_emptyFrames > MostEmptyFrames) throw Wrong("empty frames without end", Http2Error.EnhanceYourCalm);
            _connection.OnData(id, _payload, start, count, length, last);
        }

        private void Headers(int flags, int id, int length)
        {
            Require(id != 0, "HEADERS");
            var (start, count) = Unpadded(flags, (flags & 32) != 0 ? 5 : 0, length);
            _blockStream = id;
            _blockEnds = (flags & 1) != 0;
            _continuations = 0;
            _block.Clear();
            Piece(start, count, (flags & 4) != 0);
        }

        private void Piece(int start, int count, bool complete)
        {
            if (_block.Length + count > Hpack.MaxHeaderBytes) throw TooLarge();
            new ReadOnlySpan<byte>(_payload, start, count).CopyTo(_block.Extend(count));
            if (!complete) return;
            List<Header> headers = Hpack.Decode(_block.Span.ToArray(), 0, _block.Length);
            var id = _blockStream;
            _blockStream = 0;
            _connection.OnHeaders(id, headers, _blockEnds);
        }

        private (int Start, int Count) Unpadded(int flags, int skip, int length)
        {
            var start = skip;
            var padding = 0;
            if ((flags & 8) != 0)
            {
                Require(length >= 1, "padding");
                padding = _payload[0];
                start++;
            }
            if (start + padding > length) throw Wrong("padding beyond the end of its frame", Http2Error.ProtocolError);
            return (start, length - start - padding);
        }

        private static TransportException TooLarge() =>
            new TransportException("the server's headers are too large", Http2Error.EnhanceYourCalm);

        private static void Require(bool condition, string frame)
        {
            if (!condition) throw Wrong("a damaged frame: " + frame, Http2Error.FrameSizeError);
        }
    }
}
