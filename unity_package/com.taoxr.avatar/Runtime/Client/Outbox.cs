#nullable enable
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
using Taoxr.Protocol.V1;

namespace Taoxr.Client
{
    /// <summary>
    /// What the client wants to say, in order, until the writer takes it. Bounded: of sound that waits the oldest is dropped;
    /// of playback reports, mutes and places to look at only the newest waits; anything else is kept, and too much of it is an error.
    /// </summary>
    internal sealed class Outbox
    {
        /// <summary>Most requests that wait beside sound.</summary>
        public const int MostRequests = 256;

        // A piece of sound that waits grows up to this.
        private const int PieceBytes = 8192;
        private const int MostSeconds = 5;

        private readonly object _gate = new object();
        private readonly Queue<Entry> _requests = new Queue<Entry>(MostRequests);
        private readonly Queue<Entry> _sound;
        private readonly Stack<ConverseRequest> _spare;
        private readonly ConverseRequest _report = new ConverseRequest { Playback = new PlaybackReport() };
        private readonly ConverseRequest _mute = new ConverseRequest { Mute = new Mute() };
        private readonly ConverseRequest _look = new ConverseRequest { LookAt = new LookAt() };
        private readonly Point _target = new Point();
        private readonly int _rate;
        private readonly int _mostBytes;
        private ConverseRequest? _growing;
        private PlaybackNow _playback;
        private LookNow _lookAt;
        private int _bytes;
        private long _droppedBytes;
        private long _order;
        private int _stream;
        private bool _muted;
        private bool _muteWaits;
        private bool _finished;

        private struct PlaybackNow
        {
            public bool Waits;
            public string TurnId;
            public long PlayedUs;
            public int Underruns;
        }

        private struct LookNow
        {
            public bool Waits;
            public bool WasSet;
            public bool AtPoint;
            public float X;
            public float Y;
            public float Z;
        }

        private readonly struct Entry
        {
            public Entry(long order, ConverseRequest request)
            {
                Order = order;
                Request = request;
            }

            public long Order { get; }

            public ConverseRequest Request { get; }
        }

        /// <param name="rate">Samples per second of the sound; 0 for a conversation without.</param>
        public Outbox(int rate)
        {
            _rate = rate;
            _mostBytes = 2 * rate * MostSeconds;
            // All that can ever wait, and what the writer holds, so that speaking allocates nothing.
            var pieces = _mostBytes == 0 ? 0 : 2 * (_mostBytes / PieceBytes) + 2;
            _sound = new Queue<Entry>(pieces + 1);
            _spare = new Stack<ConverseRequest>(pieces + 1);
            for (var i = 0; i < pieces; i++) _spare.Push(NewPiece());
        }

        /// <summary>Sound that was dropped, in microseconds.</summary>
        public long DroppedAudioUs
        {
            get
            {
                lock (_gate) return _rate == 0 ? 0 : _droppedBytes / 2 * 1_000_000 / _rate;
            }
        }

        /// <summary>Bytes of sound that wait.</summary>
        public int WaitingBytes
        {
            get
            {
                lock (_gate) return _bytes;
            }
        }

        /// <summary>Puts a request at the end; false when too many wait.</summary>
        /// <exception cref="Protocol.ProtocolException">A text of it is none.</exception>
        public bool TryAdd(ConverseRequest request)
        {
            request.ByteSize(); // Throws here, where somebody sees it, rather than when it is sent.
            lock (_gate)
            {
                if (_finished) return true;
                if (_requests.Count >= MostRequests) return false;
                _growing = null;
                _requests.Enqueue(new Entry(++_order, request));
                Monitor.PulseAll(_gate);
                return true;
            }
        }

        public void AddAudio(ReadOnlySpan<short> samples)
        {
            lock (_gate)
            {
                if (!_finished) MemoryMarshal.AsBytes(samples).CopyTo(MakeRoom(2 * samples.Length));
            }
        }

        public void AddAudio(ReadOnlySpan<float> samples)
        {
            lock (_gate)
            {
                if (_finished) return;
                var into = MemoryMarshal.Cast<byte, short>(MakeRoom(2 * samples.Length));
                var at = 0;
                foreach (var sample in samples) into[at++] = (short)(Math.Min(Math.Max(sample, -1f), 1f) * 32767f);
            }
        }

        public void ReportPlayback(string turnId, long playedUs, int underruns)
        {
            lock (_gate)
            {
                _playback = new PlaybackNow { Waits = true, TurnId = turnId, PlayedUs = playedUs, Underruns = underruns };
                Monitor.PulseAll(_gate);
            }
        }

        public void LookAt(bool atPoint, float x, float y, float z)
        {
            lock (_gate)
            {
                _lookAt = new LookNow { Waits = true, WasSet = true, AtPoint = atPoint, X = x, Y = y, Z = z };
                Monitor.PulseAll(_gate);
            }
        }

