using System.Collections.Generic;
using NUnit.Framework;
using UnityEngine;

namespace Taoxr.Avatar.Tests
{
    public sealed class ComponentTests
    {
        private readonly List<GameObject> _made = new List<GameObject>();

        [TearDown]
        public void DestroyAll()
        {
            foreach (var made in _made) UnityEngine.Object.DestroyImmediate(made);
            _made.Clear();
        }

        [Test]
        public void WeightsGoFromZeroToAHundred()
        {
            var face = Face("other", "jawOpen", "mouthSmile_L");
            var driver = face.gameObject.AddComponent<BlendshapeDriver>();
            driver.smoothing = 0;
            driver.Show(Arkit52("jawOpen", 1), 0.016f);
            Assert.AreEqual(100, face.GetBlendShapeWeight(1), 0.01);
            Assert.AreEqual(0, face.GetBlendShapeWeight(0), 0);
            driver.Show(Arkit52("mouthSmileLeft", 0.5f), 0.016f);
            Assert.AreEqual(0, face.GetBlendShapeWeight(1), 0);
            Assert.AreEqual(50, face.GetBlendShapeWeight(2), 0.01);
            Assert.AreEqual(2, driver.ShapeCount);
        }

        [Test]
        public void ShapesOfSeveralMeshesMove()
        {
            var head = Face("jawOpen", "eyeBlinkLeft", "eyeBlinkRight");
            var teeth = Face("jawOpen");
            teeth.transform.parent = head.transform;
            var driver = head.gameObject.AddComponent<BlendshapeDriver>();
            driver.smoothing = 0;
            driver.strength = 0.5f;
            driver.Show(Arkit52("jawOpen", 1), 0.016f);
            Assert.AreEqual(50, head.GetBlendShapeWeight(0), 0.01);
            Assert.AreEqual(50, teeth.GetBlendShapeWeight(0), 0.01);
        }

        [Test]
        public void ATableOfYourOwnIsUsed()
        {
            var face = Face("Yell");
            var map = ScriptableObject.CreateInstance<BlendshapeMap>();
            map.Rules.Add(new ShapeRule("Yell", new ShapeSource("jawOpen", 0.5f)));
            var driver = face.gameObject.AddComponent<BlendshapeDriver>();
            driver.kind = ShapeKind.Custom;
            driver.map = map;
            driver.smoothing = 0;
            driver.Show(Arkit52("jawOpen", 1), 0.016f);
            Assert.AreEqual(50, face.GetBlendShapeWeight(0), 0.01);
        }

        [Test]
        public void AMapBeginsWithAnyTable()
        {
            var map = ScriptableObject.CreateInstance<BlendshapeMap>();
            map.Fill(ShapeKind.Vrm);
            Assert.AreEqual(ShapeTables.Of(ShapeKind.Vrm).Count, map.Rules.Count);
            map.Rules[0].sources[0].gain = 7;
            Assert.AreEqual(2, ShapeTables.Of(ShapeKind.Vrm)[0].sources[0].gain, 0);
        }

        [Test]
        public void EyesFollowAndLidsMove()
        {
            var head = Make("head");
            var looked = Make("looked");
            looked.transform.position = new Vector3(-1, 0, 2);
            var gaze = head.AddComponent<GazeDriver>();
            gaze.target = looked.transform;
            var arkit = new float[52];
            // On its right, seen from itself: Unity's +X, at 26.6 degrees; here to the left.
            for (var i = 0; i < 30; i++) gaze.Show(arkit, 0.016f);
            Assert.AreEqual(26.6 / 30, arkit[Arkit.IndexOf("eyeLookOutLeft")], 0.1);
            Assert.AreEqual(26.6 / 30, arkit[Arkit.IndexOf("eyeLookInRight")], 0.1);
            Assert.AreEqual(0, arkit[Arkit.IndexOf("eyeLookInLeft")], 0);
        }

        private GameObject Make(string name)
        {
            var made = new GameObject(name);
            _made.Add(made);
            return made;
        }

        private SkinnedMeshRenderer Face(params string[] shapes)
        {
            var mesh = new Mesh { vertices = new[] { Vector3.zero, Vector3.up, Vector3.forward }, triangles = new[] { 0, 1, 2 } };
            foreach (var shape in shapes) mesh.AddBlendShapeFrame(shape, 100, new Vector3[3], null, null);
            var face = Make("face").AddComponent<SkinnedMeshRenderer>();
            face.sharedMesh = mesh;
            return face;
        }

        private static float[] Arkit52(string name, float weight)
        {
            var arkit = new float[52];
            arkit[Arkit.IndexOf(name)] = weight;
            return arkit;
        }
    }
}
