#nullable enable
using System;
using System.Diagnostics;
using System.Threading;
using UnityEngine;

namespace Taoxr.Avatar
{
    /// <summary>
    /// Plays the avatar's voice through the AudioSource beside it, with its volume, effects and place in space. The sound is made
    /// on the audio thread, block by block: no AudioClip is filled, which would cost a second of delay.
    /// </summary>
    [AddComponentMenu("taoxr/Voice Player")]
    [RequireComponent(typeof(AudioSource))]
    [DisallowMultipleComponent]
    public sealed class VoicePlayer : MonoBehaviour
    {
        [Tooltip("What the device adds to Unity's own latency, in seconds: 0.15 to 0.25 for Bluetooth. Lips are that much later.")]
        [Range(0, 0.5f)]
        public float extraLatency;

        private Voice? _voice;
        private AudioSource? _source;
        private AudioClip? _carrier;
        private float[] _mono = new float[4096];

        /// <summary>How long after it was handed to Unity sound is heard, in seconds.</summary>
        public double Latency { get; private set; }

        /// <summary>Plays this voice from now on; null for none.</summary>
        public void Play(Voice? voice)
        {
            voice?.SetDeviceRate(AudioSettings.outputSampleRate);
            Volatile.Write(ref _voice, voice);
        }

        private void OnEnable()
        {
            _source = GetComponent<AudioSource>();
            AudioSettings.OnAudioConfigurationChanged += Prepare;
            Prepare(false);
        }

        private void OnDisable()
        {
            AudioSettings.OnAudioConfigurationChanged -= Prepare;
            if (_source != null) _source.Stop();
            if (_carrier != null) Destroy(_carrier);
            _carrier = null;
        }

        // Also when another device was chosen, which stops every source and may change the rate.
        private void Prepare(bool deviceChanged)
        {
            var rate = AudioSettings.outputSampleRate;
            AudioSettings.GetDSPBufferSize(out var length, out var count);
            Latency = (double)length * count / rate;
            Volatile.Read(ref _voice)?.SetDeviceRate(rate);
            // Unity applies volume and place to what a source plays before the filter below sees it: it plays ones, which
            // then hold just that, and the voice is multiplied in.
            if (_carrier != null) Destroy(_carrier);
            _carrier = AudioClip.Create("taoxr voice", rate, 1, rate, false);
            var ones = new float[rate];
            Array.Fill(ones, 1f);
            _carrier.SetData(ones, 0);
            _source!.clip = _carrier;
            _source.loop = true;
            _source.pitch = 1;
            _source.dopplerLevel = 0;
            _source.priority = 0;
            _source.Play();
        }

        // Called by the audio thread.
        private void OnAudioFilterRead(float[] data, int channels)
        {
            var voice = Volatile.Read(ref _voice);
            if (voice == null)
            {
                Array.Clear(data, 0, data.Length);
                return;
            }
            var frames = data.Length / channels;
            if (_mono.Length < frames) _mono = new float[frames];
            voice.Read(new Span<float>(_mono, 0, frames), 1, Stopwatch.GetTimestamp());
            for (var i = 0; i < data.Length; i++) data[i] *= _mono[i / channels];
        }
    }
}
