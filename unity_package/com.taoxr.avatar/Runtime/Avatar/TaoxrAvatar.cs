#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using Taoxr.Client;
using Taoxr.Protocol.V1;
using UnityEngine;
using Debug = UnityEngine.Debug;

namespace Taoxr.Avatar
{
    /// <summary>How the user speaks to the avatar.</summary>
    public enum ListenMode
    {
        /// <summary>The microphone is open; the server finds the end of what is said.</summary>
        HandsFree,

        /// <summary>The user says when: MicrophoneStreamer.Talk.</summary>
        PushToTalk,

        /// <summary>There is no microphone: TaoxrAvatar.Ask.</summary>
        TextOnly,
    }

    /// <summary>
    /// A talking avatar: put it on a GameObject, type where the server is, press play. It finds or adds what plays the voice, moves
    /// the face and the body, and looks; put those components there yourself to set them.
    /// </summary>
    [AddComponentMenu("taoxr/Taoxr Avatar")]
    [DisallowMultipleComponent]
    [DefaultExecutionOrder(100)]
    public sealed partial class TaoxrAvatar : MonoBehaviour
    {
        [Tooltip("Where \"taoxr serve\" runs: host:port, or https://host:port with TLS. A headset needs the address of your PC.")]
        public string server = "127.0.0.1:50061";

        [Tooltip("Allows a server on another machine without TLS. Whoever is on the network can listen in.")]
        public bool allowInsecure;

        [Tooltip("PEM text of the authority that signed the server's certificate; empty: those that the platform knows.")]
        public TextAsset? certificate;

        [Tooltip("How the user speaks.")]
        public ListenMode listening = ListenMode.HandsFree;

        [Tooltip("Headphones, or a device that cancels echo: the server need not look for the avatar's voice in the user's.")]
        public bool echoCancelled;

        [Tooltip("Who the avatar is, in a few sentences; empty: as the server has it.")]
        [TextArea(2, 6)]
        public string persona = "";

        [Tooltip("Sound that must have come before the avatar begins to speak, in seconds; more for a bad network.")]
        [Range(0, 1)]
        public float startBuffer = 0.08f;

        private readonly Dictionary<string, AvatarTool> _tools = new Dictionary<string, AvatarTool>();
        private ClientOptions _options = new ClientOptions();
        private VoicePlayer? _voice;
        private BlendshapeDriver? _face;
        private BodyDriver? _body;
        private GazeDriver? _gaze;
        private MicrophoneStreamer? _microphone;
        private CaptionView? _caption;
        private bool _saidWaiting;

        /// <summary>A conversation begins; add your handlers to it here.</summary>
        public event Action<ConversationSession>? ConversationBegan;

        /// <summary>A step of the connection.</summary>
        public event Action<ConnectionChange>? ConnectionChanged;

        /// <summary>Something that the user should know.</summary>
        public event Action<string>? Said;

        /// <summary>Secret that the server wants; not kept in the scene. Set it before the component is enabled, or Restart.</summary>
        public string? Token { get; set; }

        /// <summary>The connection; null while this is disabled.</summary>
        public TaoxrClient? Client { get; private set; }

        /// <summary>The conversation; null while this is disabled.</summary>
        public ConversationSession? Session { get; private set; }

        /// <summary>What is shown and said; null while this is disabled.</summary>
        public AvatarPlayback? Playback { get; private set; }

        /// <summary>How long the server took to answer MeasureRoundTrip, in milliseconds; 0 before.</summary>
        public double RoundTripMs { get; private set; }

        /// <summary>From the end of what the user said to the first sound of the answer, in milliseconds; 0 before.</summary>
        public double AnswerMs { get; private set; }

        /// <summary>Asks something, typed.</summary>
        public void Ask(string text) => Session?.Ask(text);

        /// <summary>The avatar is quiet, at once.</summary>
        public void Interrupt() => Playback?.Interrupt();

