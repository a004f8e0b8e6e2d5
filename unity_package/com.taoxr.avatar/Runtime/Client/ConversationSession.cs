#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using Taoxr.Protocol;
using Taoxr.Protocol.V1;

namespace Taoxr.Client
{
    /// <summary>
    /// One conversation; TaoxrClient.Converse makes it. Its events come from TaoxrClient.Poll. Its methods return at once;
    /// what they say reaches the server when it can, also what is said before the conversation runs: but when a lot waits
    /// (256 requests), because the server is not there, they throw InvalidOperationException. PushAudio and ReportPlayback are for
    /// any thread, the other methods for the one that polls.
    /// </summary>
    public sealed partial class ConversationSession : IDisposable
    {
        private const int MostText = 4000;
        private const float FarthestMetres = 100;
        private const int MostAnswerTokens = 1024;
        private const float MostTemperature = 2;
        private const int MostErrorText = 1000;
        private static readonly TimeSpan Politeness = TimeSpan.FromSeconds(0.3);
        private readonly Outbox _outbox;
        private readonly Inbox _inbox = new Inbox();
        private readonly SessionLoop _loop;
        private readonly bool _pushToTalk;
        private readonly bool _hasAudio;
        private readonly bool _hasBody;
        private volatile bool _listens;
        private string _playedTurn = "";
        private long _playedUs;

        internal ConversationSession(ConversationConfig config, Connector connector, ClientOptions options)
        {
            var copy = ConversationConfig.Parse(Messages.ToBytes(config));
            _pushToTalk = copy.InputMode == InputMode.PushToTalk;
            _hasAudio = copy.AudioIn != null;
            foreach (var track in copy.Tracks.Span) _hasBody |= track == Track.Body;
            _listens = _hasAudio && !_pushToTalk;
            _outbox = new Outbox(copy.AudioIn?.SampleRateHz ?? 0);
            _loop = new SessionLoop(copy, connector, options, _outbox, _inbox);
        }

        /// <summary>How far it is, as the events have told.</summary>
        public SessionState State { get; private set; }

        /// <summary>What was negotiated; null before the first Started.</summary>
        public SessionStarted? Negotiated { get; private set; }

        /// <summary>The avatar's newest turn, or empty.</summary>
        public string TurnId { get; private set; } = "";

        /// <summary>The highest epoch that was seen.</summary>
        public long Epoch { get; private set; }

        /// <summary>Whether the user's microphone is switched off.</summary>
        public bool Muted { get; private set; }

        /// <summary>Whether PushAudio sends anything now: always when hands are free, between BeginTalking and EndTalking else.</summary>
        public bool Listens => _listens && !Muted;

        /// <summary>The user's sound that was dropped because the server did not take it in time, in microseconds.</summary>
        public long DroppedAudioUs => _outbox.DroppedAudioUs;

        /// <summary>Messages that wait for Poll; at most Inbox.MostMessages.</summary>
        public int WaitingMessages => _inbox.Count;

        internal bool IsFinished => State == SessionState.Ended;

        /// <summary>More of the user's voice: mono, at ConversationConfig.audio_in. Dropped while Listens is false.</summary>
        /// <param name="samples">From -1 to 1; copied.</param>
        /// <param name="start">The first one.</param>
        /// <param name="count">How many.</param>
        /// <exception cref="InvalidOperationException">The conversation was begun without ConversationConfig.audio_in.</exception>
        public void PushAudio(float[] samples, int start, int count)
        {
            if (Listens) _outbox.AddAudio(new ReadOnlySpan<float>(samples, start, count));
        }

        /// <summary>The same, for samples of 16 bit.</summary>
        /// <exception cref="InvalidOperationException">The conversation was begun without ConversationConfig.audio_in.</exception>
        public void PushAudio(short[] samples, int start, int count)
        {
            if (Listens) _outbox.AddAudio(new ReadOnlySpan<short>(samples, start, count));
        }

        /// <summary>The user says this, typed. While the avatar speaks, it interrupts it.</summary>
        /// <exception cref="ArgumentException">It is blank, or longer than 4,000 characters.</exception>
        public void Ask(string text)
        {
            if (string.IsNullOrWhiteSpace(text)) throw new ArgumentException("there is nothing to ask", nameof(text));
            RequireShort(text, MostText);
            Send(new ConverseRequest { Text = new TextInput { Text = text } });
        }

