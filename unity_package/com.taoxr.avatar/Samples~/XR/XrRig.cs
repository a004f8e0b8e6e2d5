using Taoxr.Avatar;
using UnityEngine;
using UnityEngine.XR;
#if TAOXR_ARFOUNDATION
using UnityEngine.XR.ARFoundation;
#endif

namespace Taoxr.Samples
{
    /// <summary>
    /// A headset's rig without any toolkit: the camera follows the head, the avatar stands on the floor in front of you, and a trigger is
    /// push-to-talk. Put it on an empty GameObject on the floor, with the main camera below it. With AR Foundation in the project (and the
    /// passthrough feature of your headset's OpenXR package switched on) the room shows through.
    /// </summary>
    [AddComponentMenu("taoxr/Samples/XR Rig")]
    public sealed class XrRig : MonoBehaviour
    {
        [Tooltip("What stands in front of you; it faces +Z.")]
        public TaoxrAvatar avatar;

        [Tooltip("How far away, in metres.")]
        public float distance = 1.2f;

        [Tooltip("Shows the room.")]
        public bool passthrough = true;

        private Transform _head;
        private MicrophoneStreamer _microphone;
        private bool _placed;
        private bool _talks;

        private void Start()
        {
            var camera = Camera.main;
            if (camera == null || avatar == null)
            {
                Debug.LogError("XrRig needs a main camera below it, and an avatar", this);
                enabled = false;
                return;
            }
            _head = camera.transform;
            _microphone = avatar.GetComponentInChildren<MicrophoneStreamer>();
            if (passthrough) SeeThrough(camera);
        }

        private static void SeeThrough(Camera camera)
        {
            // What is transparent shows the room.
            camera.clearFlags = CameraClearFlags.SolidColor;
            camera.backgroundColor = new Color(0, 0, 0, 0);
#if TAOXR_ARFOUNDATION
            if (Session() == null) new GameObject("AR Session").AddComponent<ARSession>();
            if (camera.GetComponent<ARCameraManager>() == null) camera.gameObject.AddComponent<ARCameraManager>();
#endif
        }

#if TAOXR_ARFOUNDATION
        private static ARSession Session()
        {
#if UNITY_2023_1_OR_NEWER
            return FindAnyObjectByType<ARSession>();
#else
            return FindObjectOfType<ARSession>();
#endif
        }
#endif

        private void Update()
        {
            var device = InputDevices.GetDeviceAtXRNode(XRNode.CenterEye);
            if (device.TryGetFeatureValue(CommonUsages.devicePosition, out Vector3 place)
                && device.TryGetFeatureValue(CommonUsages.deviceRotation, out Quaternion turn))
            {
                _head.localPosition = place;
                _head.localRotation = turn;
                if (!_placed) Place();
            }
            Talk(Pressed(XRNode.LeftHand) || Pressed(XRNode.RightHand));
        }

        // In front of where you look now, on the floor, facing you.
        private void Place()
        {
            _placed = true;
            var ahead = _head.forward;
            ahead.y = 0;
            var stand = avatar.transform;
            var there = _head.position + ahead.normalized * distance;
            there.y = transform.position.y;
            stand.SetPositionAndRotation(there, Quaternion.LookRotation(-ahead.normalized));
        }

        private void Talk(bool talks)
        {
            if (talks == _talks || _microphone == null) return;
            _talks = talks;
            _microphone.Talk(talks);
        }

        private static bool Pressed(XRNode hand) =>
            InputDevices.GetDeviceAtXRNode(hand).TryGetFeatureValue(CommonUsages.triggerButton, out bool pressed) && pressed;
    }
}
