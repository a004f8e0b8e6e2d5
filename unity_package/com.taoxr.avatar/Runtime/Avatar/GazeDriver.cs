#nullable enable
using System;
using Taoxr.Client;
using UnityEngine;

namespace Taoxr.Avatar
{
    /// <summary>
    /// Eyes that look at somebody, and blink: the eye bones of a humanoid where it has them, else ARKit's eyeLook shapes. With a
    /// body, the server turns head and chest to the same place.
    /// </summary>
    [AddComponentMenu("taoxr/Gaze Driver")]
    [DisallowMultipleComponent]
    public sealed class GazeDriver : MonoBehaviour
    {
        private const float MostYaw = 32;
        private const float MostPitch = 22;
        private const float TellSeconds = 0.25f;
        private const float FollowSeconds = 0.06f;

        private static int _made;

        private static readonly string[] EyeBones = { "leftEye", "rightEye" };

        [Tooltip("Whom to look at; empty: the main camera.")]
        public Transform? target;

        [Tooltip("The head, if the avatar is no humanoid; empty: this object.")]
        public Transform? head;

        [Tooltip("Whether it blinks.")]
        public bool blinks = true;

        private readonly float[] _turns = new float[8];
        private readonly float[] _still = new float[3];
        private Blinks? _lids;
        private Glances? _glances;
        private Skeleton? _eyes;
        private Quaternion _headRest = Quaternion.identity;
        private Transform? _root;
        private bool _ready;
        private float _yaw, _pitch, _sinceTold;

        /// <summary>Looks, in this frame; call it after the body was posed.</summary>
        /// <param name="arkit">The 52 coefficients; lids are added to it, and the gaze of a face without eye bones.</param>
        /// <param name="seconds">Time since the last frame.</param>
        public void Show(Span<float> arkit, float seconds)
        {
            if (!_ready) Prepare();
            _glances!.Update(seconds);
            Aim(seconds);
            var yaw = Mathf.Clamp(_yaw + _glances.Yaw, -MostYaw, MostYaw);
            var pitch = Mathf.Clamp(_pitch + _glances.Pitch, -MostPitch, MostPitch);
            if (_eyes == null) EyeShapes.Look(arkit, yaw, pitch);
            else TurnEyes(yaw, pitch);
            if (blinks) EyeShapes.Blink(arkit, _lids!.Update(seconds));
        }

        /// <summary>Lets the server turn head and chest to the same place.</summary>
        /// <param name="session">A conversation with Track.Body.</param>
        /// <param name="seconds">Time since the last frame.</param>
        public void Tell(ConversationSession session, float seconds)
        {
            _sinceTold += seconds;
            var looked = Target();
            if (!_ready || looked == null || _sinceTold < TellSeconds) return;
            _sinceTold = 0;
            var place = _root!.InverseTransformPoint(looked.position);
            session.LookAt(-Near(place.x), Near(place.y), Near(place.z));
        }

        // From the avatar's eyes to the target, as the head sees it.
        private void Aim(float seconds)
        {
            float yaw = 0, pitch = 0;
            var looked = Target();
            if (looked != null)
            {
                var turned = head!.rotation * Quaternion.Inverse(_headRest);
                var way = Quaternion.Inverse(turned) * (looked.position - head.position);
                // Behind the head there is nothing that eyes could look at.
                if (way.z > 0 && !float.IsNaN(way.x) && !float.IsNaN(way.y))
                {
                    yaw = -Mathf.Atan2(way.x, way.z) * Mathf.Rad2Deg;
                    pitch = Mathf.Atan2(way.y, Mathf.Sqrt(way.x * way.x + way.z * way.z)) * Mathf.Rad2Deg;
                }
            }
            var follow = 1 - Mathf.Exp(-seconds / FollowSeconds);
            _yaw += (Mathf.Clamp(yaw, -MostYaw, MostYaw) - _yaw) * follow;
            _pitch += (Mathf.Clamp(pitch, -MostPitch, MostPitch) - _pitch) * follow;
        }

        private void TurnEyes(float yaw, float pitch)
        {
            // About +Y to the avatar's left, then up about -X; right-handed, as the server's bones.
            float y = yaw * Mathf.Deg2Rad / 2, p = -pitch * Mathf.Deg2Rad / 2;
            float sy = Mathf.Sin(y), cy = Mathf.Cos(y), sp = Mathf.Sin(p), cp = Mathf.Cos(p);
            for (var eye = 0; eye < 2; eye++)
            {
                _turns[4 * eye] = cy * sp;
                _turns[4 * eye + 1] = sy * cp;
                _turns[4 * eye + 2] = -sy * sp;
                _turns[4 * eye + 3] = cy * cp;
            }
            _eyes!.Pose(_turns, _still, 1, true);
        }

        private void Prepare()
        {
            _ready = true;
            var seed = ++_made;
            _lids = new Blinks(seed);
            _glances = new Glances(seed);
            _root = transform;
            var animator = GetComponentInChildren<Animator>();
            if (animator != null && animator.isHuman)
            {
                _root = animator.transform;
                if (head == null) head = animator.GetBoneTransform(HumanBodyBones.Head);
                var eyes = new Skeleton(EyeBones, animator.GetBoneTransform, _root, new RestPose(animator).Of);
                if (eyes.Count == 2) _eyes = eyes;
            }
            if (head == null) head = transform;
            _headRest = RestOf(head, _root, animator);
        }

        private static Quaternion RestOf(Transform head, Transform root, Animator? animator)
        {
            if (animator == null || !animator.isHuman) return Quaternion.Inverse(root.rotation) * head.rotation;
            var rest = new RestPose(animator);
            var rotation = Quaternion.identity;
            for (var at = head; at != null && at != root; at = at.parent) rotation = rest.Of(at).Rotation * rotation;
            return rotation;
        }

        private Transform? Target()
        {
            if (target != null) return target;
            var camera = Camera.main;
            return camera != null ? camera.transform : null;
        }

        // A root that is scaled to nothing makes no numbers.
        private static float Near(float metres) => float.IsNaN(metres) ? 0 : Mathf.Clamp(metres, -100, 100);
    }
}
