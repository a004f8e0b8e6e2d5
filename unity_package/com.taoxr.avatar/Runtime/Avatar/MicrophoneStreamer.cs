#nullable enable
using System;
using Taoxr.Client;
using UnityEngine;

namespace Taoxr.Avatar
{
    /// <summary>
    /// Sends the user's voice to a conversation: asks for the permission, starts the microphone, and again when it was
    /// unplugged or the app was paused.
    /// </summary>
    [AddComponentMenu("taoxr/Microphone Streamer")]
    [DisallowMultipleComponent]
    public sealed class MicrophoneStreamer : MonoBehaviour
    {
        /// <summary>Samples per second that the conversation should be begun with: what the server's ear hears.</summary>
        public const int Rate = 16000;

        private const int BlocksPerSecond = 50;
        private const int ClipSeconds = 2;
        private const float LookSeconds = 0.5f;

        [Tooltip("Name of the microphone; empty: the default one.")]
        public string device = "";

        private ConversationSession? _session;
        private AudioClip? _clip;
        private SoundIn? _sound;
        private float[] _block = Array.Empty<float>();
        private int _at;
        private float _nextLook;
        private bool _pushToTalk;
#if (UNITY_ANDROID || UNITY_IOS || UNITY_VISIONOS) && !UNITY_EDITOR
        private bool _asked;
#endif
        private bool _saidFailure;

        /// <summary>The microphone cannot be used, in words for the user.</summary>
        public event Action<string>? Failed;

        /// <summary>Whether sound comes.</summary>
        public bool IsRunning => _clip != null;

        /// <summary>How loud it is: decibels of full scale, from -80.</summary>
        public float LevelDb => _sound?.LevelDb ?? SoundIn.Silence;

        /// <summary>The same as a meter shows it, 0 to 1.</summary>
        public float Level => Mathf.Clamp01(1 + LevelDb / 60);

        /// <summary>Whether the user is not to be heard; the microphone goes on, for its level.</summary>
        public bool Muted
        {
            get => _session?.Muted ?? false;
            set => _session?.SetMuted(value);
        }

        /// <summary>Push-to-talk: the user begins, or has finished, speaking. Does nothing when hands are free.</summary>
        public void Talk(bool talks)
        {
            if (_session == null || !_pushToTalk) return;
            if (talks) _session.BeginTalking();
            else _session.EndTalking();
        }

        /// <summary>Sends to a conversation from now on.</summary>
        /// <param name="session">It was begun with sound of Rate; null for none.</param>
        /// <param name="pushToTalk">Whether it was begun with InputMode.PushToTalk.</param>
        public void Send(ConversationSession? session, bool pushToTalk = false)
        {
            _session = session;
            _pushToTalk = pushToTalk;
            _nextLook = 0;
            if (session == null) Stop();
        }

        private void OnDisable() => Stop();

        // A paused app must let go of the microphone; Update takes it again.
        private void OnApplicationPause(bool paused)
        {
            if (paused) Stop();
            _nextLook = 0;
        }

        private void Update()
        {
            if (_session == null) return;
            if (Time.unscaledTime >= _nextLook)
            {
                _nextLook = Time.unscaledTime + LookSeconds;
                if (_clip != null && !Microphone.IsRecording(Device)) Stop();
                if (_clip == null && Permitted()) Begin();
            }
            if (_clip != null) Pump();
        }

        private string? Device => device.Length > 0 ? device : null;

        private bool Permitted()
        {
#if UNITY_ANDROID && !UNITY_EDITOR
            if (UnityEngine.Android.Permission.HasUserAuthorizedPermission(UnityEngine.Android.Permission.Microphone)) return true;
            if (!_asked)
            {
                var answers = new UnityEngine.Android.PermissionCallbacks();
                answers.PermissionDenied += _ => Failed?.Invoke("the microphone was not allowed; allow it in the settings of the device");
                UnityEngine.Android.Permission.RequestUserPermission(UnityEngine.Android.Permission.Microphone, answers);
            }
            _asked = true;
            return false;
#elif (UNITY_IOS || UNITY_VISIONOS) && !UNITY_EDITOR
            if (Application.HasUserAuthorization(UserAuthorization.Microphone)) return true;
            if (!_asked) Application.RequestUserAuthorization(UserAuthorization.Microphone);
            _asked = true;
            return false;
#else
            return true;
#endif
        }

        private void Begin()
        {
            if (Microphone.devices.Length == 0)
            {
                Fail("this device has no microphone");
                return;
            }
            Microphone.GetDeviceCaps(Device, out var least, out var most);
            var rate = least == 0 && most == 0 ? Rate : Mathf.Clamp(Rate, least, most);
            _clip = Microphone.Start(Device, true, ClipSeconds, rate);
            if (_clip == null)
            {
                Fail("the microphone \"" + device + "\" does not start; another program may use it");
                return;
            }
            _saidFailure = false;
            var block = _clip.frequency / BlocksPerSecond;
            _block = new float[block * _clip.channels];
            if (_sound?.From != _clip.frequency) _sound = new SoundIn(_clip.frequency, Rate, block);
            _at = 0;
        }

        // Once; it is tried again twice a second.
        private void Fail(string why)
        {
            if (!_saidFailure) Failed?.Invoke(why);
            _saidFailure = true;
        }

        private void Stop()
        {
            if (_clip == null) return;
            Microphone.End(Device);
            Destroy(_clip);
            _clip = null;
        }

        private void Pump()
        {
            var channels = _clip!.channels;
            var block = _block.Length / channels;
            var there = (Microphone.GetPosition(Device) - _at + _clip.samples) % _clip.samples;
            for (; there >= block; there -= block)
            {
                _clip.GetData(_block, _at);
                _at = (_at + block) % _clip.samples;
                for (var i = 0; i < block && channels > 1; i++) _block[i] = Mean(i * channels, channels);
                var count = _sound!.Convert(new Span<float>(_block, 0, block), out var samples);
                _session!.PushAudio(samples, 0, count);
            }
        }

        private float Mean(int start, int channels)
        {
            float sum = 0;
            for (var i = 0; i < channels; i++) sum += _block[start + i];
            return sum / channels;
        }
    }
}