        public void SetMuted(bool muted)
        {
            lock (_gate)
            {
                _muted = muted;
                _muteWaits = true;
                Monitor.PulseAll(_gate);
            }
        }

        /// <summary>Says that the conversation is over, whatever waits.</summary>
        public void End()
        {
            lock (_gate)
            {
                if (_requests.Count >= MostRequests) _requests.Dequeue();
                TryAdd(new ConverseRequest { EndSession = new EndSession() });
            }
        }

        /// <summary>
        /// A stream runs. What was meant for a moment of the last one is dropped (sound, interruptions, answers to its tools);
        /// what the user asked stays.
        /// </summary>
        /// <returns>What Take wants.</returns>
        public int Open(bool first)
        {
            lock (_gate)
            {
                if (!first) DropWhatIsOver();
                _lookAt.Waits = _lookAt.WasSet;
                _muteWaits = _muted;
                return ++_stream;
            }
        }

        /// <summary>The stream has ended: its writer gets no more.</summary>
        public void Close()
        {
            lock (_gate)
            {
                if (_stream % 2 == 1) _stream++;
                Monitor.PulseAll(_gate);
            }
        }

        /// <summary>Nothing will be sent any more.</summary>
        public void Finish()
        {
            lock (_gate)
            {
                Close();
                _finished = true;
                _requests.Clear();
                while (_sound.Count > 0) TakeSound();
            }
        }

        /// <summary>Waits for the next request of a stream; null when it has ended. Give it back when it was sent.</summary>
        public ConverseRequest? Take(int stream)
        {
            lock (_gate)
            {
                while (_stream == stream)
                {
                    var next = Next();
                    if (next != null) return next;
                    Monitor.Wait(_gate);
                }
                return null;
            }
        }

        /// <summary>Takes back what was sent.</summary>
        public void GiveBack(ConverseRequest request)
        {
            if (request.PayloadCase != ConverseRequest.PayloadOneofCase.Audio) return;
            lock (_gate) Spare(request);
        }

        private ConverseRequest? Next()
        {
            if (_muteWaits)
            {
                _muteWaits = false;
                _mute.Mute!.Muted = _muted;
                return _mute;
            }
            if (_playback.Waits)
            {
                _playback.Waits = false;
                var report = _report.Playback!;
                report.TurnId = _playback.TurnId;
                report.PlayedUs = _playback.PlayedUs;
                report.Underruns = _playback.Underruns;
                return _report;
            }
            if (_lookAt.Waits)
            {
                _lookAt.Waits = false;
                _target.X = _lookAt.X;
                _target.Y = _lookAt.Y;
                _target.Z = _lookAt.Z;
                _look.LookAt!.Target = _lookAt.AtPoint ? _target : null;
                return _look;
            }
            if (_sound.Count > 0 && (_requests.Count == 0 || _sound.Peek().Order < _requests.Peek().Order)) return TakeSound();
            return _requests.Count > 0 ? _requests.Dequeue().Request : null;
        }

        private ConverseRequest TakeSound()
        {
            var request = _sound.Dequeue().Request;
            _bytes -= request.Audio!.Pcm.Length;
            if (request == _growing) _growing = null;
            return request;
        }

        // Room for sound at the end, after the oldest was dropped where there is too much.
        private Span<byte> MakeRoom(int bytes)
        {
            if (_rate == 0) throw new InvalidOperationException("the conversation was begun without ConversationConfig.AudioIn");
            while (_sound.Count > 0 && _bytes + bytes > _mostBytes)
            {
                var dropped = TakeSound();
                _droppedBytes += dropped.Audio!.Pcm.Length;
                Spare(dropped);
            }
            if (_growing == null || _growing.Audio!.Pcm.Length + bytes > PieceBytes)
            {
                _growing = _spare.Count > 0 ? _spare.Pop() : NewPiece();
                _sound.Enqueue(new Entry(++_order, _growing));
            }
            _bytes += bytes;
            Monitor.PulseAll(_gate);
            return _growing.Audio!.Pcm.Extend(bytes);
        }

        private static ConverseRequest NewPiece()
        {
            var piece = new ConverseRequest { Audio = new AudioInput() };
            piece.Audio!.Pcm.Extend(PieceBytes);
            piece.Audio.Pcm.Clear();
            return piece;
        }

        private void Spare(ConverseRequest sound)
        {
            sound.Audio!.Pcm.Clear();
            _spare.Push(sound);
        }

        private void DropWhatIsOver()
        {
            while (_sound.Count > 0) Spare(TakeSound());
            _playback.Waits = false;
            for (var left = _requests.Count; left > 0; left--)
            {
                var entry = _requests.Dequeue();
                switch (entry.Request.PayloadCase)
                {
                    case ConverseRequest.PayloadOneofCase.Text:
                    case ConverseRequest.PayloadOneofCase.UpdateConfig:
                    case ConverseRequest.PayloadOneofCase.EndSession:
                        _requests.Enqueue(entry);
                        break;
                }
            }
        }
    }
}
