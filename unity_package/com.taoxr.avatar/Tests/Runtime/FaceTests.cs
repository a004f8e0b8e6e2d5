using System;
using System.Collections.Generic;
using NUnit.Framework;

namespace Taoxr.Avatar.Tests
{
    public sealed class FaceTests
    {
        private const float Frame = 1 / 60f;

        [Test]
        public void TheFaceFollowsTheSoundAndRestsWithoutIt()
        {
            var face = Track();
            for (var us = 0; us <= 500000; us += 10000) face.Update(us, true, 0.01);
            Assert.AreEqual(0.5, face.Shown[0], 1e-4);
            face.Update(516667, true, Frame);
            Assert.AreEqual(0.516667, face.Shown[0], 1e-4);
            // The sound stands still: so does the mouth, then it closes.
            face.Update(516667, false, Frame);
            Assert.AreEqual(0.516667, face.Shown[0], 1e-4);
            for (var i = 0; i < 20; i++) face.Update(516667, false, Frame);
            Assert.AreEqual(0, face.Shown[0], 1e-4);
        }

        [Test]
        public void NothingJumps()
        {
            var face = Track();
            var last = 0f;
            for (var i = 0; i < 240; i++)
            {
                var moves = i > 10 && i < 60 || i > 100;
                if (i == 150) face.Clear();
                face.Update(Math.Min(i, 60) * 8000L, moves, Frame);
                Assert.Less(Math.Abs(face.Shown[0] - last), 0.35);
                last = face.Shown[0];
            }
            Assert.AreEqual(0, last, 1e-4);
        }

        [Test]
        public void ItHoldsABoundedNumberOfFramesInOrder()
        {
            var face = new FaceTrack(1);
            for (var i = 0; i < 5000; i++) Assert.IsTrue(face.Add(i, new float[1]));
            Assert.AreEqual(1024, face.Count);
            Assert.IsFalse(face.Add(4999, new float[1]));
            Assert.IsFalse(face.Add(6000, new float[2]));
        }

        [TestCase(ShapeKind.Arkit)]
        [TestCase(ShapeKind.Vrm)]
        [TestCase(ShapeKind.ReadyPlayerMe)]
        [TestCase(ShapeKind.OculusVisemes)]
        public void EveryRuleOfAKindFindsItsShape(ShapeKind kind)
        {
            foreach (var form in new Func<string, string>[] { n => n, n => n.ToUpperInvariant(), n => "Face." + n })
            {
                var names = new List<string>();
                foreach (var rule in ShapeTables.Of(kind)) names.Add(form(rule.shapes[0]));
                var mixer = new ShapeMixer(ShapeTables.Of(kind), names);
                Assert.AreEqual(0, mixer.Missing.Count);
                Assert.AreEqual(names.Count, mixer.Count);
            }
        }

        [TestCase("eyeBlink_L", "eyeBlinkLeft")]
        [TestCase("EyeBlinkLeft", "eyeBlinkLeft")]
        [TestCase("blendShape1.eyeBlinkLeft", "eyeBlinkLeft")]
        [TestCase("head_eyeBlinkLeft", "eyeBlinkLeft")]
        [TestCase("Head_eyeBlink_L", "eyeBlinkLeft")]
        [TestCase("jaw open", "jawOpen")]
        public void NamesOfOtherProgramsAreFound(string mesh, string wanted) => Assert.AreEqual(1, new ShapeNames(new[] { "other", mesh }).IndexOf(wanted));

        [Test]
        public void NoNameIsFoundInAnother()
        {
            var names = new ShapeNames(new[] { "mouthLeft", "upperlip_E", "jawOpenWide" });
            Assert.AreEqual(0, names.IndexOf("mouthLeft"));
            Assert.AreEqual(-1, names.IndexOf("E"));
            Assert.AreEqual(-1, names.IndexOf("jawOpen"));
        }

