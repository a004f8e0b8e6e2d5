// Made by protos/generate_csharp.py from taoxr/v1/speech.proto: do not edit.
#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Protocol.V1
{
    /// <summary>A piece of the user's voice.</summary>
    public sealed class RecognizeRequest : IMessage
    {
        /// <summary>Which of the fields of Payload is set.</summary>
        public enum PayloadOneofCase
        {
            None = 0,
            Config = 1,
            Pcm = 2,
            EndOfUtterance = 3,
        }

        private RecognizeConfig? _config;

        private RecognizeConfig OpenConfig()
        {
            _config ??= new RecognizeConfig();
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

        private EndOfUtterance? _endOfUtterance;

        private EndOfUtterance OpenEndOfUtterance()
        {
            _endOfUtterance ??= new EndOfUtterance();
            if (!(PayloadCase == PayloadOneofCase.EndOfUtterance)) _endOfUtterance.Clear();
            PayloadCase = PayloadOneofCase.EndOfUtterance;
            return _endOfUtterance;
        }

        /// <summary>Which of them is set.</summary>
        public PayloadOneofCase PayloadCase { get; private set; }

        /// <summary>What is wanted; the first request, and only that.</summary>
        public RecognizeConfig? Config
        {
            get => PayloadCase == PayloadOneofCase.Config ? _config : null;
            set
            {
                if (value != null) _config = value;
                if (value != null) PayloadCase = PayloadOneofCase.Config;
                else if (PayloadCase == PayloadOneofCase.Config) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>Mono s16le PCM at RecognizeConfig.audio.sample_rate_hz; at most 256 KiB.</summary>
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

        /// <summary>Ends the utterance now.</summary>
        public EndOfUtterance? EndOfUtterance
        {
            get => PayloadCase == PayloadOneofCase.EndOfUtterance ? _endOfUtterance : null;
            set
            {
                if (value != null) _endOfUtterance = value;
                if (value != null) PayloadCase = PayloadOneofCase.EndOfUtterance;
                else if (PayloadCase == PayloadOneofCase.EndOfUtterance) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static RecognizeRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new RecognizeRequest();
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
                    case 26:
                        reader.ReadMessage(OpenEndOfUtterance());
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
            if (PayloadCase == PayloadOneofCase.EndOfUtterance) size += 1 + WireSize.Message(_endOfUtterance!);
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
            if (PayloadCase == PayloadOneofCase.EndOfUtterance)
            {
                writer.WriteUInt32(26);
                writer.WriteMessage(_endOfUtterance!);
            }
        }
    }

    /// <summary>What the client sends and wants.</summary>
    public sealed class RecognizeConfig : IMessage
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

        /// <summary>Format of RecognizeRequest.pcm.</summary>
        public AudioFormat? Audio
        {
            get => _hasAudio ? _audio : null;
            set
            {
                if (value != null) _audio = value;
                _hasAudio = value != null;
            }
        }

        /// <summary>Who ends an utterance: silence (hands-free) or only `end_of_utterance` (push-to-talk).</summary>
        public InputMode InputMode { get; set; }

        /// <summary>False: only final transcripts.</summary>
        public bool PartialTranscripts { get; set; }

        /// <summary>Silence that ends an utterance, in milliseconds, up to 5,000; 0 means the server's default.</summary>
        public int EndpointSilenceMs { get; set; }

        /// <summary>BCP 47 tag of the language, such as "en"; empty: a recogniser of many languages finds out.</summary>
        public string Language { get; set; } = "";

        /// <summary>True: final transcripts come with the times of their words.</summary>
        public bool WordTimes { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static RecognizeConfig Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new RecognizeConfig();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            _hasAudio = false;
            InputMode = (InputMode)0;
            PartialTranscripts = false;
            EndpointSilenceMs = 0;
            Language = "";
            WordTimes = false;
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
                    case 16:
                        InputMode = (InputMode)reader.ReadInt32();
                        break;
                    case 24:
                        PartialTranscripts = reader.ReadBool();
                        break;
                    case 32:
                        EndpointSilenceMs = reader.ReadInt32();
                        break;
                    case 42:
                        Language = reader.ReadString();
                        break;
                    case 48:
                        WordTimes = reader.ReadBool();
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
            if (InputMode != 0) size += 1 + WireSize.Int32((int)InputMode);
            if (PartialTranscripts) size += 1 + 1;
            if (EndpointSilenceMs != 0) size += 1 + WireSize.Int32(EndpointSilenceMs);
            if (!string.IsNullOrEmpty(Language)) size += 1 + WireSize.String(Language);
            if (WordTimes) size += 1 + 1;
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
            if (InputMode != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt32((int)InputMode);
            }
            if (PartialTranscripts)
            {
                writer.WriteUInt32(24);
                writer.WriteBool(PartialTranscripts);
            }
            if (EndpointSilenceMs != 0)
            {
                writer.WriteUInt32(32);
                writer.WriteInt32(EndpointSilenceMs);
            }
            if (!string.IsNullOrEmpty(Language))
            {
                writer.WriteUInt32(42);
                writer.WriteString(Language);
            }
            if (WordTimes)
            {
                writer.WriteUInt32(48);
                writer.WriteBool(WordTimes);
            }
        }
    }

    /// <summary>The speaker has finished.</summary>
    public sealed class EndOfUtterance : IMessage
    {
        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static EndOfUtterance Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new EndOfUtterance();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                reader.Skip(tag);
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
        }
    }

    /// <summary>Something was heard.</summary>
    public sealed class RecognizeResponse : IMessage
    {
        /// <summary>Which of the fields of Payload is set.</summary>
        public enum PayloadOneofCase
        {
            None = 0,
            Started = 1,
            SpeechActivity = 2,
            Transcript = 3,
        }

        private AudioFormat? _started;

        private AudioFormat OpenStarted()
        {
            _started ??= new AudioFormat();
            if (!(PayloadCase == PayloadOneofCase.Started)) _started.Clear();
            PayloadCase = PayloadOneofCase.Started;
            return _started;
        }

        private SpeechActivity? _speechActivity;

        private SpeechActivity OpenSpeechActivity()
        {
            _speechActivity ??= new SpeechActivity();
            if (!(PayloadCase == PayloadOneofCase.SpeechActivity)) _speechActivity.Clear();
            PayloadCase = PayloadOneofCase.SpeechActivity;
            return _speechActivity;
        }

        private Transcript? _transcript;

        private Transcript OpenTranscript()
        {
            _transcript ??= new Transcript();
            if (!(PayloadCase == PayloadOneofCase.Transcript)) _transcript.Clear();
            PayloadCase = PayloadOneofCase.Transcript;
            return _transcript;
        }

        /// <summary>Which of them is set.</summary>
        public PayloadOneofCase PayloadCase { get; private set; }

        /// <summary>Format that is heard; the first response, and only that.</summary>
        public AudioFormat? Started
        {
            get => PayloadCase == PayloadOneofCase.Started ? _started : null;
            set
            {
                if (value != null) _started = value;
                if (value != null) PayloadCase = PayloadOneofCase.Started;
                else if (PayloadCase == PayloadOneofCase.Started) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>Speech began or stopped.</summary>
        public SpeechActivity? SpeechActivity
        {
            get => PayloadCase == PayloadOneofCase.SpeechActivity ? _speechActivity : null;
            set
            {
                if (value != null) _speechActivity = value;
                if (value != null) PayloadCase = PayloadOneofCase.SpeechActivity;
                else if (PayloadCase == PayloadOneofCase.SpeechActivity) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>What was said.</summary>
        public Transcript? Transcript
        {
            get => PayloadCase == PayloadOneofCase.Transcript ? _transcript : null;
            set
            {
                if (value != null) _transcript = value;
                if (value != null) PayloadCase = PayloadOneofCase.Transcript;
                else if (PayloadCase == PayloadOneofCase.Transcript) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static RecognizeResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new RecognizeResponse();
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
                        reader.ReadMessage(OpenSpeechActivity());
                        break;
                    case 26:
                        reader.ReadMessage(OpenTranscript());
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
            if (PayloadCase == PayloadOneofCase.SpeechActivity) size += 1 + WireSize.Message(_speechActivity!);
            if (PayloadCase == PayloadOneofCase.Transcript) size += 1 + WireSize.Message(_transcript!);
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
            if (PayloadCase == PayloadOneofCase.SpeechActivity)
            {
                writer.WriteUInt32(18);
                writer.WriteMessage(_speechActivity!);
            }
            if (PayloadCase == PayloadOneofCase.Transcript)
            {
                writer.WriteUInt32(26);
                writer.WriteMessage(_transcript!);
            }
        }
    }

    /// <summary>What to say.</summary>
    public sealed class SynthesizeRequest : IMessage
    {
        /// <summary>1 to 4,000 characters, not only spaces.</summary>
        public string Text { get; set; } = "";

        /// <summary>Speaking rate, 0.5 to 2; 0 means 1, the voice's own.</summary>
        public float Speed { get; set; }

        /// <summary>Varies intonation and rhythm; the same request always gives the same speech.</summary>
        public uint Seed { get; set; }

        /// <summary>
        /// Name or number of the speaker, of a voice that has several; empty means number 0. INVALID_ARGUMENT
        /// lists them when there is no such speaker.
        /// </summary>
        public string Speaker { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static SynthesizeRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new SynthesizeRequest();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Text = "";
            Speed = 0;
            Seed = 0;
            Speaker = "";
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
                    case 21:
                        Speed = reader.ReadFloat();
                        break;
                    case 24:
                        Seed = reader.ReadUInt32();
                        break;
                    case 34:
                        Speaker = reader.ReadString();
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
            if (BitConverter.SingleToInt32Bits(Speed) != 0) size += 1 + 4;
            if (Seed != 0) size += 1 + WireSize.UInt32(Seed);
            if (!string.IsNullOrEmpty(Speaker)) size += 1 + WireSize.String(Speaker);
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
            if (BitConverter.SingleToInt32Bits(Speed) != 0)
            {
                writer.WriteUInt32(21);
                writer.WriteFloat(Speed);
            }
            if (Seed != 0)
            {
                writer.WriteUInt32(24);
                writer.WriteUInt32(Seed);
            }
            if (!string.IsNullOrEmpty(Speaker))
            {
                writer.WriteUInt32(34);
                writer.WriteString(Speaker);
            }
        }
    }

    /// <summary>A piece of the speech.</summary>
    public sealed class SynthesizeResponse : IMessage
    {
        /// <summary>Which of the fields of Payload is set.</summary>
        public enum PayloadOneofCase
        {
            None = 0,
            Started = 1,
            Chunk = 2,
        }

        private AudioFormat? _started;

        private AudioFormat OpenStarted()
        {
            _started ??= new AudioFormat();
            if (!(PayloadCase == PayloadOneofCase.Started)) _started.Clear();
            PayloadCase = PayloadOneofCase.Started;
            return _started;
        }

        private SpeechChunk? _chunk;

        private SpeechChunk OpenChunk()
        {
            _chunk ??= new SpeechChunk();
            if (!(PayloadCase == PayloadOneofCase.Chunk)) _chunk.Clear();
            PayloadCase = PayloadOneofCase.Chunk;
            return _chunk;
        }

        /// <summary>Which of them is set.</summary>
        public PayloadOneofCase PayloadCase { get; private set; }

        /// <summary>Format of the audio; the first response, and only that.</summary>
        public AudioFormat? Started
        {
            get => PayloadCase == PayloadOneofCase.Started ? _started : null;
            set
            {
                if (value != null) _started = value;
                if (value != null) PayloadCase = PayloadOneofCase.Started;
                else if (PayloadCase == PayloadOneofCase.Started) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The next span.</summary>
        public SpeechChunk? Chunk
        {
            get => PayloadCase == PayloadOneofCase.Chunk ? _chunk : null;
            set
            {
                if (value != null) _chunk = value;
                if (value != null) PayloadCase = PayloadOneofCase.Chunk;
                else if (PayloadCase == PayloadOneofCase.Chunk) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static SynthesizeResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new SynthesizeResponse();
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
                        reader.ReadMessage(OpenChunk());
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
            if (PayloadCase == PayloadOneofCase.Chunk) size += 1 + WireSize.Message(_chunk!);
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
            if (PayloadCase == PayloadOneofCase.Chunk)
            {
                writer.WriteUInt32(18);
                writer.WriteMessage(_chunk!);
            }
        }
    }

    /// <summary>A span of speech; spans follow each other without a gap.</summary>
    public sealed class SpeechChunk : IMessage
    {
        /// <summary>Start, in microseconds since the first sample.</summary>
        public long StartUs { get; set; }

        /// <summary>Mono s16le PCM.</summary>
        public ByteBuffer Pcm { get; } = new ByteBuffer();

        /// <summary>Text of the clause; only on its first chunk.</summary>
        public string ClauseText { get; set; } = "";

        /// <summary>Phonemes of the clause, in microseconds since the first sample of all; only on its first chunk.</summary>
        public MessageList<PhonemeTiming> Phonemes { get; } = new MessageList<PhonemeTiming>(() => new PhonemeTiming());

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static SpeechChunk Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new SpeechChunk();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            StartUs = 0;
            Pcm.Clear();
            ClauseText = "";
            Phonemes.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        StartUs = reader.ReadInt64();
                        break;
                    case 18:
                        reader.ReadBytes(Pcm);
                        break;
                    case 26:
                        ClauseText = reader.ReadString();
                        break;
                    case 34:
                        reader.ReadMessage(Phonemes.Add());
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
            if (StartUs != 0) size += 1 + WireSize.Int64(StartUs);
            if (Pcm.Length != 0) size += 1 + WireSize.Bytes(Pcm);
            if (!string.IsNullOrEmpty(ClauseText)) size += 1 + WireSize.String(ClauseText);
            foreach (var item in Phonemes) size += 1 + WireSize.Message(item);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (StartUs != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt64(StartUs);
            }
            if (Pcm.Length != 0)
            {
                writer.WriteUInt32(18);
                writer.WriteBytes(Pcm);
            }
            if (!string.IsNullOrEmpty(ClauseText))
            {
                writer.WriteUInt32(26);
                writer.WriteString(ClauseText);
            }
            foreach (var item in Phonemes)
            {
                writer.WriteUInt32(34);
                writer.WriteMessage(item);
            }
        }
    }

    /// <summary>The ear and the voice, without a conversation.</summary>
    public static class SpeechService
    {
        /// <summary>
        /// Speech to text. First request is `config`, then audio; half-close ends the stream, after the
        /// transcript of what was being said. `started` comes first.
        /// </summary>
        public static readonly Method<RecognizeRequest, RecognizeResponse> Recognize =
            new Method<RecognizeRequest, RecognizeResponse>("/taoxr.v1.SpeechService/Recognize", true, true, () => new RecognizeResponse());

        /// <summary>Text to speech, clause by clause, as fast as the client takes it. `started` comes first.</summary>
        public static readonly Method<SynthesizeRequest, SynthesizeResponse> Synthesize =
            new Method<SynthesizeRequest, SynthesizeResponse>("/taoxr.v1.SpeechService/Synthesize", false, true, () => new SynthesizeResponse());
    }
}
