// The editor's API, as far as the package uses it. Nothing is drawn.
#nullable disable
using System;
using System.Collections.Generic;
using UnityEngine;
using Object = UnityEngine.Object;

namespace UnityEditor
{
    [AttributeUsage(AttributeTargets.Class)]
    public sealed class CustomEditor : Attribute
    {
        public CustomEditor(Type inspectedType)
        {
        }
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class CanEditMultipleObjects : Attribute
    {
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class InitializeOnLoadAttribute : Attribute
    {
    }

    [AttributeUsage(AttributeTargets.Method)]
    public sealed class SettingsProviderAttribute : Attribute
    {
    }

    [AttributeUsage(AttributeTargets.Method)]
    public sealed class MenuItem : Attribute
    {
        public MenuItem(string itemName, bool isValidateFunction, int priority)
        {
        }
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class FilePathAttribute : Attribute
    {
        public enum Location
        {
            PreferencesFolder,
            ProjectFolder,
        }

        public FilePathAttribute(string relativePath, Location location)
        {
        }
    }

    public class ScriptableSingleton<T> : ScriptableObject where T : ScriptableObject
    {
        private static T _instance;

        public static T instance => _instance ??= CreateInstance<T>();

        public int Saves { get; private set; }

        protected virtual void Save(bool saveAsText) => Saves++;
    }

    public class Editor : ScriptableObject
    {
        public Object target { get; set; }

        public SerializedObject serializedObject { get; } = new SerializedObject();

        public virtual void OnInspectorGUI()
        {
        }

        public bool DrawDefaultInspector() => false;

        public virtual bool RequiresConstantRepaint() => false;

        public void Repaint()
        {
        }
    }

    public sealed class SerializedObject
    {
        public void Update()
        {
        }

        public bool ApplyModifiedProperties() => false;
    }

    public enum MessageType
    {
        None,
        Info,
        Warning,
        Error,
    }

    public static class EditorGUILayout
    {
        public static void Space()
        {
        }

        public static void LabelField(string label, string label2, params GUILayoutOption[] options)
        {
        }

        public static void LabelField(string label, params GUILayoutOption[] options)
        {
        }

        public static void HelpBox(string message, MessageType type)
        {
        }

        public static string TextField(string label, string text, params GUILayoutOption[] options) => text;

        public static string PasswordField(string label, string password, params GUILayoutOption[] options) => password;

        public static bool Toggle(string label, bool value, params GUILayoutOption[] options) => value;
    }

    public static class EditorGUIUtility
    {
        public static string systemCopyBuffer { get; set; } = "";
    }

    public static class EditorUtility
    {
        public static void SetDirty(Object target)
        {
        }
    }

    public enum SettingsScope
    {
        User,
        Project,
    }

    public class SettingsProvider
    {
        public SettingsProvider(string path, SettingsScope scopes, IEnumerable<string> keywords = null)
        {
            settingsPath = path;
        }

        public string settingsPath { get; }

        public string label { get; set; }

        public Action<string> guiHandler { get; set; }
    }

    public enum PlayModeStateChange
    {
        EnteredEditMode,
        ExitingEditMode,
        EnteredPlayMode,
        ExitingPlayMode,
    }

    public static class EditorApplication
    {
        public delegate void CallbackFunction();

        public static CallbackFunction update { get; set; }

        public static event Action<PlayModeStateChange> playModeStateChanged;

        public static event Action quitting;

        public static void Change(PlayModeStateChange state) => playModeStateChanged?.Invoke(state);

        public static void Quit() => quitting?.Invoke();
    }

    public static class AssemblyReloadEvents
    {
        public delegate void AssemblyReloadCallback();

        public static event AssemblyReloadCallback beforeAssemblyReload;

        public static void Reload() => beforeAssemblyReload?.Invoke();
    }

    public static class ObjectFactory
    {
        public static event Action<Component> componentWasAdded;

        public static void Added(Component component) => componentWasAdded?.Invoke(component);
    }

    public enum ScriptingImplementation
    {
        Mono2x,
        IL2CPP,
    }

    [Flags]
    public enum AndroidArchitecture : uint
    {
        None = 0,
        ARMv7 = 1,
        ARM64 = 2,
    }

    public static class PlayerSettings
    {
        private static ScriptingImplementation _backend;

        public static ScriptingImplementation GetScriptingBackend(Build.NamedBuildTarget target) => _backend;

        public static void SetScriptingBackend(Build.NamedBuildTarget target, ScriptingImplementation backend) => _backend = backend;

        public static class Android
        {
            public static bool forceInternetPermission { get; set; }

            public static AndroidArchitecture targetArchitectures { get; set; } = AndroidArchitecture.ARMv7;
        }

        public static class iOS
        {
            public static string microphoneUsageDescription { get; set; } = "";
        }
    }
}

namespace UnityEditor.Build
{
    public readonly struct NamedBuildTarget
    {
        public static readonly NamedBuildTarget Android;
    }
}
