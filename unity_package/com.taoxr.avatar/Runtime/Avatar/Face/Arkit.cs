#nullable enable
using System.Collections.Generic;

namespace Taoxr.Avatar
{
    /// <summary>The 52 ARKit blendshapes, in the order of Apple's documentation of ARFaceAnchor.BlendShapeLocation.</summary>
    public static class Arkit
    {
        /// <summary>The coefficient space as the server names it.</summary>
        public const string Space = "arkit52";

        /// <summary>The names, in the order in which the server sends them.</summary>
        public static readonly IReadOnlyList<string> Names = new[]
        {
            "eyeBlinkLeft", "eyeLookDownLeft", "eyeLookInLeft", "eyeLookOutLeft", "eyeLookUpLeft", "eyeSquintLeft", "eyeWideLeft",
            "eyeBlinkRight", "eyeLookDownRight", "eyeLookInRight", "eyeLookOutRight", "eyeLookUpRight", "eyeSquintRight", "eyeWideRight",
            "jawForward", "jawLeft", "jawRight", "jawOpen",
            "mouthClose", "mouthFunnel", "mouthPucker", "mouthLeft", "mouthRight",
            "mouthSmileLeft", "mouthSmileRight", "mouthFrownLeft", "mouthFrownRight",
            "mouthDimpleLeft", "mouthDimpleRight", "mouthStretchLeft", "mouthStretchRight",
            "mouthRollLower", "mouthRollUpper", "mouthShrugLower", "mouthShrugUpper",
            "mouthPressLeft", "mouthPressRight", "mouthLowerDownLeft", "mouthLowerDownRight", "mouthUpperUpLeft", "mouthUpperUpRight",
            "browDownLeft", "browDownRight", "browInnerUp", "browOuterUpLeft", "browOuterUpRight",
            "cheekPuff", "cheekSquintLeft", "cheekSquintRight", "noseSneerLeft", "noseSneerRight",
            "tongueOut",
        };

        private static readonly Dictionary<string, int> Indices = Index();

        /// <summary>The place of a name; -1 for another.</summary>
        public static int IndexOf(string name) => Indices.TryGetValue(name, out var index) ? index : -1;

        private static Dictionary<string, int> Index()
        {
            var indices = new Dictionary<string, int>(Names.Count);
            for (var i = 0; i < Names.Count; i++) indices.Add(Names[i], i);
            return indices;
        }
    }
}