        /// <summary>Push-to-talk: from now on the user's voice is sent. An avatar that speaks is interrupted.</summary>
        /// <exception cref="InvalidOperationException">The conversation is not push-to-talk.</exception>
        public void BeginTalking()
        {
            RequirePushToTalk();
            if (_listens) return;
            if (_speaking) Interrupt();
            _listens = true;
        }

        /// <summary>Push-to-talk: the user has finished; the avatar answers.</summary>
        /// <exception cref="InvalidOperationException">The conversation is not push-to-talk.</exception>
        public void EndTalking()
        {
            RequirePushToTalk();
            if (!_listens) return;
            _listens = false;
            Send(new ConverseRequest { EndOfUserTurn = new EndOfUserTurn() });
        }

        /// <summary>Switches the user's microphone off or on; what was being said ends.</summary>
        /// <exception cref="InvalidOperationException">The conversation was begun without ConversationConfig.audio_in.</exception>
        public void SetMuted(bool muted)
        {
            if (!_hasAudio) throw new InvalidOperationException("the conversation was begun without ConversationConfig.AudioIn");
            if (muted == Muted) return;
            Muted = muted;
            _outbox.SetMuted(muted);
        }

        /// <summary>Stops the avatar, here at once: PlaybackCut is raised, and what still comes of the turn is dropped.</summary>
        /// <param name="playedUs">How much of the turn was heard, in microseconds; null: as far as ReportPlayback said.</param>
        /// <param name="forget">The turn was not meant for the avatar: the language model is not told of it later.</param>
        /// <exception cref="ArgumentOutOfRangeException">playedUs is negative.</exception>
        public void Interrupt(long? playedUs = null, bool forget = false)
        {
            RequirePlayed(playedUs ?? 0);
            if (TurnId.Length == 0) return;
            long heard;
            lock (_outbox) heard = playedUs ?? (_playedTurn == TurnId ? _playedUs : 0);
            _interrupted = TurnId;
            _speaking = false;
            Send(new ConverseRequest { Interrupt = new Interrupt { TurnId = TurnId, PlayedUs = heard, Forget = forget } });
            PlaybackCut?.Invoke(new TurnInfo(TurnId, Epoch, 0));
        }

        /// <summary>
        /// Tells how much of a turn was heard; the server sends at most about 1.2 s more than that, so report at least five
        /// times a second. A newer report takes the place of one that was not sent yet.
        /// </summary>
        /// <param name="turnId">The turn that plays.</param>
        /// <param name="playedUs">Heard so far, in microseconds on its media clock.</param>
        /// <param name="underruns">Times that playback ran dry in the turn.</param>
        /// <exception cref="ArgumentOutOfRangeException">playedUs is negative.</exception>
        public void ReportPlayback(string turnId, long playedUs, int underruns = 0)
        {
            RequirePlayed(playedUs);
            lock (_outbox)
            {
                _playedTurn = turnId;
                _playedUs = playedUs;
            }
            _outbox.ReportPlayback(turnId, playedUs, underruns);
        }

        /// <summary>What came of a ToolCall, for the language model: text or JSON, at most 4,000 characters.</summary>
        /// <exception cref="ArgumentException">It is longer.</exception>
        public void AnswerTool(string callId, string output)
        {
            RequireShort(output, MostText);
            Send(new ConverseRequest { ToolResult = new ToolResult { CallId = callId, Output = output } });
        }

        /// <summary>Why a ToolCall failed, in words that the avatar may pass on; at most 1,000 characters.</summary>
        /// <exception cref="ArgumentException">It is longer.</exception>
        public void FailTool(string callId, string error)
        {
            RequireShort(error, MostErrorText);
            Send(new ConverseRequest { ToolResult = new ToolResult { CallId = callId, Error = error } });
        }

        /// <summary>A gesture, now.</summary>
        /// <exception cref="InvalidOperationException">The conversation was begun without Track.Body.</exception>
        public void PlayAction(PlayActionAction action)
        {
            RequireBody();
            Send(new ConverseRequest { PlayAction = new PlayAction { Action = action } });
        }

