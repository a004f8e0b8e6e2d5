#nullable enable
using System;
using System.Collections.Generic;
using UnityEngine;

namespace Taoxr.Avatar
{
    /// <summary>
    /// Puts poses of VRM's humanoid on a skeleton of Unity. A rotation n from the T-pose, about the avatar's axes, turns a bone whose
    /// rotation at rest is R and whose parent's is P (both in the avatar's frame) to P⁻¹ n R; so bones may have any axes.
    /// Rotations of bones that the skeleton lacks (an upper chest, say) are passed on to the bones that hang on them.
    /// </summary>
    internal sealed class Skeleton
    {
        private readonly Bone[] _bones;
        private readonly Quaternion[] _lost;
        private Transform? _hips;
        private Vector3 _hipsRest;
        private Quaternion _hipsFrame = Quaternion.identity;
        private float _hipsScale;

        private struct Bone
        {
            public Transform? Transform;
            public Quaternion Rest;
            public Quaternion FromParent;
            public int Parent;
            public bool IsEye;
        }

        /// <param name="names">Bones of the poses, as VRM 1.0 names them.</param>
        /// <param name="find">The skeleton's bone; null where it lacks one.</param>
        /// <param name="root">What stands on the floor and faces +Z.</param>
        /// <param name="rest">The local rotation and position of a transform in the T-pose.</param>
        public Skeleton(IReadOnlyList<string> names, Func<HumanBodyBones, Transform?> find, Transform root, Func<Transform, (Quaternion Rotation, Vector3 Position)> rest)
        {
            _bones = new Bone[names.Count];
            _lost = new Quaternion[names.Count];
            for (var i = 0; i < names.Count; i++)
            {
                ref var bone = ref _bones[i];
                bone.Parent = ParentOf(names, i);
                bone.IsEye = names[i].EndsWith("Eye", StringComparison.Ordinal);
                if (!Humanoid.TryGet(names[i], out var which)) continue;
                var transform = find(which);
                if (transform == null) continue;
                bone.Transform = transform;
                var parent = RestInRoot(transform.parent, root, rest);
                bone.Rest = parent * rest(transform).Rotation;
                bone.FromParent = Quaternion.Inverse(parent);
                Count++;
                if (which == HumanBodyBones.Hips) TakeHips(transform, root, parent, rest);
            }
        }

        /// <summary>Bones that the skeleton has.</summary>
        public int Count { get; }

        /// <summary>Shows a pose.</summary>
        /// <param name="rotations">x, y, z, w per bone, as the server sends them.</param>
        /// <param name="hips">The displacement of the hips.</param>
        /// <param name="weight">How much of it, over what is there: 0 to 1.</param>
        /// <param name="eyes">Whether it moves the eyes.</param>
        public void Pose(Span<float> rotations, Span<float> hips, float weight, bool eyes)
        {
            for (var i = 0; i < _bones.Length; i++)
            {
                ref readonly var bone = ref _bones[i];
                var turn = Humanoid.ToUnity(rotations[4 * i], rotations[4 * i + 1], rotations[4 * i + 2], rotations[4 * i + 3]);
                if (bone.Parent >= 0) turn = _lost[bone.Parent] * turn;
                var there = bone.Transform is Transform transform && transform != null;
                _lost[i] = there ? Quaternion.identity : turn;
                if (!there || bone.IsEye && !eyes) continue;
                var target = bone.FromParent * turn * bone.Rest;
                bone.Transform!.localRotation = weight >= 1 ? target : Quaternion.Slerp(bone.Transform.localRotation, target, weight);
            }
            if (_hips == null) return;
            var place = _hipsRest + _hipsFrame * Humanoid.ToUnity(hips[0], hips[1], hips[2]) * _hipsScale;
            _hips.localPosition = weight >= 1 ? place : Vector3.Lerp(_hips.localPosition, place, weight);
        }

        private void TakeHips(Transform hips, Transform root, Quaternion parent, Func<Transform, (Quaternion Rotation, Vector3 Position)> rest)
        {
            var place = Vector3.zero;
            float scale = 1;
            for (var at = hips; at != null && at != root; at = at.parent)
            {
                var (rotation, position) = at == hips ? (Quaternion.identity, rest(at).Position) : rest(at);
                place = at == hips ? position : rotation * (place * at.localScale.x) + position;
                if (at != hips) scale *= at.localScale.x;
            }
            _hips = hips;
            _hipsRest = rest(hips).Position;
            _hipsFrame = Quaternion.Inverse(parent);
            _hipsScale = place.y / Humanoid.HipsHeight / scale;
        }

        private static Quaternion RestInRoot(Transform? transform, Transform root, Func<Transform, (Quaternion Rotation, Vector3 Position)> rest)
        {
            var rotation = Quaternion.identity;
            for (var at = transform; at != null && at != root; at = at.parent) rotation = rest(at).Rotation * rotation;
            return rotation;
        }

        // The nearest bone above it that the poses have; parents come first in them.
        private static int ParentOf(IReadOnlyList<string> names, int index)
        {
            for (var name = Humanoid.ParentOf(names[index]); name != null; name = Humanoid.ParentOf(name))
                for (var i = 0; i < index; i++)
                    if (names[i] == name) return i;
            return -1;
        }
    }
}
