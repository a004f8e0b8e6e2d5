#nullable enable
using System;

namespace Taoxr.Avatar
{
    /// <summary>The gaze and the lids in ARKit's coefficients, for faces without eye bones (docs/body.md of taoxr).</summary>
    public static class EyeShapes
    {
        /// <summary>Degrees to the side at weight 1.</summary>
        public const float YawAtOne = 30;

        /// <summary>Degrees up or down at weight 1.</summary>
        public const float PitchAtOne = 20;

        private static readonly int OutLeft = Arkit.IndexOf("eyeLookOutLeft"), InRight = Arkit.IndexOf("eyeLookInRight");
        private static readonly int InLeft = Arkit.IndexOf("eyeLookInLeft"), OutRight = Arkit.IndexOf("eyeLookOutRight");
        private static readonly int UpLeft = Arkit.IndexOf("eyeLookUpLeft"), UpRight = Arkit.IndexOf("eyeLookUpRight");
        private static readonly int DownLeft = Arkit.IndexOf("eyeLookDownLeft"), DownRight = Arkit.IndexOf("eyeLookDownRight");
        private static readonly int BlinkLeft = Arkit.IndexOf("eyeBlinkLeft"), BlinkRight = Arkit.IndexOf("eyeBlinkRight");

        /// <summary>Turns the gaze.</summary>
        /// <param name="arkit">The 52 coefficients.</param>
        /// <param name="yaw">Degrees to the avatar's left.</param>
        /// <param name="pitch">Degrees up.</param>
        public static void Look(Span<float> arkit, float yaw, float pitch)
        {
            arkit[OutLeft] = arkit[InRight] = Part(yaw / YawAtOne);
            arkit[InLeft] = arkit[OutRight] = Part(-yaw / YawAtOne);
            arkit[UpLeft] = arkit[UpRight] = Part(pitch / PitchAtOne);
            arkit[DownLeft] = arkit[DownRight] = Part(-pitch / PitchAtOne);
        }

        /// <summary>Shuts the lids, if they are not shut further.</summary>
        public static void Blink(Span<float> arkit, float shut)
        {
            arkit[BlinkLeft] = Math.Max(arkit[BlinkLeft], shut);
            arkit[BlinkRight] = Math.Max(arkit[BlinkRight], shut);
        }

        private static float Part(float x) => Math.Min(Math.Max(x, 0), 1);
    }
}