        /// <summary>
        /// Where the avatar shall look, in its space: metres, right-handed, +X to its left, +Y up, +Z to its front, the origin
        /// between its feet. A newer point takes the place of one that was not sent yet.
        /// </summary>
        /// <exception cref="ArgumentOutOfRangeException">A coordinate is not from -100 to 100 metres.</exception>
        /// <exception cref="InvalidOperationException">The conversation was begun without Track.Body.</exception>
        public void LookAt(float x, float y, float z)
        {
            RequireWithin(nameof(x), x, -FarthestMetres, FarthestMetres);
            RequireWithin(nameof(y), y, -FarthestMetres, FarthestMetres);
            RequireWithin(nameof(z), z, -FarthestMetres, FarthestMetres);
            RequireBody();
            _outbox.LookAt(true, x, y, z);
        }

        /// <summary>The avatar looks straight ahead again, with glances of its own.</summary>
        /// <exception cref="InvalidOperationException">The conversation was begun without Track.Body.</exception>
        public void LookAhead()
        {
            RequireBody();
            _outbox.LookAt(false, 0, 0, 0);
        }

        /// <summary>Other settings from the next turn on; what is null stays.</summary>
        /// <exception cref="ArgumentException">A text longer than 4,000 characters, more than 1,024 tokens, or a temperature over 2.</exception>
        public void Update(string? systemPrompt = null, int? maxAnswerTokens = null, float? temperature = null)
        {
            RequireShort(systemPrompt ?? "", MostText);
            RequireWithin(nameof(maxAnswerTokens), maxAnswerTokens ?? 0, 0, MostAnswerTokens);
            RequireWithin(nameof(temperature), temperature ?? 0, 0, MostTemperature);
            var update = new UpdateConfig { SystemPrompt = systemPrompt, MaxAnswerTokens = maxAnswerTokens, Temperature = temperature };
            Send(new ConverseRequest { UpdateConfig = update });
        }

        /// <summary>Asks for a Pong, which measures the round trip.</summary>
        /// <param name="clientTimeUs">Any clock of yours, in microseconds; comes back.</param>
        public void Ping(long clientTimeUs) =>
            Send(new ConverseRequest { Ping = new Ping { ClientTimeUs = clientTimeUs } });

        /// <summary>The conversation is over, and cannot be resumed; Ended is raised when the server has heard it.</summary>
        public void End()
        {
            _loop.WantsEnd();
            _outbox.End();
        }

        /// <summary>Ends the conversation and waits for that, at most about 0.3 s; Ended is not raised any more.</summary>
        public void Dispose() => Stop(new[] { this });

        // All of them at once, so that many take no longer than one.
        internal static void Stop(IReadOnlyList<ConversationSession> sessions)
        {
            var watch = Stopwatch.StartNew();
            foreach (var session in sessions)
            {
                session.End();
                session.State = SessionState.Ended;
                session._inbox.Close();
            }
            foreach (var session in sessions)
                if (!session._loop.Join(Politeness - watch.Elapsed)) session._loop.BreakOff();
            foreach (var session in sessions) session._loop.Join(2 * Politeness - watch.Elapsed);
        }

        // Refused rather than dropped: whoever asks so much while nobody listens has to know.
        private void Send(ConverseRequest request)
        {
            if (!_outbox.TryAdd(request))
                throw new InvalidOperationException(Outbox.MostRequests + " requests wait already; the server is not there, or does not take them");
        }

        // The server ends a conversation that says too much, or asks for what it has not.
        private static void RequireShort(string text, int most)
        {
            if (text.Length > most) throw new ArgumentException("a text of " + text.Length + " characters; at most " + most + " are taken");
        }

        private static void RequirePlayed(long playedUs)
        {
            if (playedUs < 0) throw new ArgumentOutOfRangeException(nameof(playedUs), playedUs, "0 or more microseconds are expected");
        }

        // Not a number is not in any range either.
        private static void RequireWithin(string name, float value, float least, float most)
        {
            if (!(value >= least && value <= most))
                throw new ArgumentOutOfRangeException(name, value, "a number from " + least + " to " + most + " is expected");
        }

        private void RequireBody()
        {
            if (!_hasBody) throw new InvalidOperationException("the conversation was begun without Track.Body");
        }

        private void RequirePushToTalk()
        {
            if (!_pushToTalk) throw new InvalidOperationException("this conversation finds the end of the user's turn by itself; it was not begun with InputMode.PushToTalk");
        }
    }
}