        [Test]
        public void KindsAreGuessed()
        {
            Assert.AreEqual(ShapeKind.Arkit, ShapeMixer.Guess(new List<string>(Arkit.Names)));
            Assert.AreEqual(ShapeKind.Vrm, ShapeMixer.Guess(new[] { "Fcl_MTH_A", "Fcl_MTH_I", "Fcl_EYE_Close_L", "Fcl_EYE_Close_R" }));
            Assert.AreEqual(ShapeKind.ReadyPlayerMe, ShapeMixer.Guess(new[] { "mouthOpen", "mouthSmile" }));
            Assert.AreEqual(ShapeKind.OculusVisemes, ShapeMixer.Guess(new[] { "viseme_sil", "viseme_PP", "viseme_aa", "viseme_O", "viseme_CH" }));
            Assert.AreEqual(ShapeKind.Custom, ShapeMixer.Guess(new[] { "smirk", "yell" }));
        }

        [Test]
        public void WeightsStayBetweenZeroAndOneAndAreSmoothed()
        {
            var rules = new[] { new ShapeRule("open", new ShapeSource("jawOpen", 3)), new ShapeRule("shut", new ShapeSource("jawOpen", -1)), new ShapeRule("smile", new ShapeSource("mouthSmile", 0.25f)) };
            var mixer = new ShapeMixer(rules, new[] { "smile", "shut", "open" });
            var arkit = new float[52];
            for (var i = 0; i < arkit.Length; i++) arkit[i] = 1;
            mixer.Mix(arkit, 0);
            Assert.AreEqual(1, mixer.Weight(0), 0);
            Assert.AreEqual(0, mixer.Weight(1), 0);
            Assert.AreEqual(0.5, mixer.Weight(2), 1e-6);
            Assert.AreEqual(2, mixer.Shape(0));
            mixer.Mix(new float[52], 0.75f);
            Assert.AreEqual(0.75, mixer.Weight(0), 1e-6);
        }

        [Test]
        public void ATypingErrorInATableIsSaid() =>
            Assert.Throws<ArgumentException>(() => new ShapeMixer(new[] { new ShapeRule("a", new ShapeSource("jawOpn", 1)) }, new[] { "a" }));

        [Test]
        public void LidsShutFullyAndOften()
        {
            var blinks = new Blinks(3);
            float most = 0;
            var count = 0;
            var shut = false;
            for (var i = 0; i < 60 * 60; i++)
            {
                var now = blinks.Update(Frame);
                Assert.IsTrue(now >= 0 && now <= 1);
                most = Math.Max(most, now);
                if (now > 0.5 && !shut) count++;
                shut = now > 0.5;
            }
            Assert.Greater(most, 0.9);
            Assert.Greater(count, 10);
            Assert.Less(count, 35);
        }

        [Test]
        public void CaptionsComeWhenTheyAreHeard()
        {
            var captions = new CaptionTrack();
            captions.Add(0, "a", "One.");
            captions.Add(1000, "a", " Two.");
            captions.Add(2000, "b", "Three.");
            Assert.IsTrue(captions.Update(0));
            Assert.AreEqual("One.", captions.Text);
            Assert.IsFalse(captions.Update(999));
            captions.Update(1000);
            Assert.AreEqual("One. Two.", captions.Text);
            captions.Cut();
            Assert.IsFalse(captions.Update(5000));
            for (var i = 0; i < 1000; i++) captions.Add(6000 + i, "c", "x");
            captions.Update(9000);
            Assert.AreEqual(256, captions.Text.Split(' ').Length);
            Assert.AreEqual("four\nfive six", CaptionView.Wrap("one two three four five six", 8, 2));
        }

        // A number that grows from 0 to 1 in a second.
        private static FaceTrack Track()
        {
            var face = new FaceTrack(2);
            for (var i = 0; i <= 30; i++) face.Add(i * 1000000L / 30, new[] { i / 30f, 0 });
            return face;
        }
    }
}
