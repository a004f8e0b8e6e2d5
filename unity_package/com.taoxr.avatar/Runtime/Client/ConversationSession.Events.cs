#nullable enable
using System;
using Taoxr.Protocol.Rpc;
using Taoxr.Protocol.V1;
using Taoxr.Transport;

namespace Taoxr.Client
{
    // What a conversation tells. Messages are reused: copy what must outlive its handler.
    public sealed partial class ConversationSession
    {
        private string _interrupted = "";
        private bool _speaking;
        private int _shapes;
        private int _rotations;

        /// <summary>The conversation runs; raised again when it was resumed (SessionStarted.Resumed), or had to begin anew.</summary>
        public event Action<SessionStarted>? Started;

        /// <summary>Starting, Running, Resuming, Ended.</summary>
        public event Action<SessionState>? StateChanged;

        /// <summary>It is over: null when that was wanted, else why.</summary>
        public event Action<RpcException?>? Ended;

        /// <summary>An attempt to start or resume it failed; the next one comes by itself.</summary>
        public event Action<RpcException>? Retrying;

        /// <summary>The user began or stopped speaking.</summary>
        public event Action<TurnInfo, SpeechActivity>? SpeechHeard;

        /// <summary>What the user said; a later one of the same speech replaces it.</summary>
        public event Action<TurnInfo, Transcript>? TranscriptReceived;

        /// <summary>The turn came to another state.</summary>
        public event Action<TurnInfo, TurnState>? TurnChanged;

        /// <summary>More text of the answer.</summary>
        public event Action<TurnInfo, TextDelta>? TextReceived;

        /// <summary>
        /// A pose of the face, on the media clock of the turn: as many weights as SessionStarted.Rig has names. All of a chunk come
        /// before its sound.
        /// </summary>
        public event Action<TurnInfo, Frame>? FaceReceived;

        /// <summary>
        /// A pose of the body, on the media clock of the turn: four numbers for each name of SessionStarted.Body. All of a chunk
        /// come before its sound.
        /// </summary>
        public event Action<TurnInfo, BodyFrame>? BodyReceived;

        /// <summary>Something in the speech that begins inside the next chunk.</summary>
        public event Action<TurnInfo, Cue>? CueReceived;

        /// <summary>More of the avatar's voice: s16le at SessionStarted.AudioOut, from StartUs on the media clock of the turn.</summary>
        public event Action<TurnInfo, MediaChunk>? AudioReceived;

        /// <summary>How the body moves between the turns, on the clock of the session; media of a turn take its place.</summary>
        public event Action<TurnInfo, Motion>? MotionReceived;

        /// <summary>
        /// The avatar is silent from here on: throw away all sound and poses that were received and not played. After Interrupt,
        /// when the user spoke up, when a turn failed, and when the connection was lost.
        /// </summary>
        public event Action<TurnInfo>? PlaybackCut;

        /// <summary>The avatar wants something of a tool; answer with AnswerTool or FailTool.</summary>
        public event Action<TurnInfo, ToolCall>? ToolCalled;

        /// <summary>Something recoverable went wrong.</summary>
        public event Action<TurnInfo, Status>? NoticeReceived;

        /// <summary>How long the stages of a turn took.</summary>
        public event Action<TurnInfo, TurnMetrics>? MetricsReceived;

        /// <summary>The server will end the stream. What is not lost comes back: it is resumed or kept by itself.</summary>
        public event Action<GoingAway>? GoingAwayReceived;

        /// <summary>The answer to a Ping.</summary>
        public event Action<Pong>? PongReceived;

        // Everything that arrived before this was called; a handler that throws costs no other message.
        internal void Dispatch()
        {
            for (var left = _inbox.Count; left > 0 && _inbox.TryTake(out var entry); left--)
            {
                if (entry.Response == null)
                {
                    Change(entry.State, entry.Error);
                    continue;
                }
                var kept = false;
                try
                {
                    kept = Dispatch(entry.Response);
                }
                finally
                {
                    _inbox.GiveBack(entry, kept);
                }
            }
        }

        private void Change(SessionState state, RpcException? error)
        {
            if (State == SessionState.Ended) return;
            var changed = state != State;
            State = state;
            if (_speaking && state != SessionState.Running)
            {
                _speaking = false;
                PlaybackCut?.Invoke(new TurnInfo(TurnId, Epoch, 0));
            }
            if (changed) StateChanged?.Invoke(state);
            if (state == SessionState.Ended) Ended?.Invoke(error);
            else if (error != null) Retrying?.Invoke(error);
        }

