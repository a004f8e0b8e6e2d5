#nullable enable
using UnityEngine;

namespace Taoxr.Avatar
{
    /// <summary>
    /// Moves a humanoid by the server's body track: breath, gestures, nods. It writes the bones after the Animator has, so a
    /// controller may run below it; Weight mixes the two.
    /// </summary>
    [AddComponentMenu("taoxr/Body Driver")]
    [DisallowMultipleComponent]
    public sealed class BodyDriver : MonoBehaviour
    {
        [Tooltip("The humanoid; empty: the Animator on this object or below it.")]
        public Animator? animator;

        [Tooltip("How much of the server's pose is shown, over what the Animator does.")]
        [Range(0, 1)]
        public float weight = 1;

        private BodyTrack? _track;
        private Skeleton? _skeleton;

        /// <summary>Whether there is a humanoid to move.</summary>
        public bool HasHumanoid => Find() != null;

        /// <summary>Shows the pose of a body.</summary>
        /// <param name="track">The body.</param>
        /// <param name="eyes">Whether the body turns the eyes, too.</param>
        public void Show(BodyTrack track, bool eyes)
        {
            if (track != _track) Prepare(track);
            if (_skeleton != null && track.Shows && weight > 0) _skeleton.Pose(track.Rotations, track.Hips, weight, eyes);
        }

        private void Prepare(BodyTrack track)
        {
            _track = track;
            var found = Find();
            _skeleton = null;
            if (found == null) return;
            _skeleton = new Skeleton(track.Bones, found.GetBoneTransform, found.transform, new RestPose(found).Of);
        }

        private Animator? Find()
        {
            if (animator == null) animator = GetComponentInChildren<Animator>();
            return animator != null && animator.isHuman ? animator : null;
        }
    }
}
