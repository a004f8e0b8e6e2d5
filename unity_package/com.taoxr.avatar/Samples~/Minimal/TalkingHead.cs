using Taoxr.Avatar;
using UnityEngine;

namespace Taoxr.Samples
{
    /// <summary>
    /// A head that you can talk to. Put this on an empty GameObject, run "taoxr serve", press play: type and press "Ask", or speak.
    /// </summary>
    [AddComponentMenu("taoxr/Samples/Talking Head")]
    public sealed class TalkingHead : MonoBehaviour
    {
        public string server = "127.0.0.1:50061";
        public ListenMode listening = ListenMode.HandsFree;

        private TaoxrAvatar _avatar;
        private MicrophoneStreamer _microphone;
        private string _question = "Hello! Who are you?";
        private bool _talks;

        private void Awake()
        {
            var head = new GameObject("Head");
            head.transform.SetParent(transform, false);
            head.transform.localPosition = new Vector3(0, 1.6f, 0);
            // Settings first, then it begins.
            head.SetActive(false);
            ProceduralHead.Build(head);
            AddCaption(head);
            _microphone = head.AddComponent<MicrophoneStreamer>();
            _avatar = head.AddComponent<TaoxrAvatar>();
            _avatar.server = server;
            _avatar.listening = listening;
            head.SetActive(true);
            PlaceCamera();
        }

        private static void AddCaption(GameObject head)
        {
            var below = new GameObject("Caption");
            below.transform.SetParent(head.transform, false);
            below.transform.localPosition = new Vector3(0, -0.2f, 0.1f);
            // A text faces -Z, so that it can be read from the front.
            below.transform.localRotation = Quaternion.Euler(0, 180, 0);
            var text = below.AddComponent<TextMesh>();
            // A TextMesh that is made in code has neither font nor material.
#if UNITY_2022_2_OR_NEWER
            text.font = Resources.GetBuiltinResource<Font>("LegacyRuntime.ttf");
#else
            text.font = Resources.GetBuiltinResource<Font>("Arial.ttf");
#endif
            below.GetComponent<MeshRenderer>().sharedMaterial = text.font.material;
            text.characterSize = 0.005f;
            text.fontSize = 48;
            text.anchor = TextAnchor.UpperCenter;
            text.alignment = TextAlignment.Center;
            below.AddComponent<CaptionView>().text = text;
        }

        private void PlaceCamera()
        {
            var camera = Camera.main;
            if (camera == null) return;
            camera.nearClipPlane = 0.05f;
            var eye = transform.position + transform.rotation * new Vector3(0, 1.6f, 0.75f);
            camera.transform.SetPositionAndRotation(eye, transform.rotation * Quaternion.Euler(0, 180, 0));
        }

        private void Update()
        {
#if ENABLE_LEGACY_INPUT_MANAGER
            if (Input.GetKeyDown(KeyCode.Escape)) _avatar.Interrupt();
#endif
        }

        private void OnGUI()
        {
            GUILayout.BeginArea(new Rect(10, 10, Screen.width - 20, 60));
            GUILayout.BeginHorizontal();
            _question = GUILayout.TextField(_question, GUILayout.Width(360));
            if (GUILayout.Button("Ask") && _question.Trim().Length > 0) _avatar.Ask(_question);
            if (GUILayout.Button("Stop")) _avatar.Interrupt();
            if (listening == ListenMode.PushToTalk) HoldToTalk();
            if (listening != ListenMode.TextOnly)
            {
                if (GUILayout.Button(_microphone.Muted ? "Unmute" : "Mute")) _microphone.Muted = !_microphone.Muted;
                GUILayout.Label(new string('|', (int)(20 * _microphone.Level)), GUILayout.Width(100));
            }
            GUILayout.EndHorizontal();
            GUILayout.EndArea();
        }

        private void HoldToTalk()
        {
            var talks = GUILayout.RepeatButton("Hold to talk");
            if (talks == _talks) return;
            _talks = talks;
            _microphone.Talk(talks);
        }
    }
}
