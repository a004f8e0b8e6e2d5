#nullable disable
using System;
using System.Collections.Generic;

namespace UnityEngine
{
    public static class Debug
    {
        public static List<(string Kind, string Text)> Lines { get; } = new List<(string, string)>();

        public static void Log(object message, Object context = null) => Add("log", message);

        public static void LogWarning(object message, Object context = null) => Add("warning", message);

        public static void LogError(object message, Object context = null) => Add("error", message);

        public static void LogException(Exception exception, Object context = null) => Add("exception", exception);

        private static void Add(string kind, object message)
        {
            lock (Lines) Lines.Add((kind, message.ToString()));
        }
    }

    public static class Time
    {
        public static float deltaTime { get; internal set; }

        public static float unscaledDeltaTime { get; internal set; }

        public static float time { get; internal set; }

        public static float unscaledTime { get; internal set; }

        public static int frameCount { get; internal set; }
    }

    public enum RuntimePlatform
    {
        OSXEditor = 0,
        WindowsEditor = 7,
        IPhonePlayer = 8,
        Android = 11,
        LinuxEditor = 16,
    }

    [Flags]
    public enum UserAuthorization
    {
        WebCam = 1,
        Microphone = 2,
    }

    public static class Application
    {
        public static event Action quitting;

        public static RuntimePlatform platform { get; set; } = RuntimePlatform.LinuxEditor;

        public static bool isPlaying => true;

        public static bool HasUserAuthorization(UserAuthorization mode) => true;

        public static AsyncOperation RequestUserAuthorization(UserAuthorization mode) => new AsyncOperation();

        internal static void Quitting() => quitting?.Invoke();
    }

    public class AsyncOperation
    {
    }

    public static class JsonUtility
    {
        public static T FromJson<T>(string json) => throw new NotSupportedException("only Unity reads JSON so");
    }

    public static class Resources
    {
        public static T GetBuiltinResource<T>(string path) where T : Object, new() => new T { name = path };
    }

    public enum KeyCode
    {
        Space = 32,
        Escape = 27,
    }

    public static class Input
    {
        public static bool GetKeyDown(KeyCode key) => false;

        public static bool GetKeyUp(KeyCode key) => false;
    }

    public struct Rect
    {
        public Rect(float x, float y, float width, float height)
        {
            this.width = width;
            this.height = height;
        }

        public float width { get; }

        public float height { get; }
    }

    public static class Screen
    {
        public static int width => 1280;

        public static int height => 720;
    }

    public sealed class GUILayoutOption
    {
    }

    public static class GUI
    {
        public static bool enabled { get; set; }

        public static Color color { get; set; }
    }

    public static class GUILayout
    {
        public static void BeginArea(Rect screenRect)
        {
        }

        public static void EndArea()
        {
        }

        public static void BeginHorizontal(params GUILayoutOption[] options)
        {
        }

        public static void EndHorizontal()
        {
        }

        public static void Label(string text, params GUILayoutOption[] options)
        {
        }

        public static bool Button(string text, params GUILayoutOption[] options) => false;

        public static bool RepeatButton(string text, params GUILayoutOption[] options) => false;

        public static string TextField(string text, params GUILayoutOption[] options) => text;

        public static GUILayoutOption Width(float width) => new GUILayoutOption();
    }
}

namespace UnityEngine.Events
{
    public delegate void UnityAction<T>(T value);

    [Serializable]
    public class UnityEvent<T>
    {
        private UnityAction<T> _calls;

        public void AddListener(UnityAction<T> call) => _calls += call;

        public void RemoveListener(UnityAction<T> call) => _calls -= call;

        public void Invoke(T value) => _calls?.Invoke(value);
    }
}

namespace UnityEngine.XR
{
    public enum XRNode
    {
        LeftEye,
        RightEye,
        CenterEye,
        Head,
        LeftHand,
        RightHand,
    }

    public struct InputFeatureUsage<T>
    {
        public InputFeatureUsage(string usageName) => name = usageName;

        public string name { get; }
    }

    public static class CommonUsages
    {
        public static readonly InputFeatureUsage<Vector3> devicePosition = new InputFeatureUsage<Vector3>("DevicePosition");
        public static readonly InputFeatureUsage<Quaternion> deviceRotation = new InputFeatureUsage<Quaternion>("DeviceRotation");
        public static readonly InputFeatureUsage<bool> triggerButton = new InputFeatureUsage<bool>("TriggerButton");
    }

    public struct InputDevice
    {
        public bool isValid => false;

        public bool TryGetFeatureValue(InputFeatureUsage<bool> usage, out bool value)
        {
            value = false;
            return false;
        }

        public bool TryGetFeatureValue(InputFeatureUsage<Vector3> usage, out Vector3 value)
        {
            value = Vector3.zero;
            return false;
        }

        public bool TryGetFeatureValue(InputFeatureUsage<Quaternion> usage, out Quaternion value)
        {
            value = Quaternion.identity;
            return false;
        }
    }

    public static class InputDevices
    {
        public static InputDevice GetDeviceAtXRNode(XRNode node) => new InputDevice();
    }
}
