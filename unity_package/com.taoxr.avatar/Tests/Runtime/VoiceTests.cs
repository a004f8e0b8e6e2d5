using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;
using NUnit.Framework;

namespace Taoxr.Avatar.Tests
{
    /// <summary>The voice on a device whose blocks and clock are the test's.</summary>
    public sealed class VoiceTests
    {
        private const int Rate = 24000;
        private const int DeviceRate = 48000;
        private const int Block = 480;

        private readonly float[] _block = new float[Block];
        private Voice _voice = new Voice(Rate, 0.02);
        private long _blocks;

        [Test]
        public void EverySampleIsPlayedAndTheMouthFollows()
        {
            Begin();
            var offset = _voice.Add("a", 0, Sound(2400), true);
            Assert.AreEqual(0, offset);
            var heard = 0.0;
            for (var i = 0; i < 12; i++)
            {
                heard += Energy(Play());
                // Half of a block after it went to the device.
                Look(0.005);
                Assert.AreEqual(Math.Min(i * 10000 + 5000, 100000), _voice.PlayedUs, 60, "block " + i);
            }
            Assert.AreEqual(100000, _voice.PlayedUs, 60);
            Assert.AreEqual("a", _voice.TurnId);
            Assert.AreEqual(0, _voice.Underruns);
            Assert.AreEqual(2.0 * Energy(Sound(2400)), heard, 0.02 * heard);
            Assert.AreEqual(0, _voice.WaitingUs);
        }

        [Test]
        public void BlocksThatAreAskedForAtOnceAreHeardInTurn()
        {
            Begin();
            _voice.Add("a", 0, Sound(4800), true);
            for (var i = 0; i < 4; i++) _voice.Read(_block, 1, Ticks(0));
            for (var ms = 5; ms < 40; ms += 10)
            {
                _voice.Update(Ticks(0) + ms * Stopwatch.Frequency / 1000, 0);
                Assert.AreEqual(ms * 1000, _voice.PlayedUs, 1000);
            }
        }

        [Test]
        public void LatencyIsTakenOff()
        {
            Begin();
            _voice.Add("a", 0, Sound(4800), true);
            for (var i = 0; i < 6; i++) Play();
            Look(0.01, 0.03);
            Assert.AreEqual(30000, _voice.PlayedUs, 60);
        }

        [Test]
        public void TheMouthStopsWhenTheSoundRunsDry()
        {
            Begin();
            _voice.Add("a", 0, Sound(1200), false);
            for (var i = 0; i < 8; i++) Play();
            Look(0.01);
            var stopped = _voice.PlayedUs;
            Assert.Greater(stopped, 48000);
            Assert.Less(stopped, 50001);
            Assert.AreEqual(1, _voice.Underruns);
            Play();
            Look(0.01);
            Assert.IsFalse(_voice.Moves);
            Assert.AreEqual(stopped, _voice.PlayedUs);
            // The next sound goes on where the last stopped, on the same clock.
            _voice.Add("a", 50000, Sound(1200), true);
            for (var i = 0; i < 8; i++) Play();
            Look(0.01);
            Assert.AreEqual(100000, _voice.PlayedUs, 60);
            Assert.AreEqual(1, _voice.Underruns);
        }

        [Test]
        public void ItWaitsForALittleSound()
        {
            Begin();
            _voice.Add("a", 0, Sound(240), false);
            Assert.AreEqual(0, Energy(Play()), 0);
            _voice.Add("a", 10000, Sound(480), false);
            Assert.Greater(Energy(Play()), 0);
            Assert.AreEqual(0, _voice.Underruns);
        }

        [Test]
        public void AShortTurnIsPlayedWhole()
        {
            Begin();
            _voice.Add("a", 0, Sound(100), true);
            Assert.Greater(Energy(Play()), 0);
            Look(0.01);
            Assert.AreEqual(4167, _voice.PlayedUs, 60);
        }

