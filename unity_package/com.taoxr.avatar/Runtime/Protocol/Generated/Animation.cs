// Made by protos/generate_csharp.py from taoxr/v1/animation.proto: do not edit.
#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Protocol.V1
{
    /// <summary>A piece of a clip.</summary>
    public sealed class AnimateAudioRequest : IMessage
    {
        /// <summary>Which of the fields of Payload is set.</summary>
        public enum PayloadOneofCase
        {
            None = 0,
            Config = 1,
            Pcm = 2,
        }

        private AnimateAudioConfig? _config;

        private AnimateAudioConfig OpenConfig()
        {
            _config ??= new AnimateAudioConfig();
            if (!(PayloadCase == PayloadOneofCase.Config)) _config.Clear();
            PayloadCase = PayloadOneofCase.Config;
            return _config;
        }

        private ByteBuffer? _pcm;

        private ByteBuffer OpenPcm()
        {
            _pcm ??= new ByteBuffer();
            if (!(PayloadCase == PayloadOneofCase.Pcm)) _pcm.Clear();
            PayloadCase = PayloadOneofCase.Pcm;
            return _pcm;
        }

        /// <summary>Which of them is set.</summary>
        public PayloadOneofCase PayloadCase { get; private set; }

        /// <summary>What is wanted; the first request, and only that.</summary>
        public AnimateAudioConfig? Config
        {
            get => PayloadCase == PayloadOneofCase.Config ? _config : null;
            set
            {
                if (value != null) _config = value;
                if (value != null) PayloadCase = PayloadOneofCase.Config;
                else if (PayloadCase == PayloadOneofCase.Config) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>Mono s16le PCM; at most 256 KiB.</summary>
        public ByteBuffer? Pcm
        {
            get => PayloadCase == PayloadOneofCase.Pcm ? _pcm : null;
            set
            {
                if (value != null) _pcm = value;
                if (value != null) PayloadCase = PayloadOneofCase.Pcm;
                else if (PayloadCase == PayloadOneofCase.Pcm) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static AnimateAudioRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new AnimateAudioRequest();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            PayloadCase = PayloadOneofCase.None;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadMessage(OpenConfig());
                        break;
                    case 18:
                        reader.ReadBytes(OpenPcm());
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (PayloadCase == PayloadOneofCase.Config) size += 1 + WireSize.Message(_config!);
            if (PayloadCase == PayloadOneofCase.Pcm) size += 1 + WireSize.Bytes(_pcm!);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (PayloadCase == PayloadOneofCase.Config)
            {
                writer.WriteUInt32(10);
                writer.WriteMessage(_config!);
            }
            if (PayloadCase == PayloadOneofCase.Pcm)
            {
                writer.WriteUInt32(18);
                writer.WriteBytes(_pcm!);
            }
        }
    }

    /// <summary>What the client sends and wants.</summary>
    public sealed class AnimateAudioConfig : IMessage
    {
        private AudioFormat? _audio;
        private bool _hasAudio;

        private AudioFormat OpenAudio()
        {
            _audio ??= new AudioFormat();
            if (!(_hasAudio)) _audio.Clear();
            _hasAudio = true;
            return _audio;
        }

        /// <summary>Format of AnimateAudioRequest.pcm.</summary>
        public AudioFormat? Audio
        {
            get => _hasAudio ? _audio : null;
            set
            {
                if (value != null) _audio = value;
                _hasAudio = value != null;
            }
        }

        /// <summary>Frames per second, 10 to 120; 0 means 30.</summary>
        public double FrameRate { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static AnimateAudioConfig Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new AnimateAudioConfig();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            _hasAudio = false;
            FrameRate = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadMessage(OpenAudio());
                        break;
                    case 17:
                        FrameRate = reader.ReadDouble();
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (_hasAudio) size += 1 + WireSize.Message(_audio!);
            if (BitConverter.DoubleToInt64Bits(FrameRate) != 0) size += 1 + 8;
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (_hasAudio)
            {
                writer.WriteUInt32(10);
                writer.WriteMessage(_audio!);
            }
            if (BitConverter.DoubleToInt64Bits(FrameRate) != 0)
            {
                writer.WriteUInt32(17);
                writer.WriteDouble(FrameRate);
            }
        }
    }

    /// <summary>A piece of the animation of a clip.</summary>
    public sealed class AnimateAudioResponse : IMessage
    {
        /// <summary>Which of the fields of Payload is set.</summary>
        public enum PayloadOneofCase
        {
            None = 0,
            Started = 1,
            Frames = 2,
        }

        private RigDescription? _started;

        private RigDescription OpenStarted()
        {
            _started ??= new RigDescription();
            if (!(PayloadCase == PayloadOneofCase.Started)) _started.Clear();
            PayloadCase = PayloadOneofCase.Started;
            return _started;
        }

        private FrameBatch? _frames;

        private FrameBatch OpenFrames()
        {
            _frames ??= new FrameBatch();
            if (!(PayloadCase == PayloadOneofCase.Frames)) _frames.Clear();
            PayloadCase = PayloadOneofCase.Frames;
            return _frames;
        }

        /// <summary>Which of them is set.</summary>
        public PayloadOneofCase PayloadCase { get; private set; }

        /// <summary>What the frames mean; the first response, and only that.</summary>
        public RigDescription? Started
        {
            get => PayloadCase == PayloadOneofCase.Started ? _started : null;
            set
            {
                if (value != null) _started = value;
                if (value != null) PayloadCase = PayloadOneofCase.Started;
                else if (PayloadCase == PayloadOneofCase.Started) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>Frames in order of time, on the clock of the clip.</summary>
        public FrameBatch? Frames
        {
            get => PayloadCase == PayloadOneofCase.Frames ? _frames : null;
            set
            {
                if (value != null) _frames = value;
                if (value != null) PayloadCase = PayloadOneofCase.Frames;
                else if (PayloadCase == PayloadOneofCase.Frames) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static AnimateAudioResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new AnimateAudioResponse();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            PayloadCase = PayloadOneofCase.None;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadMessage(OpenStarted());
                        break;
                    case 18:
                        reader.ReadMessage(OpenFrames());
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (PayloadCase == PayloadOneofCase.Started) size += 1 + WireSize.Message(_started!);
            if (PayloadCase == PayloadOneofCase.Frames) size += 1 + WireSize.Message(_frames!);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (PayloadCase == PayloadOneofCase.Started)
            {
                writer.WriteUInt32(10);
                writer.WriteMessage(_started!);
            }
            if (PayloadCase == PayloadOneofCase.Frames)
            {
                writer.WriteUInt32(18);
                writer.WriteMessage(_frames!);
            }
        }
    }

    /// <summary>Several frames.</summary>
    public sealed class FrameBatch : IMessage
    {
        /// <summary>In order of time.</summary>
        public MessageList<Frame> Frames { get; } = new MessageList<Frame>(() => new Frame());

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static FrameBatch Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new FrameBatch();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Frames.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadMessage(Frames.Add());
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            foreach (var item in Frames) size += 1 + WireSize.Message(item);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            foreach (var item in Frames)
            {
                writer.WriteUInt32(10);
                writer.WriteMessage(item);
            }
        }
    }

    /// <summary>What to animate.</summary>
    public sealed class AnimateTextRequest : IMessage
    {
        private int TracksSize()
        {
            var size = 0;
            foreach (var value in Tracks.Span) size += WireSize.Int32((int)value);
            return size;
        }

        /// <summary>1 to 4,000 characters, not only spaces.</summary>
        public string Text { get; set; } = "";

        /// <summary>Frames per second, 10 to 120; 0 means 30.</summary>
        public double FrameRate { get; set; }

        /// <summary>What is sent beside the face, which always is.</summary>
        public ValueList<Track> Tracks { get; } = new ValueList<Track>();

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static AnimateTextRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new AnimateTextRequest();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Text = "";
            FrameRate = 0;
            Tracks.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        Text = reader.ReadString();
                        break;
                    case 17:
                        FrameRate = reader.ReadDouble();
                        break;
                    case 24:
                        Tracks.Add((Track)reader.ReadInt32());
                        break;
                    case 26:
                        var tracksEnd = reader.EnterPacked();
                        while (reader.InPacked(tracksEnd)) Tracks.Add((Track)reader.ReadInt32());
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (!string.IsNullOrEmpty(Text)) size += 1 + WireSize.String(Text);
            if (BitConverter.DoubleToInt64Bits(FrameRate) != 0) size += 1 + 8;
            if (Tracks.Count != 0) size += 1 + WireSize.Delimited(TracksSize());
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(Text))
            {
                writer.WriteUInt32(10);
                writer.WriteString(Text);
            }
            if (BitConverter.DoubleToInt64Bits(FrameRate) != 0)
            {
                writer.WriteUInt32(17);
                writer.WriteDouble(FrameRate);
            }
            if (Tracks.Count != 0)
            {
                writer.WriteUInt32(26);
                writer.WriteInt32(TracksSize());
                foreach (var value in Tracks.Span) writer.WriteInt32((int)value);
            }
        }
    }

    /// <summary>A piece of the animation of a text.</summary>
    public sealed class AnimateTextResponse : IMessage
    {
        /// <summary>Which of the fields of Payload is set.</summary>
        public enum PayloadOneofCase
        {
            None = 0,
            Started = 1,
            Clause = 2,
            Body = 3,
            Motion = 4,
        }

        private RigDescription? _started;

        private RigDescription OpenStarted()
        {
            _started ??= new RigDescription();
            if (!(PayloadCase == PayloadOneofCase.Started)) _started.Clear();
            PayloadCase = PayloadOneofCase.Started;
            return _started;
        }

        private AnimatedClause? _clause;

        private AnimatedClause OpenClause()
        {
            _clause ??= new AnimatedClause();
            if (!(PayloadCase == PayloadOneofCase.Clause)) _clause.Clear();
            PayloadCase = PayloadOneofCase.Clause;
            return _clause;
        }

        private BodyDescription? _body;

        private BodyDescription OpenBody()
        {
            _body ??= new BodyDescription();
            if (!(PayloadCase == PayloadOneofCase.Body)) _body.Clear();
            PayloadCase = PayloadOneofCase.Body;
            return _body;
        }

        private Motion? _motion;

        private Motion OpenMotion()
        {
            _motion ??= new Motion();
            if (!(PayloadCase == PayloadOneofCase.Motion)) _motion.Clear();
            PayloadCase = PayloadOneofCase.Motion;
            return _motion;
        }

        /// <summary>Which of them is set.</summary>
        public PayloadOneofCase PayloadCase { get; private set; }

        /// <summary>What the frames mean; the first response, and only that.</summary>
        public RigDescription? Started
        {
            get => PayloadCase == PayloadOneofCase.Started ? _started : null;
            set
            {
                if (value != null) _started = value;
                if (value != null) PayloadCase = PayloadOneofCase.Started;
                else if (PayloadCase == PayloadOneofCase.Started) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The next clause.</summary>
        public AnimatedClause? Clause
        {
            get => PayloadCase == PayloadOneofCase.Clause ? _clause : null;
            set
            {
                if (value != null) _clause = value;
                if (value != null) PayloadCase = PayloadOneofCase.Clause;
                else if (PayloadCase == PayloadOneofCase.Clause) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>With TRACK_BODY, the second response: what the frames of the body mean.</summary>
        public BodyDescription? Body
        {
            get => PayloadCase == PayloadOneofCase.Body ? _body : null;
            set
            {
                if (value != null) _body = value;
                if (value != null) PayloadCase = PayloadOneofCase.Body;
                else if (PayloadCase == PayloadOneofCase.Body) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>
        /// With TRACK_BODY, the last response: how the body comes to rest after the text; its times go on from
        /// those of the clauses.
        /// </summary>
        public Motion? Motion
        {
            get => PayloadCase == PayloadOneofCase.Motion ? _motion : null;
            set
            {
                if (value != null) _motion = value;
                if (value != null) PayloadCase = PayloadOneofCase.Motion;
                else if (PayloadCase == PayloadOneofCase.Motion) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static AnimateTextResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new AnimateTextResponse();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            PayloadCase = PayloadOneofCase.None;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadMessage(OpenStarted());
                        break;
                    case 18:
                        reader.ReadMessage(OpenClause());
                        break;
                    case 26:
                        reader.ReadMessage(OpenBody());
                        break;
                    case 34:
                        reader.ReadMessage(OpenMotion());
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (PayloadCase == PayloadOneofCase.Started) size += 1 + WireSize.Message(_started!);
            if (PayloadCase == PayloadOneofCase.Clause) size += 1 + WireSize.Message(_clause!);
            if (PayloadCase == PayloadOneofCase.Body) size += 1 + WireSize.Message(_body!);
            if (PayloadCase == PayloadOneofCase.Motion) size += 1 + WireSize.Message(_motion!);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (PayloadCase == PayloadOneofCase.Started)
            {
                writer.WriteUInt32(10);
                writer.WriteMessage(_started!);
            }
            if (PayloadCase == PayloadOneofCase.Clause)
            {
                writer.WriteUInt32(18);
                writer.WriteMessage(_clause!);
            }
            if (PayloadCase == PayloadOneofCase.Body)
            {
                writer.WriteUInt32(26);
                writer.WriteMessage(_body!);
            }
            if (PayloadCase == PayloadOneofCase.Motion)
            {
                writer.WriteUInt32(34);
                writer.WriteMessage(_motion!);
            }
        }
    }

    /// <summary>A clause with its frames. Its times are on the clock of the text, whose zero is its first sample.</summary>
    public sealed class AnimatedClause : IMessage
    {
        /// <summary>The clause as it stands in the text.</summary>
        public string Text { get; set; } = "";

        /// <summary>Start, inclusive, in microseconds; the end of the clause before, or 0.</summary>
        public long StartUs { get; set; }

        /// <summary>End, exclusive, in microseconds.</summary>
        public long EndUs { get; set; }

        /// <summary>In order of time, each in [start_us, end_us).</summary>
        public MessageList<Frame> Frames { get; } = new MessageList<Frame>(() => new Frame());

        /// <summary>In order of time, covering [start_us, end_us).</summary>
        public MessageList<PhonemeTiming> Phonemes { get; } = new MessageList<PhonemeTiming>(() => new PhonemeTiming());

        /// <summary>With TRACK_BODY: in order of time, each in [start_us, end_us).</summary>
        public MessageList<BodyFrame> Body { get; } = new MessageList<BodyFrame>(() => new BodyFrame());

        /// <summary>With TRACK_CUES: in order of time, each beginning in [start_us, end_us).</summary>
        public MessageList<Cue> Cues { get; } = new MessageList<Cue>(() => new Cue());

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static AnimatedClause Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new AnimatedClause();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Text = "";
            StartUs = 0;
            EndUs = 0;
            Frames.Clear();
            Phonemes.Clear();
            Body.Clear();
            Cues.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        Text = reader.ReadString();
                        break;
                    case 16:
                        StartUs = reader.ReadInt64();
                        break;
                    case 24:
                        EndUs = reader.ReadInt64();
                        break;
                    case 34:
                        reader.ReadMessage(Frames.Add());
                        break;
                    case 42:
                        reader.ReadMessage(Phonemes.Add());
                        break;
                    case 50:
                        reader.ReadMessage(Body.Add());
                        break;
                    case 58:
                        reader.ReadMessage(Cues.Add());
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (!string.IsNullOrEmpty(Text)) size += 1 + WireSize.String(Text);
            if (StartUs != 0) size += 1 + WireSize.Int64(StartUs);
            if (EndUs != 0) size += 1 + WireSize.Int64(EndUs);
            foreach (var item in Frames) size += 1 + WireSize.Message(item);
            foreach (var item in Phonemes) size += 1 + WireSize.Message(item);
            foreach (var item in Body) size += 1 + WireSize.Message(item);
            foreach (var item in Cues) size += 1 + WireSize.Message(item);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(Text))
            {
                writer.WriteUInt32(10);
                writer.WriteString(Text);
            }
            if (StartUs != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt64(StartUs);
            }
            if (EndUs != 0)
            {
                writer.WriteUInt32(24);
                writer.WriteInt64(EndUs);
            }
            foreach (var item in Frames)
            {
                writer.WriteUInt32(34);
                writer.WriteMessage(item);
            }
            foreach (var item in Phonemes)
            {
                writer.WriteUInt32(42);
                writer.WriteMessage(item);
            }
            foreach (var item in Body)
            {
                writer.WriteUInt32(50);
                writer.WriteMessage(item);
            }
            foreach (var item in Cues)
            {
                writer.WriteUInt32(58);
                writer.WriteMessage(item);
            }
        }
    }

    /// <summary>Lips without a conversation.</summary>
    public static class AnimationService
    {
        /// <summary>
        /// For audio that comes from anywhere. First request is `config`, then audio; half-close ends the
        /// clip. `started` comes first.
        /// </summary>
        public static readonly Method<AnimateAudioRequest, AnimateAudioResponse> AnimateAudio =
            new Method<AnimateAudioRequest, AnimateAudioResponse>("/taoxr.v1.AnimationService/AnimateAudio", true, true, () => new AnimateAudioResponse());

        /// <summary>
        /// For a text, as the server's own voice would speak it; exact, clause by clause, without the audio
        /// (ConversationService.Say has both). `started` comes first.
        /// </summary>
        public static readonly Method<AnimateTextRequest, AnimateTextResponse> AnimateText =
            new Method<AnimateTextRequest, AnimateTextResponse>("/taoxr.v1.AnimationService/AnimateText", false, true, () => new AnimateTextResponse());
    }
}
