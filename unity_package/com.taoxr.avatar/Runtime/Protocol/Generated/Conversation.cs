// Made by protos/generate_csharp.py from taoxr/v1/conversation.proto: do not edit.
#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Protocol.V1
{
    /// <summary>Who says when the user's turn is over.</summary>
    public enum InputMode
    {
        /// <summary>Treated as INPUT_MODE_HANDS_FREE.</summary>
        Unspecified = 0,
        /// <summary>The voice activity detector finds the end of the user's turn.</summary>
        HandsFree = 1,
        /// <summary>The user's turn ends with `end_of_user_turn`.</summary>
        PushToTalk = 2,
    }

    /// <summary>What a server can send beside the avatar's voice.</summary>
    public enum Track
    {
        /// <summary>Not valid.</summary>
        Unspecified = 0,
        /// <summary>MediaChunk.frames: the face.</summary>
        Face = 1,
        /// <summary>MediaChunk.body, and Motion between the turns.</summary>
        Body = 2,
        /// <summary>MediaChunk.cues.</summary>
        Cues = 3,
    }

    /// <summary>Something that a server may or may not do.</summary>
    public enum Capability
    {
        /// <summary>Never sent.</summary>
        Unspecified = 0,
        /// <summary>The conversation can be resumed.</summary>
        Resume = 1,
        /// <summary>The avatar may call ConversationConfig.tools.</summary>
        Tools = 2,
        /// <summary>The user's voice interrupts the avatar.</summary>
        BargeIn = 3,
    }

    /// <summary>One thing that the client says.</summary>
    public sealed class ConverseRequest : IMessage
    {
        /// <summary>Which of the fields of Payload is set.</summary>
        public enum PayloadOneofCase
        {
            None = 0,
            Config = 1,
            Audio = 2,
            Text = 3,
            Interrupt = 4,
            Playback = 5,
            EndOfUserTurn = 6,
            EndSession = 7,
            Mute = 8,
            UpdateConfig = 9,
            ToolResult = 10,
            Ping = 11,
            PlayAction = 12,
            LookAt = 13,
        }

        private ConversationConfig? _config;

        private ConversationConfig OpenConfig()
        {
            _config ??= new ConversationConfig();
            if (!(PayloadCase == PayloadOneofCase.Config)) _config.Clear();
            PayloadCase = PayloadOneofCase.Config;
            return _config;
        }

        private AudioInput? _audio;

        private AudioInput OpenAudio()
        {
            _audio ??= new AudioInput();
            if (!(PayloadCase == PayloadOneofCase.Audio)) _audio.Clear();
            PayloadCase = PayloadOneofCase.Audio;
            return _audio;
        }

        private TextInput? _text;

        private TextInput OpenText()
        {
            _text ??= new TextInput();
            if (!(PayloadCase == PayloadOneofCase.Text)) _text.Clear();
            PayloadCase = PayloadOneofCase.Text;
            return _text;
        }

        private Interrupt? _interrupt;

        private Interrupt OpenInterrupt()
        {
            _interrupt ??= new Interrupt();
            if (!(PayloadCase == PayloadOneofCase.Interrupt)) _interrupt.Clear();
            PayloadCase = PayloadOneofCase.Interrupt;
            return _interrupt;
        }

        private PlaybackReport? _playback;

        private PlaybackReport OpenPlayback()
        {
            _playback ??= new PlaybackReport();
            if (!(PayloadCase == PayloadOneofCase.Playback)) _playback.Clear();
            PayloadCase = PayloadOneofCase.Playback;
            return _playback;
        }

        private EndOfUserTurn? _endOfUserTurn;

        private EndOfUserTurn OpenEndOfUserTurn()
        {
            _endOfUserTurn ??= new EndOfUserTurn();
            if (!(PayloadCase == PayloadOneofCase.EndOfUserTurn)) _endOfUserTurn.Clear();
            PayloadCase = PayloadOneofCase.EndOfUserTurn;
            return _endOfUserTurn;
        }

        private EndSession? _endSession;

        private EndSession OpenEndSession()
        {
            _endSession ??= new EndSession();
            if (!(PayloadCase == PayloadOneofCase.EndSession)) _endSession.Clear();
            PayloadCase = PayloadOneofCase.EndSession;
            return _endSession;
        }

        private Mute? _mute;

        private Mute OpenMute()
        {
            _mute ??= new Mute();
            if (!(PayloadCase == PayloadOneofCase.Mute)) _mute.Clear();
            PayloadCase = PayloadOneofCase.Mute;
            return _mute;
        }

        private UpdateConfig? _updateConfig;

        private UpdateConfig OpenUpdateConfig()
        {
            _updateConfig ??= new UpdateConfig();
            if (!(PayloadCase == PayloadOneofCase.UpdateConfig)) _updateConfig.Clear();
            PayloadCase = PayloadOneofCase.UpdateConfig;
            return _updateConfig;
        }

        private ToolResult? _toolResult;

        private ToolResult OpenToolResult()
        {
            _toolResult ??= new ToolResult();
            if (!(PayloadCase == PayloadOneofCase.ToolResult)) _toolResult.Clear();
            PayloadCase = PayloadOneofCase.ToolResult;
            return _toolResult;
        }

        private Ping? _ping;

        private Ping OpenPing()
        {
            _ping ??= new Ping();
            if (!(PayloadCase == PayloadOneofCase.Ping)) _ping.Clear();
            PayloadCase = PayloadOneofCase.Ping;
            return _ping;
        }

        private PlayAction? _playAction;

        private PlayAction OpenPlayAction()
        {
            _playAction ??= new PlayAction();
            if (!(PayloadCase == PayloadOneofCase.PlayAction)) _playAction.Clear();
            PayloadCase = PayloadOneofCase.PlayAction;
            return _playAction;
        }

        private LookAt? _lookAt;

        private LookAt OpenLookAt()
        {
            _lookAt ??= new LookAt();
            if (!(PayloadCase == PayloadOneofCase.LookAt)) _lookAt.Clear();
            PayloadCase = PayloadOneofCase.LookAt;
            return _lookAt;
        }

        /// <summary>Which of them is set.</summary>
        public PayloadOneofCase PayloadCase { get; private set; }

        /// <summary>What is wanted; the first request, and only that.</summary>
        public ConversationConfig? Config
        {
            get => PayloadCase == PayloadOneofCase.Config ? _config : null;
            set
            {
                if (value != null) _config = value;
                if (value != null) PayloadCase = PayloadOneofCase.Config;
                else if (PayloadCase == PayloadOneofCase.Config) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The user's voice; needs ConversationConfig.audio_in.</summary>
        public AudioInput? Audio
        {
            get => PayloadCase == PayloadOneofCase.Audio ? _audio : null;
            set
            {
                if (value != null) _audio = value;
                if (value != null) PayloadCase = PayloadOneofCase.Audio;
                else if (PayloadCase == PayloadOneofCase.Audio) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The user's words, typed.</summary>
        public TextInput? Text
        {
            get => PayloadCase == PayloadOneofCase.Text ? _text : null;
            set
            {
                if (value != null) _text = value;
                if (value != null) PayloadCase = PayloadOneofCase.Text;
                else if (PayloadCase == PayloadOneofCase.Text) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The user wants the avatar to be quiet.</summary>
        public Interrupt? Interrupt
        {
            get => PayloadCase == PayloadOneofCase.Interrupt ? _interrupt : null;
            set
            {
                if (value != null) _interrupt = value;
                if (value != null) PayloadCase = PayloadOneofCase.Interrupt;
                else if (PayloadCase == PayloadOneofCase.Interrupt) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>How far playback has come.</summary>
        public PlaybackReport? Playback
        {
            get => PayloadCase == PayloadOneofCase.Playback ? _playback : null;
            set
            {
                if (value != null) _playback = value;
                if (value != null) PayloadCase = PayloadOneofCase.Playback;
                else if (PayloadCase == PayloadOneofCase.Playback) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The user has finished speaking (push-to-talk).</summary>
        public EndOfUserTurn? EndOfUserTurn
        {
            get => PayloadCase == PayloadOneofCase.EndOfUserTurn ? _endOfUserTurn : null;
            set
            {
                if (value != null) _endOfUserTurn = value;
                if (value != null) PayloadCase = PayloadOneofCase.EndOfUserTurn;
                else if (PayloadCase == PayloadOneofCase.EndOfUserTurn) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The conversation is over.</summary>
        public EndSession? EndSession
        {
            get => PayloadCase == PayloadOneofCase.EndSession ? _endSession : null;
            set
            {
                if (value != null) _endSession = value;
                if (value != null) PayloadCase = PayloadOneofCase.EndSession;
                else if (PayloadCase == PayloadOneofCase.EndSession) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The microphone is switched off or on.</summary>
        public Mute? Mute
        {
            get => PayloadCase == PayloadOneofCase.Mute ? _mute : null;
            set
            {
                if (value != null) _mute = value;
                if (value != null) PayloadCase = PayloadOneofCase.Mute;
                else if (PayloadCase == PayloadOneofCase.Mute) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>Other settings from the next turn on.</summary>
        public UpdateConfig? UpdateConfig
        {
            get => PayloadCase == PayloadOneofCase.UpdateConfig ? _updateConfig : null;
            set
            {
                if (value != null) _updateConfig = value;
                if (value != null) PayloadCase = PayloadOneofCase.UpdateConfig;
                else if (PayloadCase == PayloadOneofCase.UpdateConfig) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The answer to a ToolCall.</summary>
        public ToolResult? ToolResult
        {
            get => PayloadCase == PayloadOneofCase.ToolResult ? _toolResult : null;
            set
            {
                if (value != null) _toolResult = value;
                if (value != null) PayloadCase = PayloadOneofCase.ToolResult;
                else if (PayloadCase == PayloadOneofCase.ToolResult) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>Answered by Pong at once.</summary>
        public Ping? Ping
        {
            get => PayloadCase == PayloadOneofCase.Ping ? _ping : null;
            set
            {
                if (value != null) _ping = value;
                if (value != null) PayloadCase = PayloadOneofCase.Ping;
                else if (PayloadCase == PayloadOneofCase.Ping) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>A gesture, now.</summary>
        public PlayAction? PlayAction
        {
            get => PayloadCase == PayloadOneofCase.PlayAction ? _playAction : null;
            set
            {
                if (value != null) _playAction = value;
                if (value != null) PayloadCase = PayloadOneofCase.PlayAction;
                else if (PayloadCase == PayloadOneofCase.PlayAction) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>Where the avatar shall look.</summary>
        public LookAt? LookAt
        {
            get => PayloadCase == PayloadOneofCase.LookAt ? _lookAt : null;
            set
            {
                if (value != null) _lookAt = value;
                if (value != null) PayloadCase = PayloadOneofCase.LookAt;
                else if (PayloadCase == PayloadOneofCase.LookAt) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static ConverseRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new ConverseRequest();
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
                        reader.ReadMessage(OpenAudio());
                        break;
                    case 26:
                        reader.ReadMessage(OpenText());
                        break;
                    case 34:
                        reader.ReadMessage(OpenInterrupt());
                        break;
                    case 42:
                        reader.ReadMessage(OpenPlayback());
                        break;
                    case 50:
                        reader.ReadMessage(OpenEndOfUserTurn());
                        break;
                    case 58:
                        reader.ReadMessage(OpenEndSession());
                        break;
                    case 66:
                        reader.ReadMessage(OpenMute());
                        break;
                    case 74:
                        reader.ReadMessage(OpenUpdateConfig());
                        break;
                    case 82:
                        reader.ReadMessage(OpenToolResult());
                        break;
                    case 90:
                        reader.ReadMessage(OpenPing());
                        break;
                    case 98:
                        reader.ReadMessage(OpenPlayAction());
                        break;
                    case 106:
                        reader.ReadMessage(OpenLookAt());
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
            if (PayloadCase == PayloadOneofCase.Audio) size += 1 + WireSize.Message(_audio!);
            if (PayloadCase == PayloadOneofCase.Text) size += 1 + WireSize.Message(_text!);
            if (PayloadCase == PayloadOneofCase.Interrupt) size += 1 + WireSize.Message(_interrupt!);
            if (PayloadCase == PayloadOneofCase.Playback) size += 1 + WireSize.Message(_playback!);
            if (PayloadCase == PayloadOneofCase.EndOfUserTurn) size += 1 + WireSize.Message(_endOfUserTurn!);
            if (PayloadCase == PayloadOneofCase.EndSession) size += 1 + WireSize.Message(_endSession!);
            if (PayloadCase == PayloadOneofCase.Mute) size += 1 + WireSize.Message(_mute!);
            if (PayloadCase == PayloadOneofCase.UpdateConfig) size += 1 + WireSize.Message(_updateConfig!);
            if (PayloadCase == PayloadOneofCase.ToolResult) size += 1 + WireSize.Message(_toolResult!);
            if (PayloadCase == PayloadOneofCase.Ping) size += 1 + WireSize.Message(_ping!);
            if (PayloadCase == PayloadOneofCase.PlayAction) size += 1 + WireSize.Message(_playAction!);
            if (PayloadCase == PayloadOneofCase.LookAt) size += 1 + WireSize.Message(_lookAt!);
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
            if (PayloadCase == PayloadOneofCase.Audio)
            {
                writer.WriteUInt32(18);
                writer.WriteMessage(_audio!);
            }
            if (PayloadCase == PayloadOneofCase.Text)
            {
                writer.WriteUInt32(26);
                writer.WriteMessage(_text!);
            }
            if (PayloadCase == PayloadOneofCase.Interrupt)
            {
                writer.WriteUInt32(34);
                writer.WriteMessage(_interrupt!);
            }
            if (PayloadCase == PayloadOneofCase.Playback)
            {
                writer.WriteUInt32(42);
                writer.WriteMessage(_playback!);
            }
            if (PayloadCase == PayloadOneofCase.EndOfUserTurn)
            {
                writer.WriteUInt32(50);
                writer.WriteMessage(_endOfUserTurn!);
            }
            if (PayloadCase == PayloadOneofCase.EndSession)
            {
                writer.WriteUInt32(58);
                writer.WriteMessage(_endSession!);
            }
            if (PayloadCase == PayloadOneofCase.Mute)
            {
                writer.WriteUInt32(66);
                writer.WriteMessage(_mute!);
            }
            if (PayloadCase == PayloadOneofCase.UpdateConfig)
            {
                writer.WriteUInt32(74);
                writer.WriteMessage(_updateConfig!);
            }
            if (PayloadCase == PayloadOneofCase.ToolResult)
            {
                writer.WriteUInt32(82);
                writer.WriteMessage(_toolResult!);
            }
            if (PayloadCase == PayloadOneofCase.Ping)
            {
                writer.WriteUInt32(90);
                writer.WriteMessage(_ping!);
            }
            if (PayloadCase == PayloadOneofCase.PlayAction)
            {
                writer.WriteUInt32(98);
                writer.WriteMessage(_playAction!);
            }
            if (PayloadCase == PayloadOneofCase.LookAt)
            {
                writer.WriteUInt32(106);
                writer.WriteMessage(_lookAt!);
            }
        }
    }

    /// <summary>What the client wants of a conversation.</summary>
    public sealed class ConversationConfig : IMessage
    {
        private AudioFormat? _audioIn;
        private bool _hasAudioIn;

        private AudioFormat OpenAudioIn()
        {
            _audioIn ??= new AudioFormat();
            if (!(_hasAudioIn)) _audioIn.Clear();
            _hasAudioIn = true;
            return _audioIn;
        }

        private int TracksSize()
        {
            var size = 0;
            foreach (var value in Tracks.Span) size += WireSize.Int32((int)value);
            return size;
        }

        /// <summary>Format of AudioInput.pcm; absent when only text is sent.</summary>
        public AudioFormat? AudioIn
        {
            get => _hasAudioIn ? _audioIn : null;
            set
            {
                if (value != null) _audioIn = value;
                _hasAudioIn = value != null;
            }
        }

        /// <summary>Who says when the user's turn is over.</summary>
        public InputMode InputMode { get; set; }

        /// <summary>Replaces the default persona when not empty; at most 4,000 characters.</summary>
        public string SystemPrompt { get; set; } = "";

        /// <summary>Earlier turns, oldest first, as context: at most 200, of ROLE_USER and ROLE_ASSISTANT.</summary>
        public MessageList<ChatMessage> History { get; } = new MessageList<ChatMessage>(() => new ChatMessage());

        /// <summary>Frames per second wanted; 0 means the default of 30. Accepted: 10 to 120.</summary>
        public double FrameRate { get; set; }

        /// <summary>Coefficient space the client's rig takes; empty means arkit52.</summary>
        public string Space { get; set; } = "";

        /// <summary>Most tokens in an answer, 1 to 1024; 0 means the server's default.</summary>
        public int MaxAnswerTokens { get; set; }

        /// <summary>Seed of the sampler; 0 means a fixed default, so that runs repeat.</summary>
        public long Seed { get; set; }

        /// <summary>Sampling temperature, 0 to 2; 0 is greedy; absent means the server's default.</summary>
        public float? Temperature { get; set; }

        /// <summary>False: no partial transcripts.</summary>
        public bool PartialTranscripts { get; set; }

        /// <summary>
        /// SessionStarted.resume_token of a conversation whose connection was lost (or whose bridge was
        /// restarted): it goes on with its history. `history` and `system_prompt` must then be empty.
        /// NOT_FOUND when that conversation is unknown or was lost too long ago; empty begins a new one.
        /// </summary>
        public string ResumeToken { get; set; } = "";

        /// <summary>Functions of the client that the avatar may call: at most 16, with different names.</summary>
        public MessageList<Tool> Tools { get; } = new MessageList<Tool>(() => new Tool());

        /// <summary>True: the client cancels echo by itself, so that the avatar's voice is not in `audio`.</summary>
        public bool EchoCancelled { get; set; }

        /// <summary>What is sent beside the voice; none means TRACK_FACE alone.</summary>
        public ValueList<Track> Tracks { get; } = new ValueList<Track>();

        /// <summary>
        /// How long the client may take to answer a ToolCall, in microseconds; 0 means the default of 10 s.
        /// Accepted: 100,000 to 120,000,000.
        /// </summary>
        public long ToolTimeoutUs { get; set; }

        /// <summary>Speaking rate, 0.5 to 2; 0 means 1, the voice's own.</summary>
        public float Speed { get; set; }

        /// <summary>Name or number of the speaker, of a voice that has several; empty means number 0.</summary>
        public string Speaker { get; set; } = "";

        /// <summary>Varies intonation and rhythm of the voice.</summary>
        public uint VoiceSeed { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static ConversationConfig Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new ConversationConfig();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            _hasAudioIn = false;
            InputMode = (InputMode)0;
            SystemPrompt = "";
            History.Clear();
            FrameRate = 0;
            Space = "";
            MaxAnswerTokens = 0;
            Seed = 0;
            Temperature = null;
            PartialTranscripts = false;
            ResumeToken = "";
            Tools.Clear();
            EchoCancelled = false;
            Tracks.Clear();
            ToolTimeoutUs = 0;
            Speed = 0;
            Speaker = "";
            VoiceSeed = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadMessage(OpenAudioIn());
                        break;
                    case 16:
                        InputMode = (InputMode)reader.ReadInt32();
                        break;
                    case 26:
                        SystemPrompt = reader.ReadString();
                        break;
                    case 34:
                        reader.ReadMessage(History.Add());
                        break;
                    case 41:
                        FrameRate = reader.ReadDouble();
                        break;
                    case 50:
                        Space = reader.ReadString();
                        break;
                    case 56:
                        MaxAnswerTokens = reader.ReadInt32();
                        break;
                    case 64:
                        Seed = reader.ReadInt64();
                        break;
                    case 77:
                        Temperature = reader.ReadFloat();
                        break;
                    case 80:
                        PartialTranscripts = reader.ReadBool();
                        break;
                    case 90:
                        ResumeToken = reader.ReadString();
                        break;
                    case 98:
                        reader.ReadMessage(Tools.Add());
                        break;
                    case 104:
                        EchoCancelled = reader.ReadBool();
                        break;
                    case 112:
                        Tracks.Add((Track)reader.ReadInt32());
                        break;
                    case 114:
                        var tracksEnd = reader.EnterPacked();
                        while (reader.InPacked(tracksEnd)) Tracks.Add((Track)reader.ReadInt32());
                        break;
                    case 120:
                        ToolTimeoutUs = reader.ReadInt64();
                        break;
                    case 133:
                        Speed = reader.ReadFloat();
                        break;
                    case 138:
                        Speaker = reader.ReadString();
                        break;
                    case 144:
                        VoiceSeed = reader.ReadUInt32();
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
            if (_hasAudioIn) size += 1 + WireSize.Message(_audioIn!);
            if (InputMode != 0) size += 1 + WireSize.Int32((int)InputMode);
            if (!string.IsNullOrEmpty(SystemPrompt)) size += 1 + WireSize.String(SystemPrompt);
            foreach (var item in History) size += 1 + WireSize.Message(item);
            if (BitConverter.DoubleToInt64Bits(FrameRate) != 0) size += 1 + 8;
            if (!string.IsNullOrEmpty(Space)) size += 1 + WireSize.String(Space);
            if (MaxAnswerTokens != 0) size += 1 + WireSize.Int32(MaxAnswerTokens);
            if (Seed != 0) size += 1 + WireSize.Int64(Seed);
            if (Temperature != null) size += 1 + 4;
            if (PartialTranscripts) size += 1 + 1;
            if (!string.IsNullOrEmpty(ResumeToken)) size += 1 + WireSize.String(ResumeToken);
            foreach (var item in Tools) size += 1 + WireSize.Message(item);
            if (EchoCancelled) size += 1 + 1;
            if (Tracks.Count != 0) size += 1 + WireSize.Delimited(TracksSize());
            if (ToolTimeoutUs != 0) size += 1 + WireSize.Int64(ToolTimeoutUs);
            if (BitConverter.SingleToInt32Bits(Speed) != 0) size += 2 + 4;
            if (!string.IsNullOrEmpty(Speaker)) size += 2 + WireSize.String(Speaker);
            if (VoiceSeed != 0) size += 2 + WireSize.UInt32(VoiceSeed);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (_hasAudioIn)
            {
                writer.WriteUInt32(10);
                writer.WriteMessage(_audioIn!);
            }
            if (InputMode != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt32((int)InputMode);
            }
            if (!string.IsNullOrEmpty(SystemPrompt))
            {
                writer.WriteUInt32(26);
                writer.WriteString(SystemPrompt);
            }
            foreach (var item in History)
            {
                writer.WriteUInt32(34);
                writer.WriteMessage(item);
            }
            if (BitConverter.DoubleToInt64Bits(FrameRate) != 0)
            {
                writer.WriteUInt32(41);
                writer.WriteDouble(FrameRate);
            }
            if (!string.IsNullOrEmpty(Space))
            {
                writer.WriteUInt32(50);
                writer.WriteString(Space);
            }
            if (MaxAnswerTokens != 0)
            {
                writer.WriteUInt32(56);
                writer.WriteInt32(MaxAnswerTokens);
            }
            if (Seed != 0)
            {
                writer.WriteUInt32(64);
                writer.WriteInt64(Seed);
            }
            if (Temperature != null)
            {
                writer.WriteUInt32(77);
                writer.WriteFloat(Temperature.Value);
            }
            if (PartialTranscripts)
            {
                writer.WriteUInt32(80);
                writer.WriteBool(PartialTranscripts);
            }
            if (!string.IsNullOrEmpty(ResumeToken))
            {
                writer.WriteUInt32(90);
                writer.WriteString(ResumeToken);
            }
            foreach (var item in Tools)
            {
                writer.WriteUInt32(98);
                writer.WriteMessage(item);
            }
            if (EchoCancelled)
            {
                writer.WriteUInt32(104);
                writer.WriteBool(EchoCancelled);
            }
            if (Tracks.Count != 0)
            {
                writer.WriteUInt32(114);
                writer.WriteInt32(TracksSize());
                foreach (var value in Tracks.Span) writer.WriteInt32((int)value);
            }
            if (ToolTimeoutUs != 0)
            {
                writer.WriteUInt32(120);
                writer.WriteInt64(ToolTimeoutUs);
            }
            if (BitConverter.SingleToInt32Bits(Speed) != 0)
            {
                writer.WriteUInt32(133);
                writer.WriteFloat(Speed);
            }
            if (!string.IsNullOrEmpty(Speaker))
            {
                writer.WriteUInt32(138);
                writer.WriteString(Speaker);
            }
            if (VoiceSeed != 0)
            {
                writer.WriteUInt32(144);
                writer.WriteUInt32(VoiceSeed);
            }
        }
    }

    /// <summary>A piece of the user's voice.</summary>
    public sealed class AudioInput : IMessage
    {
        /// <summary>Mono s16le PCM at ConversationConfig.audio_in.sample_rate_hz; at most 256 KiB.</summary>
        public ByteBuffer Pcm { get; } = new ByteBuffer();

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static AudioInput Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new AudioInput();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Pcm.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadBytes(Pcm);
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
            if (Pcm.Length != 0) size += 1 + WireSize.Bytes(Pcm);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Pcm.Length != 0)
            {
                writer.WriteUInt32(10);
                writer.WriteBytes(Pcm);
            }
        }
    }

    /// <summary>What the user says, typed.</summary>
    public sealed class TextInput : IMessage
    {
        /// <summary>1 to 4,000 characters, not only spaces.</summary>
        public string Text { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static TextInput Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new TextInput();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Text = "";
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
        }
    }

    /// <summary>Stops the avatar's answer.</summary>
    public sealed class Interrupt : IMessage
    {
        /// <summary>Turn to stop; empty means the current one.</summary>
        public string TurnId { get; set; } = "";

        /// <summary>How much of the turn was heard, in microseconds on its media clock; 0 or more.</summary>
        public long PlayedUs { get; set; }

        /// <summary>
        /// Forget the turn: neither what the user said, nor what was heard of the answer, nor what tools did for it is told to the
        /// language model later or kept for a resumed conversation. For words that were not meant for the avatar.
        /// </summary>
        public bool Forget { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Interrupt Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Interrupt();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            TurnId = "";
            PlayedUs = 0;
            Forget = false;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        TurnId = reader.ReadString();
                        break;
                    case 16:
                        PlayedUs = reader.ReadInt64();
                        break;
                    case 24:
                        Forget = reader.ReadBool();
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
            if (!string.IsNullOrEmpty(TurnId)) size += 1 + WireSize.String(TurnId);
            if (PlayedUs != 0) size += 1 + WireSize.Int64(PlayedUs);
            if (Forget) size += 1 + 1;
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(TurnId))
            {
                writer.WriteUInt32(10);
                writer.WriteString(TurnId);
            }
            if (PlayedUs != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt64(PlayedUs);
            }
            if (Forget)
            {
                writer.WriteUInt32(24);
                writer.WriteBool(Forget);
            }
        }
    }

    /// <summary>How far playback has come. The server stays at most about 1.2 s of media ahead of it.</summary>
    public sealed class PlaybackReport : IMessage
    {
        /// <summary>Turn that plays; a report about another turn than the current one is ignored.</summary>
        public string TurnId { get; set; } = "";

        /// <summary>Heard so far, in microseconds on the turn's media clock; 0 or more.</summary>
        public long PlayedUs { get; set; }

        /// <summary>Times playback ran dry since the turn started; 0 or more.</summary>
        public int Underruns { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static PlaybackReport Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new PlaybackReport();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            TurnId = "";
            PlayedUs = 0;
            Underruns = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        TurnId = reader.ReadString();
                        break;
                    case 16:
                        PlayedUs = reader.ReadInt64();
                        break;
                    case 24:
                        Underruns = reader.ReadInt32();
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
            if (!string.IsNullOrEmpty(TurnId)) size += 1 + WireSize.String(TurnId);
            if (PlayedUs != 0) size += 1 + WireSize.Int64(PlayedUs);
            if (Underruns != 0) size += 1 + WireSize.Int32(Underruns);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(TurnId))
            {
                writer.WriteUInt32(10);
                writer.WriteString(TurnId);
            }
            if (PlayedUs != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt64(PlayedUs);
            }
            if (Underruns != 0)
            {
                writer.WriteUInt32(24);
                writer.WriteInt32(Underruns);
            }
        }
    }

    /// <summary>The user has finished speaking (push-to-talk).</summary>
    public sealed class EndOfUserTurn : IMessage
    {
        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static EndOfUserTurn Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new EndOfUserTurn();
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

    /// <summary>The conversation is over and cannot be resumed; what the avatar still says is dropped.</summary>
    public sealed class EndSession : IMessage
    {
        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static EndSession Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new EndSession();
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

    /// <summary>Switches the microphone off or on.</summary>
    public sealed class Mute : IMessage
    {
        /// <summary>True: audio that comes counts as silence, so what the user was saying ends here.</summary>
        public bool Muted { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Mute Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Mute();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Muted = false;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        Muted = reader.ReadBool();
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
            if (Muted) size += 1 + 1;
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Muted)
            {
                writer.WriteUInt32(8);
                writer.WriteBool(Muted);
            }
        }
    }

    /// <summary>Changes settings from the next turn on; what is absent stays.</summary>
    public sealed class UpdateConfig : IMessage
    {
        /// <summary>As in ConversationConfig; empty means the default persona.</summary>
        public string? SystemPrompt { get; set; }

        /// <summary>As in ConversationConfig.</summary>
        public int? MaxAnswerTokens { get; set; }

        /// <summary>As in ConversationConfig.</summary>
        public float? Temperature { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static UpdateConfig Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new UpdateConfig();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            SystemPrompt = null;
            MaxAnswerTokens = null;
            Temperature = null;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        SystemPrompt = reader.ReadString();
                        break;
                    case 16:
                        MaxAnswerTokens = reader.ReadInt32();
                        break;
                    case 29:
                        Temperature = reader.ReadFloat();
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
            if (SystemPrompt != null) size += 1 + WireSize.String(SystemPrompt);
            if (MaxAnswerTokens != null) size += 1 + WireSize.Int32(MaxAnswerTokens.Value);
            if (Temperature != null) size += 1 + 4;
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (SystemPrompt != null)
            {
                writer.WriteUInt32(10);
                writer.WriteString(SystemPrompt);
            }
            if (MaxAnswerTokens != null)
            {
                writer.WriteUInt32(16);
                writer.WriteInt32(MaxAnswerTokens.Value);
            }
            if (Temperature != null)
            {
                writer.WriteUInt32(29);
                writer.WriteFloat(Temperature.Value);
            }
        }
    }

    /// <summary>Asks for a Pong, to measure the round trip; also counts as a sign of life.</summary>
    public sealed class Ping : IMessage
    {
        /// <summary>Any clock of the client, in microseconds; comes back unchanged.</summary>
        public long ClientTimeUs { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Ping Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Ping();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            ClientTimeUs = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        ClientTimeUs = reader.ReadInt64();
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
            if (ClientTimeUs != 0) size += 1 + WireSize.Int64(ClientTimeUs);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (ClientTimeUs != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt64(ClientTimeUs);
            }
        }
    }

    /// <summary>One thing that the server says.</summary>
    public sealed class ConverseResponse : IMessage
    {
        /// <summary>Which of the fields of Payload is set.</summary>
        public enum PayloadOneofCase
        {
            None = 0,
            SessionStarted = 4,
            SpeechActivity = 5,
            Transcript = 6,
            Turn = 7,
            TextDelta = 8,
            Media = 9,
            Metrics = 10,
            Notice = 11,
            ToolCall = 12,
            GoingAway = 13,
            Pong = 14,
            Motion = 15,
        }

        private SessionStarted? _sessionStarted;

        private SessionStarted OpenSessionStarted()
        {
            _sessionStarted ??= new SessionStarted();
            if (!(PayloadCase == PayloadOneofCase.SessionStarted)) _sessionStarted.Clear();
            PayloadCase = PayloadOneofCase.SessionStarted;
            return _sessionStarted;
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

        private TurnState? _turn;

        private TurnState OpenTurn()
        {
            _turn ??= new TurnState();
            if (!(PayloadCase == PayloadOneofCase.Turn)) _turn.Clear();
            PayloadCase = PayloadOneofCase.Turn;
            return _turn;
        }

        private TextDelta? _textDelta;

        private TextDelta OpenTextDelta()
        {
            _textDelta ??= new TextDelta();
            if (!(PayloadCase == PayloadOneofCase.TextDelta)) _textDelta.Clear();
            PayloadCase = PayloadOneofCase.TextDelta;
            return _textDelta;
        }

        private MediaChunk? _media;

        private MediaChunk OpenMedia()
        {
            _media ??= new MediaChunk();
            if (!(PayloadCase == PayloadOneofCase.Media)) _media.Clear();
            PayloadCase = PayloadOneofCase.Media;
            return _media;
        }

        private TurnMetrics? _metrics;

        private TurnMetrics OpenMetrics()
        {
            _metrics ??= new TurnMetrics();
            if (!(PayloadCase == PayloadOneofCase.Metrics)) _metrics.Clear();
            PayloadCase = PayloadOneofCase.Metrics;
            return _metrics;
        }

        private Taoxr.Protocol.Rpc.Status? _notice;

        private Taoxr.Protocol.Rpc.Status OpenNotice()
        {
            _notice ??= new Taoxr.Protocol.Rpc.Status();
            if (!(PayloadCase == PayloadOneofCase.Notice)) _notice.Clear();
            PayloadCase = PayloadOneofCase.Notice;
            return _notice;
        }

        private ToolCall? _toolCall;

        private ToolCall OpenToolCall()
        {
            _toolCall ??= new ToolCall();
            if (!(PayloadCase == PayloadOneofCase.ToolCall)) _toolCall.Clear();
            PayloadCase = PayloadOneofCase.ToolCall;
            return _toolCall;
        }

        private GoingAway? _goingAway;

        private GoingAway OpenGoingAway()
        {
            _goingAway ??= new GoingAway();
            if (!(PayloadCase == PayloadOneofCase.GoingAway)) _goingAway.Clear();
            PayloadCase = PayloadOneofCase.GoingAway;
            return _goingAway;
        }

        private Pong? _pong;

        private Pong OpenPong()
        {
            _pong ??= new Pong();
            if (!(PayloadCase == PayloadOneofCase.Pong)) _pong.Clear();
            PayloadCase = PayloadOneofCase.Pong;
            return _pong;
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

        /// <summary>Grows by one per message of the stream; the first is 1.</summary>
        public long Seq { get; set; }

        /// <summary>Turn this belongs to; empty outside a turn.</summary>
        public string TurnId { get; set; } = "";

        /// <summary>Grows with every interruption. Drop anything with an epoch lower than the highest seen.</summary>
        public long Epoch { get; set; }

        /// <summary>What was negotiated; the first response, and only that.</summary>
        public SessionStarted? SessionStarted
        {
            get => PayloadCase == PayloadOneofCase.SessionStarted ? _sessionStarted : null;
            set
            {
                if (value != null) _sessionStarted = value;
                if (value != null) PayloadCase = PayloadOneofCase.SessionStarted;
                else if (PayloadCase == PayloadOneofCase.SessionStarted) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The user began or stopped speaking.</summary>
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

        /// <summary>What the user said.</summary>
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

        /// <summary>The turn came to another state.</summary>
        public TurnState? Turn
        {
            get => PayloadCase == PayloadOneofCase.Turn ? _turn : null;
            set
            {
                if (value != null) _turn = value;
                if (value != null) PayloadCase = PayloadOneofCase.Turn;
                else if (PayloadCase == PayloadOneofCase.Turn) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>More text of the answer.</summary>
        public TextDelta? TextDelta
        {
            get => PayloadCase == PayloadOneofCase.TextDelta ? _textDelta : null;
            set
            {
                if (value != null) _textDelta = value;
                if (value != null) PayloadCase = PayloadOneofCase.TextDelta;
                else if (PayloadCase == PayloadOneofCase.TextDelta) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>More of the answer's speech, with its frames.</summary>
        public MediaChunk? Media
        {
            get => PayloadCase == PayloadOneofCase.Media ? _media : null;
            set
            {
                if (value != null) _media = value;
                if (value != null) PayloadCase = PayloadOneofCase.Media;
                else if (PayloadCase == PayloadOneofCase.Media) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>How long the stages of the turn took.</summary>
        public TurnMetrics? Metrics
        {
            get => PayloadCase == PayloadOneofCase.Metrics ? _metrics : null;
            set
            {
                if (value != null) _metrics = value;
                if (value != null) PayloadCase = PayloadOneofCase.Metrics;
                else if (PayloadCase == PayloadOneofCase.Metrics) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>Something recoverable went wrong; the stream stays.</summary>
        public Taoxr.Protocol.Rpc.Status? Notice
        {
            get => PayloadCase == PayloadOneofCase.Notice ? _notice : null;
            set
            {
                if (value != null) _notice = value;
                if (value != null) PayloadCase = PayloadOneofCase.Notice;
                else if (PayloadCase == PayloadOneofCase.Notice) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The avatar wants something from a tool of the client before it goes on.</summary>
        public ToolCall? ToolCall
        {
            get => PayloadCase == PayloadOneofCase.ToolCall ? _toolCall : null;
            set
            {
                if (value != null) _toolCall = value;
                if (value != null) PayloadCase = PayloadOneofCase.ToolCall;
                else if (PayloadCase == PayloadOneofCase.ToolCall) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The server will end the stream.</summary>
        public GoingAway? GoingAway
        {
            get => PayloadCase == PayloadOneofCase.GoingAway ? _goingAway : null;
            set
            {
                if (value != null) _goingAway = value;
                if (value != null) PayloadCase = PayloadOneofCase.GoingAway;
                else if (PayloadCase == PayloadOneofCase.GoingAway) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>Answer to a Ping.</summary>
        public Pong? Pong
        {
            get => PayloadCase == PayloadOneofCase.Pong ? _pong : null;
            set
            {
                if (value != null) _pong = value;
                if (value != null) PayloadCase = PayloadOneofCase.Pong;
                else if (PayloadCase == PayloadOneofCase.Pong) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>How the body moves while nothing is said.</summary>
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
        public static ConverseResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new ConverseResponse();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Seq = 0;
            TurnId = "";
            Epoch = 0;
            PayloadCase = PayloadOneofCase.None;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        Seq = reader.ReadInt64();
                        break;
                    case 18:
                        TurnId = reader.ReadString();
                        break;
                    case 24:
                        Epoch = reader.ReadInt64();
                        break;
                    case 34:
                        reader.ReadMessage(OpenSessionStarted());
                        break;
                    case 42:
                        reader.ReadMessage(OpenSpeechActivity());
                        break;
                    case 50:
                        reader.ReadMessage(OpenTranscript());
                        break;
                    case 58:
                        reader.ReadMessage(OpenTurn());
                        break;
                    case 66:
                        reader.ReadMessage(OpenTextDelta());
                        break;
                    case 74:
                        reader.ReadMessage(OpenMedia());
                        break;
                    case 82:
                        reader.ReadMessage(OpenMetrics());
                        break;
                    case 90:
                        reader.ReadMessage(OpenNotice());
                        break;
                    case 98:
                        reader.ReadMessage(OpenToolCall());
                        break;
                    case 106:
                        reader.ReadMessage(OpenGoingAway());
                        break;
                    case 114:
                        reader.ReadMessage(OpenPong());
                        break;
                    case 122:
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
            if (Seq != 0) size += 1 + WireSize.Int64(Seq);
            if (!string.IsNullOrEmpty(TurnId)) size += 1 + WireSize.String(TurnId);
            if (Epoch != 0) size += 1 + WireSize.Int64(Epoch);
            if (PayloadCase == PayloadOneofCase.SessionStarted) size += 1 + WireSize.Message(_sessionStarted!);
            if (PayloadCase == PayloadOneofCase.SpeechActivity) size += 1 + WireSize.Message(_speechActivity!);
            if (PayloadCase == PayloadOneofCase.Transcript) size += 1 + WireSize.Message(_transcript!);
            if (PayloadCase == PayloadOneofCase.Turn) size += 1 + WireSize.Message(_turn!);
            if (PayloadCase == PayloadOneofCase.TextDelta) size += 1 + WireSize.Message(_textDelta!);
            if (PayloadCase == PayloadOneofCase.Media) size += 1 + WireSize.Message(_media!);
            if (PayloadCase == PayloadOneofCase.Metrics) size += 1 + WireSize.Message(_metrics!);
            if (PayloadCase == PayloadOneofCase.Notice) size += 1 + WireSize.Message(_notice!);
            if (PayloadCase == PayloadOneofCase.ToolCall) size += 1 + WireSize.Message(_toolCall!);
            if (PayloadCase == PayloadOneofCase.GoingAway) size += 1 + WireSize.Message(_goingAway!);
            if (PayloadCase == PayloadOneofCase.Pong) size += 1 + WireSize.Message(_pong!);
            if (PayloadCase == PayloadOneofCase.Motion) size += 1 + WireSize.Message(_motion!);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Seq != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt64(Seq);
            }
            if (!string.IsNullOrEmpty(TurnId))
            {
                writer.WriteUInt32(18);
                writer.WriteString(TurnId);
            }
            if (Epoch != 0)
            {
                writer.WriteUInt32(24);
                writer.WriteInt64(Epoch);
            }
            if (PayloadCase == PayloadOneofCase.SessionStarted)
            {
                writer.WriteUInt32(34);
                writer.WriteMessage(_sessionStarted!);
            }
            if (PayloadCase == PayloadOneofCase.SpeechActivity)
            {
                writer.WriteUInt32(42);
                writer.WriteMessage(_speechActivity!);
            }
            if (PayloadCase == PayloadOneofCase.Transcript)
            {
                writer.WriteUInt32(50);
                writer.WriteMessage(_transcript!);
            }
            if (PayloadCase == PayloadOneofCase.Turn)
            {
                writer.WriteUInt32(58);
                writer.WriteMessage(_turn!);
            }
            if (PayloadCase == PayloadOneofCase.TextDelta)
            {
                writer.WriteUInt32(66);
                writer.WriteMessage(_textDelta!);
            }
            if (PayloadCase == PayloadOneofCase.Media)
            {
                writer.WriteUInt32(74);
                writer.WriteMessage(_media!);
            }
            if (PayloadCase == PayloadOneofCase.Metrics)
            {
                writer.WriteUInt32(82);
                writer.WriteMessage(_metrics!);
            }
            if (PayloadCase == PayloadOneofCase.Notice)
            {
                writer.WriteUInt32(90);
                writer.WriteMessage(_notice!);
            }
            if (PayloadCase == PayloadOneofCase.ToolCall)
            {
                writer.WriteUInt32(98);
                writer.WriteMessage(_toolCall!);
            }
            if (PayloadCase == PayloadOneofCase.GoingAway)
            {
                writer.WriteUInt32(106);
                writer.WriteMessage(_goingAway!);
            }
            if (PayloadCase == PayloadOneofCase.Pong)
            {
                writer.WriteUInt32(114);
                writer.WriteMessage(_pong!);
            }
            if (PayloadCase == PayloadOneofCase.Motion)
            {
                writer.WriteUInt32(122);
                writer.WriteMessage(_motion!);
            }
        }
    }

    /// <summary>What was negotiated.</summary>
    public sealed class SessionStarted : IMessage
    {
        private AudioFormat? _audioIn;
        private bool _hasAudioIn;

        private AudioFormat OpenAudioIn()
        {
            _audioIn ??= new AudioFormat();
            if (!(_hasAudioIn)) _audioIn.Clear();
            _hasAudioIn = true;
            return _audioIn;
        }

        private AudioFormat? _audioOut;
        private bool _hasAudioOut;

        private AudioFormat OpenAudioOut()
        {
            _audioOut ??= new AudioFormat();
            if (!(_hasAudioOut)) _audioOut.Clear();
            _hasAudioOut = true;
            return _audioOut;
        }

        private RigDescription? _rig;
        private bool _hasRig;

        private RigDescription OpenRig()
        {
            _rig ??= new RigDescription();
            if (!(_hasRig)) _rig.Clear();
            _hasRig = true;
            return _rig;
        }

        private LostTurn? _lostTurn;
        private bool _hasLostTurn;

        private LostTurn OpenLostTurn()
        {
            _lostTurn ??= new LostTurn();
            if (!(_hasLostTurn)) _lostTurn.Clear();
            _hasLostTurn = true;
            return _lostTurn;
        }

        private int CapabilitiesSize()
        {
            var size = 0;
            foreach (var value in Capabilities.Span) size += WireSize.Int32((int)value);
            return size;
        }

        private BodyDescription? _body;
        private bool _hasBody;

        private BodyDescription OpenBody()
        {
            _body ??= new BodyDescription();
            if (!(_hasBody)) _body.Clear();
            _hasBody = true;
            return _body;
        }

        private int TracksSize()
        {
            var size = 0;
            foreach (var value in Tracks.Span) size += WireSize.Int32((int)value);
            return size;
        }

        /// <summary>Name of the conversation, in logs and for Watch.</summary>
        public string SessionId { get; set; } = "";

        /// <summary>Format of the user's audio; absent when the conversation takes text only.</summary>
        public AudioFormat? AudioIn
        {
            get => _hasAudioIn ? _audioIn : null;
            set
            {
                if (value != null) _audioIn = value;
                _hasAudioIn = value != null;
            }
        }

        /// <summary>Format of the avatar's audio.</summary>
        public AudioFormat? AudioOut
        {
            get => _hasAudioOut ? _audioOut : null;
            set
            {
                if (value != null) _audioOut = value;
                _hasAudioOut = value != null;
            }
        }

        /// <summary>What the numbers in the frames mean.</summary>
        public RigDescription? Rig
        {
            get => _hasRig ? _rig : null;
            set
            {
                if (value != null) _rig = value;
                _hasRig = value != null;
            }
        }

        /// <summary>How far ahead of playback the server sends, in microseconds; more than 0.</summary>
        public long LeadUs { get; set; }

        /// <summary>
        /// Secret with which the conversation can be resumed (ConversationConfig.resume_token); it stays the
        /// same when it is. Empty for watchers, and when this server keeps no journal.
        /// </summary>
        public string ResumeToken { get; set; } = "";

        /// <summary>How long after the connection is lost that works, in microseconds; 0 without a token.</summary>
        public long ResumeWindowUs { get; set; }

        /// <summary>True when the conversation was resumed. Turn ids and the epoch go on; `seq` begins again at 1.</summary>
        public bool Resumed { get; set; }

        /// <summary>The turn that the loss of the connection broke off; absent when there was none.</summary>
        public LostTurn? LostTurn
        {
            get => _hasLostTurn ? _lostTurn : null;
            set
            {
                if (value != null) _lostTurn = value;
                _hasLostTurn = value != null;
            }
        }

        /// <summary>A conversation without any request for so long is ended with GoingAway first, in microseconds.</summary>
        public long IdleTimeoutUs { get; set; }

        /// <summary>What this server does in this conversation beyond the basics.</summary>
        public ValueList<Capability> Capabilities { get; } = new ValueList<Capability>();

        /// <summary>What the numbers in BodyFrame mean; absent without TRACK_BODY.</summary>
        public BodyDescription? Body
        {
            get => _hasBody ? _body : null;
            set
            {
                if (value != null) _body = value;
                _hasBody = value != null;
            }
        }

        /// <summary>Tracks that are sent; TRACK_FACE at least.</summary>
        public ValueList<Track> Tracks { get; } = new ValueList<Track>();

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static SessionStarted Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new SessionStarted();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            SessionId = "";
            _hasAudioIn = false;
            _hasAudioOut = false;
            _hasRig = false;
            LeadUs = 0;
            ResumeToken = "";
            ResumeWindowUs = 0;
            Resumed = false;
            _hasLostTurn = false;
            IdleTimeoutUs = 0;
            Capabilities.Clear();
            _hasBody = false;
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
                        SessionId = reader.ReadString();
                        break;
                    case 18:
                        reader.ReadMessage(OpenAudioIn());
                        break;
                    case 26:
                        reader.ReadMessage(OpenAudioOut());
                        break;
                    case 34:
                        reader.ReadMessage(OpenRig());
                        break;
                    case 40:
                        LeadUs = reader.ReadInt64();
                        break;
                    case 50:
                        ResumeToken = reader.ReadString();
                        break;
                    case 56:
                        ResumeWindowUs = reader.ReadInt64();
                        break;
                    case 64:
                        Resumed = reader.ReadBool();
                        break;
                    case 74:
                        reader.ReadMessage(OpenLostTurn());
                        break;
                    case 80:
                        IdleTimeoutUs = reader.ReadInt64();
                        break;
                    case 88:
                        Capabilities.Add((Capability)reader.ReadInt32());
                        break;
                    case 90:
                        var capabilitiesEnd = reader.EnterPacked();
                        while (reader.InPacked(capabilitiesEnd)) Capabilities.Add((Capability)reader.ReadInt32());
                        break;
                    case 98:
                        reader.ReadMessage(OpenBody());
                        break;
                    case 104:
                        Tracks.Add((Track)reader.ReadInt32());
                        break;
                    case 106:
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
            if (!string.IsNullOrEmpty(SessionId)) size += 1 + WireSize.String(SessionId);
            if (_hasAudioIn) size += 1 + WireSize.Message(_audioIn!);
            if (_hasAudioOut) size += 1 + WireSize.Message(_audioOut!);
            if (_hasRig) size += 1 + WireSize.Message(_rig!);
            if (LeadUs != 0) size += 1 + WireSize.Int64(LeadUs);
            if (!string.IsNullOrEmpty(ResumeToken)) size += 1 + WireSize.String(ResumeToken);
            if (ResumeWindowUs != 0) size += 1 + WireSize.Int64(ResumeWindowUs);
            if (Resumed) size += 1 + 1;
            if (_hasLostTurn) size += 1 + WireSize.Message(_lostTurn!);
            if (IdleTimeoutUs != 0) size += 1 + WireSize.Int64(IdleTimeoutUs);
            if (Capabilities.Count != 0) size += 1 + WireSize.Delimited(CapabilitiesSize());
            if (_hasBody) size += 1 + WireSize.Message(_body!);
            if (Tracks.Count != 0) size += 1 + WireSize.Delimited(TracksSize());
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(SessionId))
            {
                writer.WriteUInt32(10);
                writer.WriteString(SessionId);
            }
            if (_hasAudioIn)
            {
                writer.WriteUInt32(18);
                writer.WriteMessage(_audioIn!);
            }
            if (_hasAudioOut)
            {
                writer.WriteUInt32(26);
                writer.WriteMessage(_audioOut!);
            }
            if (_hasRig)
            {
                writer.WriteUInt32(34);
                writer.WriteMessage(_rig!);
            }
            if (LeadUs != 0)
            {
                writer.WriteUInt32(40);
                writer.WriteInt64(LeadUs);
            }
            if (!string.IsNullOrEmpty(ResumeToken))
            {
                writer.WriteUInt32(50);
                writer.WriteString(ResumeToken);
            }
            if (ResumeWindowUs != 0)
            {
                writer.WriteUInt32(56);
                writer.WriteInt64(ResumeWindowUs);
            }
            if (Resumed)
            {
                writer.WriteUInt32(64);
                writer.WriteBool(Resumed);
            }
            if (_hasLostTurn)
            {
                writer.WriteUInt32(74);
                writer.WriteMessage(_lostTurn!);
            }
            if (IdleTimeoutUs != 0)
            {
                writer.WriteUInt32(80);
                writer.WriteInt64(IdleTimeoutUs);
            }
            if (Capabilities.Count != 0)
            {
                writer.WriteUInt32(90);
                writer.WriteInt32(CapabilitiesSize());
                foreach (var value in Capabilities.Span) writer.WriteInt32((int)value);
            }
            if (_hasBody)
            {
                writer.WriteUInt32(98);
                writer.WriteMessage(_body!);
            }
            if (Tracks.Count != 0)
            {
                writer.WriteUInt32(106);
                writer.WriteInt32(TracksSize());
                foreach (var value in Tracks.Span) writer.WriteInt32((int)value);
            }
        }
    }

    /// <summary>A turn that was broken off when the connection was lost.</summary>
    public sealed class LostTurn : IMessage
    {
        /// <summary>Its name.</summary>
        public string TurnId { get; set; } = "";

        /// <summary>What the user had said.</summary>
        public string UserText { get; set; } = "";

        /// <summary>The answer as far as it was heard; this is in the history.</summary>
        public string HeardText { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static LostTurn Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new LostTurn();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            TurnId = "";
            UserText = "";
            HeardText = "";
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        TurnId = reader.ReadString();
                        break;
                    case 18:
                        UserText = reader.ReadString();
                        break;
                    case 26:
                        HeardText = reader.ReadString();
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
            if (!string.IsNullOrEmpty(TurnId)) size += 1 + WireSize.String(TurnId);
            if (!string.IsNullOrEmpty(UserText)) size += 1 + WireSize.String(UserText);
            if (!string.IsNullOrEmpty(HeardText)) size += 1 + WireSize.String(HeardText);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(TurnId))
            {
                writer.WriteUInt32(10);
                writer.WriteString(TurnId);
            }
            if (!string.IsNullOrEmpty(UserText))
            {
                writer.WriteUInt32(18);
                writer.WriteString(UserText);
            }
            if (!string.IsNullOrEmpty(HeardText))
            {
                writer.WriteUInt32(26);
                writer.WriteString(HeardText);
            }
        }
    }

    /// <summary>The user began or stopped speaking.</summary>
    public sealed class SpeechActivity : IMessage
    {
        /// <summary>Which of the two.</summary>
        public SpeechActivityKind Kind { get; set; }

        /// <summary>Position in the user's audio stream, in microseconds since its first sample.</summary>
        public long OffsetUs { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static SpeechActivity Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new SpeechActivity();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Kind = (SpeechActivityKind)0;
            OffsetUs = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        Kind = (SpeechActivityKind)reader.ReadInt32();
                        break;
                    case 16:
                        OffsetUs = reader.ReadInt64();
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
            if (Kind != 0) size += 1 + WireSize.Int32((int)Kind);
            if (OffsetUs != 0) size += 1 + WireSize.Int64(OffsetUs);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Kind != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt32((int)Kind);
            }
            if (OffsetUs != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt64(OffsetUs);
            }
        }
    }

    /// <summary>Which of the two.</summary>
    public enum SpeechActivityKind
    {
        /// <summary>Never sent.</summary>
        Unspecified = 0,
        /// <summary>Speech began.</summary>
        Started = 1,
        /// <summary>Speech ended.</summary>
        Stopped = 2,
    }

    /// <summary>What the user said.</summary>
    public sealed class Transcript : IMessage
    {
        /// <summary>The words; a later transcript of the same speech replaces it. Empty and final: no words were found.</summary>
        public string Text { get; set; } = "";

        /// <summary>False while the user still speaks.</summary>
        public bool IsFinal { get; set; }

        /// <summary>Start of the span that this covers, in microseconds since the first sample of the user's audio.</summary>
        public long StartUs { get; set; }

        /// <summary>End of the span, exclusive, on the same clock.</summary>
        public long EndUs { get; set; }

        /// <summary>
        /// What all later transcripts of the same speech begin with, the final one included: words that are never
        /// taken back.
        /// </summary>
        public string StableText { get; set; } = "";

        /// <summary>Of a final one: the words with their times, where RecognizeConfig.word_times asked for them.</summary>
        public MessageList<TimedWord> Words { get; } = new MessageList<TimedWord>(() => new TimedWord());

        /// <summary>Of a final one: BCP 47 tag of the language, such as "en"; empty where it is not known.</summary>
        public string Language { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Transcript Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Transcript();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Text = "";
            IsFinal = false;
            StartUs = 0;
            EndUs = 0;
            StableText = "";
            Words.Clear();
            Language = "";
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
                        IsFinal = reader.ReadBool();
                        break;
                    case 24:
                        StartUs = reader.ReadInt64();
                        break;
                    case 32:
                        EndUs = reader.ReadInt64();
                        break;
                    case 42:
                        StableText = reader.ReadString();
                        break;
                    case 50:
                        reader.ReadMessage(Words.Add());
                        break;
                    case 58:
                        Language = reader.ReadString();
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
            if (IsFinal) size += 1 + 1;
            if (StartUs != 0) size += 1 + WireSize.Int64(StartUs);
            if (EndUs != 0) size += 1 + WireSize.Int64(EndUs);
            if (!string.IsNullOrEmpty(StableText)) size += 1 + WireSize.String(StableText);
            foreach (var item in Words) size += 1 + WireSize.Message(item);
            if (!string.IsNullOrEmpty(Language)) size += 1 + WireSize.String(Language);
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
            if (IsFinal)
            {
                writer.WriteUInt32(16);
                writer.WriteBool(IsFinal);
            }
            if (StartUs != 0)
            {
                writer.WriteUInt32(24);
                writer.WriteInt64(StartUs);
            }
            if (EndUs != 0)
            {
                writer.WriteUInt32(32);
                writer.WriteInt64(EndUs);
            }
            if (!string.IsNullOrEmpty(StableText))
            {
                writer.WriteUInt32(42);
                writer.WriteString(StableText);
            }
            foreach (var item in Words)
            {
                writer.WriteUInt32(50);
                writer.WriteMessage(item);
            }
            if (!string.IsNullOrEmpty(Language))
            {
                writer.WriteUInt32(58);
                writer.WriteString(Language);
            }
        }
    }

    /// <summary>A word of a transcript.</summary>
    public sealed class TimedWord : IMessage
    {
        /// <summary>As it is written, with its punctuation, without white space.</summary>
        public string Text { get; set; } = "";

        /// <summary>Start in microseconds since the first sample of the user's audio, exact to about 20 ms.</summary>
        public long StartUs { get; set; }

        /// <summary>End, exclusive, on the same clock.</summary>
        public long EndUs { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static TimedWord Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new TimedWord();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Text = "";
            StartUs = 0;
            EndUs = 0;
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
        }
    }

    /// <summary>The turn came to another state.</summary>
    public sealed class TurnState : IMessage
    {
        /// <summary>The new state.</summary>
        public TurnStateState State { get; set; }

        /// <summary>Answer as far as it was heard (INTERRUPTED) or whole (DONE).</summary>
        public string HeardText { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static TurnState Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new TurnState();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            State = (TurnStateState)0;
            HeardText = "";
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        State = (TurnStateState)reader.ReadInt32();
                        break;
                    case 18:
                        HeardText = reader.ReadString();
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
            if (State != 0) size += 1 + WireSize.Int32((int)State);
            if (!string.IsNullOrEmpty(HeardText)) size += 1 + WireSize.String(HeardText);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (State != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt32((int)State);
            }
            if (!string.IsNullOrEmpty(HeardText))
            {
                writer.WriteUInt32(18);
                writer.WriteString(HeardText);
            }
        }
    }

    /// <summary>States of a turn; the last three end it.</summary>
    public enum TurnStateState
    {
        /// <summary>Never sent.</summary>
        Unspecified = 0,
        /// <summary>The user speaks.</summary>
        Listening = 1,
        /// <summary>The user has finished; nothing of the answer was sent yet.</summary>
        Thinking = 2,
        /// <summary>Media of the answer is being sent.</summary>
        Speaking = 3,
        /// <summary>Everything of the turn was sent and, as far as playback is reported, heard.</summary>
        Done = 4,
        /// <summary>The user or the client stopped the answer.</summary>
        Interrupted = 5,
        /// <summary>It could not be finished; a notice said why.</summary>
        Failed = 6,
    }

    /// <summary>More text of the answer.</summary>
    public sealed class TextDelta : IMessage
    {
        /// <summary>To be put after the deltas before it.</summary>
        public string Text { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static TextDelta Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new TextDelta();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Text = "";
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
        }
    }

    /// <summary>A span of speech with the frames of the same span: [start_us, start_us + its duration).</summary>
    public sealed class MediaChunk : IMessage
    {
        /// <summary>Start on the turn's media clock, in microseconds.</summary>
        public long StartUs { get; set; }

        /// <summary>Mono s16le PCM at SessionStarted.audio_out.sample_rate_hz.</summary>
        public ByteBuffer Pcm { get; } = new ByteBuffer();

        /// <summary>Frames with start_us &lt;= time_us &lt; end of this chunk's audio.</summary>
        public MessageList<Frame> Frames { get; } = new MessageList<Frame>(() => new Frame());

        /// <summary>Index of the clause in the turn; 0 or more.</summary>
        public int Clause { get; set; }

        /// <summary>Text of the clause; only on its first chunk.</summary>
        public string ClauseText { get; set; } = "";

        /// <summary>Phonemes of the clause on the turn's media clock; only on its first chunk.</summary>
        public MessageList<PhonemeTiming> Phonemes { get; } = new MessageList<PhonemeTiming>(() => new PhonemeTiming());

        /// <summary>True on the last chunk of the turn.</summary>
        public bool Last { get; set; }

        /// <summary>With TRACK_BODY: the body, as `frames` on the turn's media clock.</summary>
        public MessageList<BodyFrame> Body { get; } = new MessageList<BodyFrame>(() => new BodyFrame());

        /// <summary>With TRACK_CUES: what begins inside this chunk, on the turn's media clock.</summary>
        public MessageList<Cue> Cues { get; } = new MessageList<Cue>(() => new Cue());

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static MediaChunk Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new MediaChunk();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            StartUs = 0;
            Pcm.Clear();
            Frames.Clear();
            Clause = 0;
            ClauseText = "";
            Phonemes.Clear();
            Last = false;
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
                    case 8:
                        StartUs = reader.ReadInt64();
                        break;
                    case 18:
                        reader.ReadBytes(Pcm);
                        break;
                    case 26:
                        reader.ReadMessage(Frames.Add());
                        break;
                    case 32:
                        Clause = reader.ReadInt32();
                        break;
                    case 42:
                        ClauseText = reader.ReadString();
                        break;
                    case 50:
                        reader.ReadMessage(Phonemes.Add());
                        break;
                    case 56:
                        Last = reader.ReadBool();
                        break;
                    case 66:
                        reader.ReadMessage(Body.Add());
                        break;
                    case 74:
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
            if (StartUs != 0) size += 1 + WireSize.Int64(StartUs);
            if (Pcm.Length != 0) size += 1 + WireSize.Bytes(Pcm);
            foreach (var item in Frames) size += 1 + WireSize.Message(item);
            if (Clause != 0) size += 1 + WireSize.Int32(Clause);
            if (!string.IsNullOrEmpty(ClauseText)) size += 1 + WireSize.String(ClauseText);
            foreach (var item in Phonemes) size += 1 + WireSize.Message(item);
            if (Last) size += 1 + 1;
            foreach (var item in Body) size += 1 + WireSize.Message(item);
            foreach (var item in Cues) size += 1 + WireSize.Message(item);
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
            foreach (var item in Frames)
            {
                writer.WriteUInt32(26);
                writer.WriteMessage(item);
            }
            if (Clause != 0)
            {
                writer.WriteUInt32(32);
                writer.WriteInt32(Clause);
            }
            if (!string.IsNullOrEmpty(ClauseText))
            {
                writer.WriteUInt32(42);
                writer.WriteString(ClauseText);
            }
            foreach (var item in Phonemes)
            {
                writer.WriteUInt32(50);
                writer.WriteMessage(item);
            }
            if (Last)
            {
                writer.WriteUInt32(56);
                writer.WriteBool(Last);
            }
            foreach (var item in Body)
            {
                writer.WriteUInt32(66);
                writer.WriteMessage(item);
            }
            foreach (var item in Cues)
            {
                writer.WriteUInt32(74);
                writer.WriteMessage(item);
            }
        }
    }

    /// <summary>Milliseconds per stage of one turn; each counts from `end of the user's turn` unless said.</summary>
    public sealed class TurnMetrics : IMessage
    {
        /// <summary>
        /// Named stages: "asr" (end of speech to final text), "llm_first_token", "first_clause",
        /// "tools" (result of the last tool call), "tts_first_audio", "a2bs_first_frames", "first_media"
        /// (first chunk sent), "total" (last chunk ready). A stage that did not run is absent.
        /// </summary>
        public Dictionary<string, double> StagesMs { get; } = new Dictionary<string, double>();

        /// <summary>Tokens that the language model was told.</summary>
        public int PromptTokens { get; set; }

        /// <summary>Tokens of the prompt found in the cache.</summary>
        public int ReusedTokens { get; set; }

        /// <summary>Tokens of the answer.</summary>
        public int AnswerTokens { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static TurnMetrics Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new TurnMetrics();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            StagesMs.Clear();
            PromptTokens = 0;
            ReusedTokens = 0;
            AnswerTokens = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        {
                            string key = "";
                            double value = 0;
                            var end = reader.EnterMessage();
                            while (reader.ReadTag(out var part))
                            {
                                if (part == 10) key = reader.ReadString();
                                else if (part == 17) value = reader.ReadDouble();
                                else reader.Skip(part);
                            }
                            reader.LeaveMessage(end);
                            StagesMs[key] = value;
                        }
                        break;
                    case 16:
                        PromptTokens = reader.ReadInt32();
                        break;
                    case 24:
                        ReusedTokens = reader.ReadInt32();
                        break;
                    case 32:
                        AnswerTokens = reader.ReadInt32();
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
            foreach (var pair in StagesMs) size += 1 + WireSize.Delimited(2 + WireSize.String(pair.Key) + 8);
            if (PromptTokens != 0) size += 1 + WireSize.Int32(PromptTokens);
            if (ReusedTokens != 0) size += 1 + WireSize.Int32(ReusedTokens);
            if (AnswerTokens != 0) size += 1 + WireSize.Int32(AnswerTokens);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            foreach (var pair in StagesMs)
            {
                writer.WriteUInt32(10);
                writer.WriteInt32(2 + WireSize.String(pair.Key) + 8);
                writer.WriteUInt32(10);
                writer.WriteString(pair.Key);
                writer.WriteUInt32(17);
                writer.WriteDouble(pair.Value);
            }
            if (PromptTokens != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt32(PromptTokens);
            }
            if (ReusedTokens != 0)
            {
                writer.WriteUInt32(24);
                writer.WriteInt32(ReusedTokens);
            }
            if (AnswerTokens != 0)
            {
                writer.WriteUInt32(32);
                writer.WriteInt32(AnswerTokens);
            }
        }
    }

    /// <summary>The server will end the stream.</summary>
    public sealed class GoingAway : IMessage
    {
        /// <summary>Why.</summary>
        public GoingAwayReason Reason { get; set; }

        /// <summary>Time until the stream ends, in microseconds; the clause that is being spoken is finished if it fits.</summary>
        public long TimeLeftUs { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static GoingAway Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new GoingAway();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Reason = (GoingAwayReason)0;
            TimeLeftUs = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        Reason = (GoingAwayReason)reader.ReadInt32();
                        break;
                    case 16:
                        TimeLeftUs = reader.ReadInt64();
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
            if (Reason != 0) size += 1 + WireSize.Int32((int)Reason);
            if (TimeLeftUs != 0) size += 1 + WireSize.Int64(TimeLeftUs);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Reason != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt32((int)Reason);
            }
            if (TimeLeftUs != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt64(TimeLeftUs);
            }
        }
    }

    /// <summary>Why a server ends a stream.</summary>
    public enum GoingAwayReason
    {
        /// <summary>Never sent.</summary>
        Unspecified = 0,
        /// <summary>The server stops; the conversation can be resumed at the next one.</summary>
        Shutdown = 1,
        /// <summary>No request came for too long; any request keeps the conversation.</summary>
        Idle = 2,
    }

    /// <summary>Answer to a Ping.</summary>
    public sealed class Pong : IMessage
    {
        /// <summary>Ping.client_time_us.</summary>
        public long ClientTimeUs { get; set; }

        /// <summary>The server's clock when it answered, in microseconds since 1970.</summary>
        public long ServerTimeUs { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Pong Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Pong();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            ClientTimeUs = 0;
            ServerTimeUs = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        ClientTimeUs = reader.ReadInt64();
                        break;
                    case 16:
                        ServerTimeUs = reader.ReadInt64();
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
            if (ClientTimeUs != 0) size += 1 + WireSize.Int64(ClientTimeUs);
            if (ServerTimeUs != 0) size += 1 + WireSize.Int64(ServerTimeUs);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (ClientTimeUs != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt64(ClientTimeUs);
            }
            if (ServerTimeUs != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt64(ServerTimeUs);
            }
        }
    }

    /// <summary>Which conversation to look at.</summary>
    public sealed class WatchRequest : IMessage
    {
        /// <summary>SessionStarted.session_id.</summary>
        public string SessionId { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static WatchRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new WatchRequest();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            SessionId = "";
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        SessionId = reader.ReadString();
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
            if (!string.IsNullOrEmpty(SessionId)) size += 1 + WireSize.String(SessionId);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(SessionId))
            {
                writer.WriteUInt32(10);
                writer.WriteString(SessionId);
            }
        }
    }

    /// <summary>Something that the watched conversation tells its client.</summary>
    public sealed class WatchResponse : IMessage
    {
        private ConverseResponse? _response;
        private bool _hasResponse;

        private ConverseResponse OpenResponse()
        {
            _response ??= new ConverseResponse();
            if (!(_hasResponse)) _response.Clear();
            _hasResponse = true;
            return _response;
        }

        /// <summary>As the client gets it, without resume_token and pongs; `seq` is the client's too.</summary>
        public ConverseResponse? Response
        {
            get => _hasResponse ? _response : null;
            set
            {
                if (value != null) _response = value;
                _hasResponse = value != null;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static WatchResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new WatchResponse();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            _hasResponse = false;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadMessage(OpenResponse());
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
            if (_hasResponse) size += 1 + WireSize.Message(_response!);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (_hasResponse)
            {
                writer.WriteUInt32(10);
                writer.WriteMessage(_response!);
            }
        }
    }

    /// <summary>What to say.</summary>
    public sealed class SayRequest : IMessage
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

        /// <summary>What is sent beside the voice; none means TRACK_FACE alone.</summary>
        public ValueList<Track> Tracks { get; } = new ValueList<Track>();

        /// <summary>Speaking rate, 0.5 to 2; 0 means 1, the voice's own.</summary>
        public float Speed { get; set; }

        /// <summary>Varies intonation and rhythm; the same request always gives the same speech.</summary>
        public uint Seed { get; set; }

        /// <summary>Name or number of the speaker, of a voice that has several; empty means number 0.</summary>
        public string Speaker { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static SayRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new SayRequest();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Text = "";
            FrameRate = 0;
            Tracks.Clear();
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
                    case 37:
                        Speed = reader.ReadFloat();
                        break;
                    case 40:
                        Seed = reader.ReadUInt32();
                        break;
                    case 50:
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
            if (BitConverter.DoubleToInt64Bits(FrameRate) != 0) size += 1 + 8;
            if (Tracks.Count != 0) size += 1 + WireSize.Delimited(TracksSize());
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
            if (BitConverter.SingleToInt32Bits(Speed) != 0)
            {
                writer.WriteUInt32(37);
                writer.WriteFloat(Speed);
            }
            if (Seed != 0)
            {
                writer.WriteUInt32(40);
                writer.WriteUInt32(Seed);
            }
            if (!string.IsNullOrEmpty(Speaker))
            {
                writer.WriteUInt32(50);
                writer.WriteString(Speaker);
            }
        }
    }

    /// <summary>A piece of the speech; `started` comes first and once.</summary>
    public sealed class SayResponse : IMessage
    {
        /// <summary>Which of the fields of Payload is set.</summary>
        public enum PayloadOneofCase
        {
            None = 0,
            Started = 1,
            Media = 2,
            Motion = 3,
        }

        private SessionStarted? _started;

        private SessionStarted OpenStarted()
        {
            _started ??= new SessionStarted();
            if (!(PayloadCase == PayloadOneofCase.Started)) _started.Clear();
            PayloadCase = PayloadOneofCase.Started;
            return _started;
        }

        private MediaChunk? _media;

        private MediaChunk OpenMedia()
        {
            _media ??= new MediaChunk();
            if (!(PayloadCase == PayloadOneofCase.Media)) _media.Clear();
            PayloadCase = PayloadOneofCase.Media;
            return _media;
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

        /// <summary>Formats: only `audio_out`, `rig`, `body` and `tracks` are set.</summary>
        public SessionStarted? Started
        {
            get => PayloadCase == PayloadOneofCase.Started ? _started : null;
            set
            {
                if (value != null) _started = value;
                if (value != null) PayloadCase = PayloadOneofCase.Started;
                else if (PayloadCase == PayloadOneofCase.Started) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>A span of the speech.</summary>
        public MediaChunk? Media
        {
            get => PayloadCase == PayloadOneofCase.Media ? _media : null;
            set
            {
                if (value != null) _media = value;
                if (value != null) PayloadCase = PayloadOneofCase.Media;
                else if (PayloadCase == PayloadOneofCase.Media) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>
        /// With TRACK_BODY, the last response: how the body comes to rest after the speech; its times go on from
        /// those of the media.
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
        public static SayResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new SayResponse();
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
                        reader.ReadMessage(OpenMedia());
                        break;
                    case 26:
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
            if (PayloadCase == PayloadOneofCase.Media) size += 1 + WireSize.Message(_media!);
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
            if (PayloadCase == PayloadOneofCase.Media)
            {
                writer.WriteUInt32(18);
                writer.WriteMessage(_media!);
            }
            if (PayloadCase == PayloadOneofCase.Motion)
            {
                writer.WriteUInt32(26);
                writer.WriteMessage(_motion!);
            }
        }
    }

    /// <summary>Asks what the server is doing.</summary>
    public sealed class GetServerInfoRequest : IMessage
    {
        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static GetServerInfoRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new GetServerInfoRequest();
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

    /// <summary>What the server is doing.</summary>
    public sealed class GetServerInfoResponse : IMessage
    {
        /// <summary>Version of taoxr.</summary>
        public string Version { get; set; } = "";

        /// <summary>The model workers.</summary>
        public MessageList<WorkerInfo> Workers { get; } = new MessageList<WorkerInfo>(() => new WorkerInfo());

        /// <summary>Conversations that may run at once; 1 or more.</summary>
        public int MaxConversations { get; set; }

        /// <summary>Conversations that run now.</summary>
        public int ActiveConversations { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static GetServerInfoResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new GetServerInfoResponse();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Version = "";
            Workers.Clear();
            MaxConversations = 0;
            ActiveConversations = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        Version = reader.ReadString();
                        break;
                    case 18:
                        reader.ReadMessage(Workers.Add());
                        break;
                    case 24:
                        MaxConversations = reader.ReadInt32();
                        break;
                    case 32:
                        ActiveConversations = reader.ReadInt32();
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
            if (!string.IsNullOrEmpty(Version)) size += 1 + WireSize.String(Version);
            foreach (var item in Workers) size += 1 + WireSize.Message(item);
            if (MaxConversations != 0) size += 1 + WireSize.Int32(MaxConversations);
            if (ActiveConversations != 0) size += 1 + WireSize.Int32(ActiveConversations);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(Version))
            {
                writer.WriteUInt32(10);
                writer.WriteString(Version);
            }
            foreach (var item in Workers)
            {
                writer.WriteUInt32(18);
                writer.WriteMessage(item);
            }
            if (MaxConversations != 0)
            {
                writer.WriteUInt32(24);
                writer.WriteInt32(MaxConversations);
            }
            if (ActiveConversations != 0)
            {
                writer.WriteUInt32(32);
                writer.WriteInt32(ActiveConversations);
            }
        }
    }

    /// <summary>State of one model worker.</summary>
    public sealed class WorkerInfo : IMessage
    {
        /// <summary>"ear", "llm", "tts", "a2bs" or "motion".</summary>
        public string Role { get; set; } = "";

        /// <summary>Id of the model in the catalogue.</summary>
        public string Model { get; set; } = "";

        /// <summary>"asleep" (starts when it is needed), "starting", "ready", "busy", "down".</summary>
        public string State { get; set; } = "";

        /// <summary>Times it was started again after a failure.</summary>
        public int Restarts { get; set; }

        /// <summary>Memory it holds, in bytes; 0 when unknown.</summary>
        public long RssBytes { get; set; }

        /// <summary>Process id; 0 when it runs elsewhere or not at all.</summary>
        public int Pid { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static WorkerInfo Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new WorkerInfo();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Role = "";
            Model = "";
            State = "";
            Restarts = 0;
            RssBytes = 0;
            Pid = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        Role = reader.ReadString();
                        break;
                    case 18:
                        Model = reader.ReadString();
                        break;
                    case 26:
                        State = reader.ReadString();
                        break;
                    case 32:
                        Restarts = reader.ReadInt32();
                        break;
                    case 40:
                        RssBytes = reader.ReadInt64();
                        break;
                    case 48:
                        Pid = reader.ReadInt32();
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
            if (!string.IsNullOrEmpty(Role)) size += 1 + WireSize.String(Role);
            if (!string.IsNullOrEmpty(Model)) size += 1 + WireSize.String(Model);
            if (!string.IsNullOrEmpty(State)) size += 1 + WireSize.String(State);
            if (Restarts != 0) size += 1 + WireSize.Int32(Restarts);
            if (RssBytes != 0) size += 1 + WireSize.Int64(RssBytes);
            if (Pid != 0) size += 1 + WireSize.Int32(Pid);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(Role))
            {
                writer.WriteUInt32(10);
                writer.WriteString(Role);
            }
            if (!string.IsNullOrEmpty(Model))
            {
                writer.WriteUInt32(18);
                writer.WriteString(Model);
            }
            if (!string.IsNullOrEmpty(State))
            {
                writer.WriteUInt32(26);
                writer.WriteString(State);
            }
            if (Restarts != 0)
            {
                writer.WriteUInt32(32);
                writer.WriteInt32(Restarts);
            }
            if (RssBytes != 0)
            {
                writer.WriteUInt32(40);
                writer.WriteInt64(RssBytes);
            }
            if (Pid != 0)
            {
                writer.WriteUInt32(48);
                writer.WriteInt32(Pid);
            }
        }
    }

    /// <summary>A spoken conversation with one avatar.</summary>
    public static class ConversationService
    {
        /// <summary>
        /// The first request must be `config`; everything negotiated comes back once, in
        /// `session_started`. The stream has no deadline. Wrong input ends it with
        /// INVALID_ARGUMENT and google.rpc.BadRequest details; too many conversations at once with
        /// RESOURCE_EXHAUSTED and google.rpc.RetryInfo.
        /// </summary>
        public static readonly Method<ConverseRequest, ConverseResponse> Converse =
            new Method<ConverseRequest, ConverseResponse>("/taoxr.v1.ConversationService/Converse", true, true, () => new ConverseResponse());

        /// <summary>Speaks a given text: a turn without ear and without language model.</summary>
        public static readonly Method<SayRequest, SayResponse> Say =
            new Method<SayRequest, SayResponse>("/taoxr.v1.ConversationService/Say", false, true, () => new SayResponse());

        /// <summary>
        /// Shows what a running conversation tells its client, to somebody else who only looks: a headset
        /// beside a Unity scene. From now on, not from the beginning; `session_started` comes first. Ends
        /// with the conversation. NOT_FOUND for a session that does not run; a watcher that does not keep up is
        /// ended with RESOURCE_EXHAUSTED and costs the conversation nothing.
        /// </summary>
        public static readonly Method<WatchRequest, WatchResponse> Watch =
            new Method<WatchRequest, WatchResponse>("/taoxr.v1.ConversationService/Watch", false, true, () => new WatchResponse());

        /// <summary>What this server can do.</summary>
        public static readonly Method<GetServerInfoRequest, GetServerInfoResponse> GetServerInfo =
            new Method<GetServerInfoRequest, GetServerInfoResponse>("/taoxr.v1.ConversationService/GetServerInfo", false, false, () => new GetServerInfoResponse());
    }
}
