#nullable enable
using System;
using System.Diagnostics;
using Taoxr.Client;
using Taoxr.Protocol.V1;

namespace Taoxr.Avatar
{
    /// <summary>
    /// What a conversation shows and says: takes in its events, and works out each frame what face, body and caption belong to the
    /// sound that is heard now. No part of Unity is in it; TaoxrAvatar hands on what it says. For the main thread.
    /// </summary>
    public sealed class AvatarPlayback
    {
        private const double ReportSeconds = 0.1;
        private const double StuckSeconds = 2;
        private const long MuchUs = 500_000;

        private readonly ConversationSession _session;
        private readonly double _startSeconds;
        private readonly float[] _arkit = new float[Arkit.Names.Count];
        private int[] _places = Array.Empty<int>();
        private FaceTrack? _face;
        private double _sinceReport;
        private long _reportedUs;
        private string _reportedTurn = "";
        private double _stuck;
        private bool _saidStuck;

        /// <param name="session">The conversation.</param>
        /// <param name="startSeconds">How much sound must have come before it begins.</param>
        public AvatarPlayback(ConversationSession session, double startSeconds)
        {
            _session = session;
            _startSeconds = startSeconds;
            session.Started += Start;
            session.AudioReceived += Take;
            session.MotionReceived += (turn, motion) => Body?.AddMotion(NowUs(), motion);
            session.PlaybackCut += turn => Cut();
            session.TurnChanged += (turn, state) =>
            {
                if (state.State == TurnStateState.Done || state.State == TurnStateState.Failed) Voice?.Complete();
            };
        }

        /// <summary>There is a voice to play now, which takes the place of the one before.</summary>
        public event Action<Voice>? VoiceBegan;

        /// <summary>Something does not fit, in words for the developer.</summary>
        public event Action<string>? Failed;

        /// <summary>The avatar's sound; null before the conversation runs.</summary>
        public Voice? Voice { get; private set; }

        /// <summary>The avatar's body; null without one.</summary>
        public BodyTrack? Body { get; private set; }

        /// <summary>What the avatar says.</summary>
        public CaptionTrack Captions { get; } = new CaptionTrack();

        /// <summary>The face of the last Update: the 52 ARKit coefficients. Gaze and lids are yours to add.</summary>
        public Span<float> Face => _arkit;

        /// <summary>Whether the caption has changed in the last Update.</summary>
        public bool CaptionChanged { get; private set; }

        /// <summary>Stops the avatar, here at once.</summary>
        public void Interrupt()
        {
            if (Voice != null && Voice.TurnId == _session.TurnId) _session.Interrupt(Voice.PlayedUs);
            else _session.Interrupt();
        }

        /// <summary>Works out what belongs to the sound that is heard now, and tells the server how far it is.</summary>
        /// <param name="latencySeconds">How long after it went to the device sound is heard.</param>
        /// <param name="seconds">Time since the last Update.</param>
        public void Update(double latencySeconds, double seconds)
        {
            if (Voice == null || _face == null) return;
            Voice.Update(Stopwatch.GetTimestamp(), latencySeconds);
            _face.Update(Voice.HeardUs, Voice.Moves, seconds);
            for (var i = 0; i < _places.Length; i++) _arkit[_places[i]] = _face.Shown[i];
            Body?.Update(NowUs(), Voice.WaitingUs > 0 || Voice.Moves ? Voice.HeardUs : (long?)null);
            CaptionChanged = Captions.Update(Voice.HeardUs);
            Report(seconds);
            SayIfStuck(seconds);
        }

        private void Start(SessionStarted started)
        {
            var rate = started.AudioOut?.SampleRateHz ?? 0;
            var rig = started.Rig;
            if (rate <= 0 || rig == null)
            {
                Failed?.Invoke("the server started a conversation without sound or face");
                return;
            }
            var places = new int[rig.BlendshapeNames.Count];
            for (var i = 0; i < places.Length; i++)
            {
                places[i] = Arkit.IndexOf(rig.BlendshapeNames[i]);
                if (places[i] >= 0) continue;
                Failed?.Invoke("the server's lips move \"" + rig.Space + "\", not " + Arkit.Space + ": choose another model for its lips");
                return;
            }
            _places = places;
            _face = new FaceTrack(places.Length);
            Body = started.Body is BodyDescription body && body.BoneNames.Count > 0 ? new BodyTrack(body.BoneNames) : null;
            if (Voice?.Rate == rate) return;
            Voice = new Voice(rate, _startSeconds);
            VoiceBegan?.Invoke(Voice);
        }

        private void Take(TurnInfo turn, MediaChunk media)
        {
            if (Voice == null || _face == null) return;
            var toVoiceTime = Voice.Add(turn.TurnId, media.StartUs, media.Pcm.Span, media.Last);
            foreach (var frame in media.Frames) _face.Add(frame.TimeUs + toVoiceTime, frame.Weights.Span);
            if (Body != null)
                foreach (var frame in media.Body) Body.AddMedia(frame.TimeUs + toVoiceTime, frame);
            Captions.Add(media.StartUs + toVoiceTime, turn.TurnId, media.ClauseText);
        }

        private void Cut()
        {
            Voice?.Cut();
            _face?.Clear();
            Body?.CutMedia();
            Captions.Cut();
        }

        private void Report(double seconds)
        {
            _sinceReport += seconds;
            var voice = Voice!;
            if (voice.TurnId.Length == 0 || voice.PlayedUs == _reportedUs && voice.TurnId == _reportedTurn) return;
            if (_sinceReport < ReportSeconds && voice.Moves) return;
            _sinceReport = 0;
            _reportedUs = voice.PlayedUs;
            _reportedTurn = voice.TurnId;
            _session.ReportPlayback(voice.TurnId, voice.PlayedUs, voice.Underruns);
        }

        private void SayIfStuck(double seconds)
        {
            _stuck = Voice!.Moves || Voice.WaitingUs < MuchUs ? 0 : _stuck + seconds;
            if (_stuck < StuckSeconds || _saidStuck) return;
            _saidStuck = true;
            Failed?.Invoke("sound came, but nothing plays it: is there an Audio Listener in the scene, and is the Audio Source enabled?");
        }

        private static long NowUs() => (long)(Stopwatch.GetTimestamp() * (1e6 / Stopwatch.Frequency));
    }
}
