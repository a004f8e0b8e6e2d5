#nullable enable
using System.Collections.Generic;
using UnityEngine;

namespace Taoxr.Avatar
{
    /// <summary>The humanoid bones of VRM 1.0, which the server names, and Unity's.</summary>
    public static class Humanoid
    {
        /// <summary>Height of the hips for which the server says their displacement, in metres.</summary>
        public const float HipsHeight = 0.95f;

        private static readonly string[] Fingers = { "Index", "Middle", "Ring", "Little" };

        private static readonly Dictionary<string, HumanBodyBones> Bones = new Dictionary<string, HumanBodyBones>
        {
            { "hips", HumanBodyBones.Hips }, { "spine", HumanBodyBones.Spine }, { "chest", HumanBodyBones.Chest },
            { "upperChest", HumanBodyBones.UpperChest }, { "neck", HumanBodyBones.Neck }, { "head", HumanBodyBones.Head },
            { "jaw", HumanBodyBones.Jaw }, { "leftEye", HumanBodyBones.LeftEye }, { "rightEye", HumanBodyBones.RightEye },
            { "leftShoulder", HumanBodyBones.LeftShoulder }, { "rightShoulder", HumanBodyBones.RightShoulder },
            { "leftUpperArm", HumanBodyBones.LeftUpperArm }, { "rightUpperArm", HumanBodyBones.RightUpperArm },
            { "leftLowerArm", HumanBodyBones.LeftLowerArm }, { "rightLowerArm", HumanBodyBones.RightLowerArm },
            { "leftHand", HumanBodyBones.LeftHand }, { "rightHand", HumanBodyBones.RightHand },
            { "leftUpperLeg", HumanBodyBones.LeftUpperLeg }, { "rightUpperLeg", HumanBodyBones.RightUpperLeg },
            { "leftLowerLeg", HumanBodyBones.LeftLowerLeg }, { "rightLowerLeg", HumanBodyBones.RightLowerLeg },
            { "leftFoot", HumanBodyBones.LeftFoot }, { "rightFoot", HumanBodyBones.RightFoot },
            { "leftToes", HumanBodyBones.LeftToes }, { "rightToes", HumanBodyBones.RightToes },
            // VRM counts the thumb from the hand, Unity calls its first bone the proximal one.
            { "leftThumbMetacarpal", HumanBodyBones.LeftThumbProximal }, { "rightThumbMetacarpal", HumanBodyBones.RightThumbProximal },
            { "leftThumbProximal", HumanBodyBones.LeftThumbIntermediate }, { "rightThumbProximal", HumanBodyBones.RightThumbIntermediate },
            { "leftThumbDistal", HumanBodyBones.LeftThumbDistal }, { "rightThumbDistal", HumanBodyBones.RightThumbDistal },
            { "leftIndexProximal", HumanBodyBones.LeftIndexProximal }, { "rightIndexProximal", HumanBodyBones.RightIndexProximal },
            { "leftIndexIntermediate", HumanBodyBones.LeftIndexIntermediate }, { "rightIndexIntermediate", HumanBodyBones.RightIndexIntermediate },
            { "leftIndexDistal", HumanBodyBones.LeftIndexDistal }, { "rightIndexDistal", HumanBodyBones.RightIndexDistal },
            { "leftMiddleProximal", HumanBodyBones.LeftMiddleProximal }, { "rightMiddleProximal", HumanBodyBones.RightMiddleProximal },
            { "leftMiddleIntermediate", HumanBodyBones.LeftMiddleIntermediate }, { "rightMiddleIntermediate", HumanBodyBones.RightMiddleIntermediate },
            { "leftMiddleDistal", HumanBodyBones.LeftMiddleDistal }, { "rightMiddleDistal", HumanBodyBones.RightMiddleDistal },
            { "leftRingProximal", HumanBodyBones.LeftRingProximal }, { "rightRingProximal", HumanBodyBones.RightRingProximal },
            { "leftRingIntermediate", HumanBodyBones.LeftRingIntermediate }, { "rightRingIntermediate", HumanBodyBones.RightRingIntermediate },
            { "leftRingDistal", HumanBodyBones.LeftRingDistal }, { "rightRingDistal", HumanBodyBones.RightRingDistal },
            { "leftLittleProximal", HumanBodyBones.LeftLittleProximal }, { "rightLittleProximal", HumanBodyBones.RightLittleProximal },
            { "leftLittleIntermediate", HumanBodyBones.LeftLittleIntermediate }, { "rightLittleIntermediate", HumanBodyBones.RightLittleIntermediate },
            { "leftLittleDistal", HumanBodyBones.LeftLittleDistal }, { "rightLittleDistal", HumanBodyBones.RightLittleDistal },
        };

        private static readonly Dictionary<string, string> Parents = MakeParents();

        /// <summary>Unity's bone of a name.</summary>
        public static bool TryGet(string vrm, out HumanBodyBones bone) => Bones.TryGetValue(vrm, out bone);

        /// <summary>The bone that a bone hangs on; null of the hips and of what is no bone.</summary>
        public static string? ParentOf(string vrm) => Parents.TryGetValue(vrm, out var parent) ? parent : null;

        /// <summary>From the avatar's frame (right-handed, +X to its left) to Unity's (left-handed, +X to its right).</summary>
        public static Quaternion ToUnity(float x, float y, float z, float w) => new Quaternion(x, -y, -z, w);

        /// <summary>The same, of a place.</summary>
        public static Vector3 ToUnity(float x, float y, float z) => new Vector3(-x, y, z);

        private static Dictionary<string, string> MakeParents()
        {
            var parents = new Dictionary<string, string>
            {
                { "spine", "hips" }, { "chest", "spine" }, { "upperChest", "chest" }, { "neck", "upperChest" }, { "head", "neck" },
                { "jaw", "head" }, { "leftEye", "head" }, { "rightEye", "head" },
            };
            foreach (var side in new[] { "left", "right" })
            {
                parents.Add(side + "Shoulder", "upperChest");
                parents.Add(side + "UpperArm", side + "Shoulder");
                parents.Add(side + "LowerArm", side + "UpperArm");
                parents.Add(side + "Hand", side + "LowerArm");
                parents.Add(side + "UpperLeg", "hips");
                parents.Add(side + "LowerLeg", side + "UpperLeg");
                parents.Add(side + "Foot", side + "LowerLeg");
                parents.Add(side + "Toes", side + "Foot");
                Chain(parents, side, "ThumbMetacarpal", "ThumbProximal", "ThumbDistal");
                foreach (var finger in Fingers) Chain(parents, side, finger + "Proximal", finger + "Intermediate", finger + "Distal");
            }
            return parents;
        }

        private static void Chain(Dictionary<string, string> parents, string side, params string[] names)
        {
            var above = side + "Hand";
            foreach (var name in names)
            {
                parents.Add(side + name, above);
                above = side + name;
            }
        }
    }
}
