#nullable disable
using System;

namespace UnityEngine
{
    public sealed class AudioClip : Object
    {
        private readonly float[] _data;

        private AudioClip(int samples, int channels, int frequency)
        {
            _data = new float[samples * channels];
            this.samples = samples;
            this.channels = channels;
            this.frequency = frequency;
        }

        public int samples { get; }

        public int channels { get; }

        public int frequency { get; }

        public static AudioClip Create(string name, int lengthSamples, int channels, int frequency, bool stream) =>
            new AudioClip(lengthSamples, channels, frequency) { name = name };

        public bool SetData(float[] data, int offsetSamples)
        {
            for (var i = 0; i < data.Length; i++) _data[(offsetSamples * channels + i) % _data.Length] = data[i];
            return true;
        }

        public bool GetData(float[] data, int offsetSamples)
        {
            for (var i = 0; i < data.Length; i++) data[i] = _data[(offsetSamples * channels + i) % _data.Length];
            return true;
        }
    }

    public sealed class AudioSource : Behaviour
    {
        private readonly float[] _one = new float[1];

        public AudioClip clip { get; set; }

        public bool loop { get; set; }

        public bool playOnAwake { get; set; } = true;

        public float pitch { get; set; } = 1;

        public float volume { get; set; } = 1;

        public float spatialBlend { get; set; }

        public float dopplerLevel { get; set; } = 1;

        public int priority { get; set; } = 128;

        public bool isPlaying { get; private set; }

        public void Play() => isPlaying = clip != null;

        public void Stop() => isPlaying = false;

        // What reaches a filter beside the source: a looped clip of one constant is that constant, at the volume.
        internal void Render(float[] into, int channels)
        {
            clip.GetData(_one, 0);
            Array.Fill(into, _one[0] * volume);
        }
    }

    public sealed class AudioListener : Behaviour
    {
    }

    public static class AudioSettings
    {
        public delegate void AudioConfigurationChangeHandler(bool deviceWasChanged);

        public static event AudioConfigurationChangeHandler OnAudioConfigurationChanged;

        public static int outputSampleRate { get; private set; } = 48000;

        public static int DspBufferLength { get; set; } = 512;

        public static double dspTime { get; set; }

        public static void GetDSPBufferSize(out int bufferLength, out int numBuffers)
        {
            bufferLength = DspBufferLength;
            numBuffers = 2;
        }

        // The user chose another device: every source stops.
        public static void ChangeDevice(int rate)
        {
            outputSampleRate = rate;
            foreach (var behaviour in Player.All<MonoBehaviour>()) behaviour.GetComponent<AudioSource>()?.Stop();
            OnAudioConfigurationChanged?.Invoke(true);
        }
    }

    // A microphone whose sound a test supplies.
    public static class Microphone
    {
        private static AudioClip _clip;
        private static int _at;

        public static string[] devices { get; set; } = { "Stub" };

        public static int NativeRate { get; set; }

        public static AudioClip Start(string deviceName, bool loop, int lengthSec, int frequency)
        {
            _at = 0;
            var rate = NativeRate > 0 ? NativeRate : frequency;
            return _clip = AudioClip.Create("Microphone", lengthSec * rate, 1, rate, false);
        }

        public static void End(string deviceName) => _clip = null;

        public static bool IsRecording(string deviceName) => _clip != null;

        public static int GetPosition(string deviceName) => _clip == null ? 0 : _at;

        public static void GetDeviceCaps(string deviceName, out int minFreq, out int maxFreq) => minFreq = maxFreq = NativeRate;

        public static void Hear(float[] samples)
        {
            if (_clip == null) return;
            _clip.SetData(samples, _at);
            _at = (_at + samples.Length) % _clip.samples;
        }
    }
}

namespace UnityEngine.Android
{
    public sealed class PermissionCallbacks
    {
        public event Action<string> PermissionGranted;

        public event Action<string> PermissionDenied;

        public void Answer(string permission, bool granted) => (granted ? PermissionGranted : PermissionDenied)?.Invoke(permission);
    }

    public static class Permission
    {
        public const string Microphone = "android.permission.RECORD_AUDIO";

        public static bool Granted { get; set; }

        public static bool HasUserAuthorizedPermission(string permission) => Granted;

        public static void RequestUserPermission(string permission, PermissionCallbacks callbacks) => callbacks.Answer(permission, Granted);
    }
}