        // Whether the message must not be used again.
        private bool Dispatch(ConverseResponse response)
        {
            var turn = new TurnInfo(response.TurnId, response.Epoch, response.Seq);
            if (response.SessionStarted is SessionStarted started)
            {
                Epoch = response.Epoch;
                Negotiated = started;
                if (!started.Resumed) TurnId = _interrupted = ""; // Turns are counted anew.
                _shapes = started.Rig!.BlendshapeNames.Count;
                _rotations = 4 * (started.Body?.BoneNames.Count ?? 0);
                Started?.Invoke(started);
                return true;
            }
            if (response.Epoch < Epoch) return false;
            if (response.Epoch > Epoch)
            {
                Epoch = response.Epoch;
                if (_speaking)
                {
                    _speaking = false;
                    PlaybackCut?.Invoke(turn);
                }
            }
            var ended = response.Turn is TurnState { State: TurnStateState.Done or TurnStateState.Interrupted or TurnStateState.Failed };
            if (response.TurnId.Length > 0 && response.TurnId == _interrupted && !ended) return false;
            Raise(turn, response);
            return false;
        }

        private void Raise(TurnInfo turn, ConverseResponse response)
        {
            switch (response.PayloadCase)
            {
                case ConverseResponse.PayloadOneofCase.SpeechActivity:
                    SpeechHeard?.Invoke(turn, response.SpeechActivity!);
                    break;
                case ConverseResponse.PayloadOneofCase.Transcript:
                    TranscriptReceived?.Invoke(turn, response.Transcript!);
                    break;
                case ConverseResponse.PayloadOneofCase.Turn:
                    Raise(turn, response.Turn!);
                    break;
                case ConverseResponse.PayloadOneofCase.TextDelta:
                    TurnId = turn.TurnId;
                    TextReceived?.Invoke(turn, response.TextDelta!);
                    break;
                case ConverseResponse.PayloadOneofCase.Media:
                    TurnId = turn.TurnId;
                    _speaking = true;
                    Raise(turn, response.Media!);
                    break;
                case ConverseResponse.PayloadOneofCase.Metrics:
                    MetricsReceived?.Invoke(turn, response.Metrics!);
                    break;
                case ConverseResponse.PayloadOneofCase.Notice:
                    NoticeReceived?.Invoke(turn, response.Notice!);
                    break;
                case ConverseResponse.PayloadOneofCase.ToolCall:
                    ToolCalled?.Invoke(turn, response.ToolCall!);
                    break;
                case ConverseResponse.PayloadOneofCase.GoingAway:
                    GoingAwayReceived?.Invoke(response.GoingAway!);
                    break;
                case ConverseResponse.PayloadOneofCase.Pong:
                    PongReceived?.Invoke(response.Pong!);
                    break;
                case ConverseResponse.PayloadOneofCase.Motion:
                    Raise(turn, response.Motion!);
                    break;
            }
        }

        private bool Fits(BodyFrame frame) => _rotations > 0 && frame.Rotations.Count == _rotations;

        private void Raise(TurnInfo turn, Motion motion)
        {
            foreach (var frame in motion.Body)
                if (!Fits(frame)) return;
            MotionReceived?.Invoke(turn, motion);
        }

        private void Raise(TurnInfo turn, TurnState state)
        {
            if (state.State == TurnStateState.Thinking || state.State == TurnStateState.Speaking) TurnId = turn.TurnId;
            var cut = _speaking && turn.TurnId == TurnId && (state.State == TurnStateState.Interrupted || state.State == TurnStateState.Failed);
            if (cut || state.State == TurnStateState.Done) _speaking = false;
            if (cut) PlaybackCut?.Invoke(turn);
            TurnChanged?.Invoke(turn, state);
        }

        private void Raise(TurnInfo turn, MediaChunk media)
        {
            if (FaceReceived is Action<TurnInfo, Frame> face)
                foreach (var frame in media.Frames)
                    if (frame.Weights.Count == _shapes) face(turn, frame);
            if (BodyReceived is Action<TurnInfo, BodyFrame> body)
                foreach (var frame in media.Body)
                    if (Fits(frame)) body(turn, frame);
            if (CueReceived is Action<TurnInfo, Cue> cued)
                foreach (var cue in media.Cues) cued(turn, cue);
            AudioReceived?.Invoke(turn, media);
        }
    }
}
