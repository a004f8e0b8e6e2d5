#nullable enable
using System;
using Taoxr.Client;
using UnityEditor;
using UnityEditor.Build;
using UnityEngine;

namespace Taoxr.Avatar.Editor
{
    /// <summary>The page "taoxr" of the project settings: defaults, and what builds for headsets and phones need.</summary>
    internal static class TaoxrSettingsPage
    {
        private const string MicrophoneUse = "The avatar hears you.";

        [SettingsProvider]
        private static SettingsProvider Make() =>
            new SettingsProvider("Project/taoxr", SettingsScope.Project, new[] { "avatar", "lip sync", "conversation", "taoxr" })
            {
                label = "taoxr",
                guiHandler = _ => Draw(),
            };

        private static void Draw()
        {
            var settings = TaoxrSettings.instance;
            var server = EditorGUILayout.TextField("Server of new avatars", settings.Server);
            var insecure = EditorGUILayout.Toggle("Allow no TLS", settings.AllowInsecure);
            settings.Set(server, insecure);
            try
            {
                EditorGUILayout.LabelField("It is started by", Hints.ServerCommand(ClientOptions.For(server)));
            }
            catch (FormatException error)
            {
                EditorGUILayout.HelpBox(error.Message, MessageType.Error);
            }
            EditorGUILayout.Space();
            EditorGUILayout.LabelField("Android and Quest");
            Need("Internet permission", PlayerSettings.Android.forceInternetPermission, () => PlayerSettings.Android.forceInternetPermission = true);
            Need("IL2CPP", PlayerSettings.GetScriptingBackend(NamedBuildTarget.Android) == ScriptingImplementation.IL2CPP,
                () => PlayerSettings.SetScriptingBackend(NamedBuildTarget.Android, ScriptingImplementation.IL2CPP));
            Need("ARM64", (PlayerSettings.Android.targetArchitectures & AndroidArchitecture.ARM64) != 0,
                () => PlayerSettings.Android.targetArchitectures |= AndroidArchitecture.ARM64);
            EditorGUILayout.Space();
            EditorGUILayout.LabelField("iOS and visionOS");
            Need("Microphone usage description", PlayerSettings.iOS.microphoneUsageDescription.Length > 0,
                () => PlayerSettings.iOS.microphoneUsageDescription = MicrophoneUse);
        }

        private static void Need(string what, bool there, Action set)
        {
            GUILayout.BeginHorizontal();
            EditorGUILayout.LabelField(what, there ? "is set" : "is missing");
            if (!there && GUILayout.Button("Set")) set();
            GUILayout.EndHorizontal();
        }
    }
}