        [Test]
        public void ACutIsSilentWithinABlockAndTheNextTurnIsWhole()
        {
            Begin();
            _voice.Add("a", 0, Sound(24000), false);
            for (var i = 0; i < 3; i++) Play();
            Look(0.01);
            var played = _voice.PlayedUs;
            _voice.Cut();
            var faded = Play();
            Assert.Greater(Energy(faded.Slice(0, Block / 4)), 0);
            Assert.AreEqual(0, Energy(faded.Slice(Block / 2)), 0);
            Assert.AreEqual(0, Energy(Play()), 0);
            Look(0.01);
            Assert.AreEqual(played, _voice.PlayedUs, 10001);
            Assert.AreEqual(0, _voice.Underruns);
            var offset = _voice.Add("b", 0, Sound(2400), true);
            Assert.AreEqual(1000000, offset);
            for (var i = 0; i < 11; i++) Play();
            Look(0.01);
            Assert.AreEqual("b", _voice.TurnId);
            Assert.AreEqual(100000, _voice.PlayedUs, 60);
            Assert.AreEqual(1100000, _voice.HeardUs, 60);
        }

        [Test]
        public void AnotherDeviceGoesOnWithTheSameSound()
        {
            Begin();
            _voice.Add("a", 0, Sound(4800), true);
            for (var i = 0; i < 10; i++) Play();
            _voice.SetDeviceRate(16000);
            for (var i = 0; i < 5; i++) _voice.Read(new Span<float>(_block, 0, 160), 1, Ticks(10 + i));
            _blocks += 5;
            Look(0.01);
            Assert.AreEqual(150000, _voice.PlayedUs, 100);
        }

        [Test]
        public void BothChannelsGetTheVoice()
        {
            Begin();
            _voice.Add("a", 0, Sound(2400), true);
            var stereo = new float[2 * Block];
            _voice.Read(stereo, 2, Ticks(0));
            for (var i = 0; i < Block; i++) Assert.AreEqual(stereo[2 * i], stereo[2 * i + 1], 0);
            Assert.Greater(Energy(stereo), 0);
        }

        [Test]
        public void TooMuchSoundIsDroppedAndCounted()
        {
            Begin();
            for (var second = 0; second < 15; second++) _voice.Add("a", second * 1000000, Sound(Rate), false);
            Assert.Greater(_voice.Dropped, 0);
            Assert.Less(_voice.WaitingUs, 22000000);
        }

        [Test]
        public void TwoThreadsLoseNothing()
        {
            const int Chunks = 400, Samples = 441;
            var ring = new SampleRing(4096);
            var sound = Sound(Samples);
            var wrong = 0;
            var reader = new Thread(() =>
            {
                var part = new float[Samples];
                for (long at = 0; at < Chunks * Samples; at += Samples)
                {
                    while (ring.Written < at + Samples) Thread.Yield();
                    ring.Copy(at, part);
                    for (var i = 0; i < Samples; i++)
                        if (part[i] != MemoryMarshal.Cast<byte, short>(new Span<byte>(sound))[i] / 32768f) wrong++;
                    ring.Release(at + Samples);
                }
            });
            reader.Start();
            for (var chunk = 0; chunk < Chunks; chunk++)
                for (var at = 0; at < sound.Length;)
                {
                    var took = 2 * ring.Write(new ReadOnlySpan<byte>(sound, at, sound.Length - at));
                    if (took == 0) Thread.Yield();
                    at += took;
                }
            Assert.IsTrue(reader.Join(60000));
            Assert.AreEqual(0, wrong);
        }

        private void Begin()
        {
            _voice = new Voice(Rate, 0.02);
            _voice.SetDeviceRate(DeviceRate);
            _blocks = 0;
        }

        private Span<float> Play()
        {
            _voice.Read(_block, 1, Ticks(_blocks++));
            return _block;
        }

        // Some time after the last block went to the device.
        private void Look(double seconds, double latency = 0) =>
            _voice.Update(Ticks(_blocks - 1) + (long)(seconds * Stopwatch.Frequency), latency);

        private static long Ticks(long block) => 1000 + block * Block * Stopwatch.Frequency / DeviceRate;

        private static byte[] Sound(int samples)
        {
            var bytes = new byte[2 * samples];
            var pcm = MemoryMarshal.Cast<byte, short>(new Span<byte>(bytes));
            for (var i = 0; i < samples; i++) pcm[i] = (short)(8000 * Math.Sin(i * 0.2 + 0.3));
            return bytes;
        }

        private static double Energy(Span<float> samples)
        {
            var sum = 0.0;
            foreach (var sample in samples) sum += sample * sample;
            return sum;
        }

        private static double Energy(byte[] pcm)
        {
            var sum = 0.0;
            foreach (var sample in MemoryMarshal.Cast<byte, short>(new Span<byte>(pcm))) sum += sample / 32768.0 * (sample / 32768.0);
            return sum;
        }
    }
}