        /// <summary>Lets the avatar call a function of yours. Add tools before this is enabled, or Restart.</summary>
        public void AddTool(AvatarTool tool) => _tools[tool.Name] = tool;

        /// <summary>Asks the server how far away it is; RoundTripMs then has it.</summary>
        public void MeasureRoundTrip() => Session?.Ping(NowUs());

        /// <summary>Begins anew, with the settings as they are now.</summary>
        public void Restart()
        {
            Stop();
            if (isActiveAndEnabled) Begin();
        }

        /// <summary>Ends the conversation and the connection, within a second.</summary>
        public void Stop()
        {
            if (Client == null) return;
            LiveAvatars.Remove(this);
            if (_microphone != null) _microphone.Send(null);
            if (_voice != null) _voice.Play(null);
            Client.Dispose();
            Client = null;
            Session = null;
            Playback = null;
        }

        /// <summary>The settings for the client.</summary>
        /// <exception cref="FormatException">"server" names none.</exception>
        public ClientOptions Options()
        {
            var options = ClientOptions.For(server);
            options.AllowInsecure = allowInsecure;
            options.Token = Token;
            options.RootCertificates = certificate != null ? certificate.text : null;
            return options;
        }

        private void OnEnable() => Begin();

        private void OnDisable() => Stop();

        private void OnApplicationQuit() => Stop();

        private void Begin()
        {
            try
            {
                _options = Options();
            }
            catch (FormatException error)
            {
                Debug.LogError("taoxr: server " + error.Message, this);
                return;
            }
            if (Application.platform == RuntimePlatform.Android && Hints.IsLoopback(_options.Host))
                Debug.LogWarning("taoxr: " + _options.Host + " is this device itself; type the address of the PC where \"taoxr serve\" runs", this);
            Find();
            Client = new TaoxrClient(_options);
            Client.StateChanged += OnConnection;
            Session = Client.Converse(Config());
            Playback = new AvatarPlayback(Session, startBuffer);
            Wire(Session, Playback);
            LiveAvatars.Add(this);
            if (listening != ListenMode.TextOnly) _microphone!.Send(Session, listening == ListenMode.PushToTalk);
            ConversationBegan?.Invoke(Session);
        }

        private void Update() => Client?.Poll();

        // After the Animator, whose bones the body moves on.
        private void LateUpdate()
        {
            if (Playback == null) return;
            // A game that is paused still talks.
            var seconds = Time.unscaledDeltaTime;
            Playback.Update(_voice!.Latency + _voice.extraLatency, seconds);
            if (Playback.Body != null && _body != null) _body.Show(Playback.Body, _gaze == null || !_gaze.isActiveAndEnabled);
            if (_gaze != null && _gaze.isActiveAndEnabled)
            {
                _gaze.Show(Playback.Face, seconds);
                if (Playback.Body != null) _gaze.Tell(Session!, seconds);
            }
            if (_face != null) _face.Show(Playback.Face, seconds);
            if (Playback.CaptionChanged && _caption != null) _caption.ShowAvatar(Playback.Captions.Text);
        }

        private void Find()
        {
            _voice = Get<VoicePlayer>();
            _face = Get<BlendshapeDriver>();
            _gaze = Get<GazeDriver>();
            _body = GetComponentInChildren<BodyDriver>();
            if (_body == null)
            {
                var animator = GetComponentInChildren<Animator>();
                if (animator != null && animator.isHuman) _body = gameObject.AddComponent<BodyDriver>();
            }
            _caption = GetComponentInChildren<CaptionView>();
            if (listening != ListenMode.TextOnly)
            {
                _microphone = Get<MicrophoneStreamer>();
                _microphone.Failed -= Say;
                _microphone.Failed += Say;
            }
        }

        private T Get<T>() where T : Component
        {
            var found = GetComponentInChildren<T>();
            return found != null ? found : gameObject.AddComponent<T>();
        }

        private static long NowUs() => (long)(Stopwatch.GetTimestamp() * (1e6 / Stopwatch.Frequency));
    }
}
