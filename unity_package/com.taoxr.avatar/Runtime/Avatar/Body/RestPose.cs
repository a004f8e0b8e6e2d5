#nullable enable
using System;
using System.Collections.Generic;
using UnityEngine;

namespace Taoxr.Avatar
{
    /// <summary>The T-pose of an avatar: as its import settings say it, else as it stands now.</summary>
    internal sealed class RestPose
    {
        private readonly Dictionary<string, SkeletonBone> _bones = new Dictionary<string, SkeletonBone>();

        public RestPose(Animator animator)
        {
            if (animator.avatar == null) return;
            foreach (var bone in animator.avatar.humanDescription.skeleton ?? Array.Empty<SkeletonBone>()) _bones[bone.name] = bone;
        }

        /// <summary>Local rotation and position of a transform.</summary>
        public (Quaternion Rotation, Vector3 Position) Of(Transform transform) =>
            _bones.TryGetValue(transform.name, out var bone)
                ? (bone.rotation, bone.position)
                : (transform.localRotation, transform.localPosition);
    }
}
