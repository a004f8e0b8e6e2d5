#nullable enable
using System;
using System.Globalization;
using Taoxr.Client;
using UnityEditor;
using UnityEngine;

namespace Taoxr.Avatar.Editor
{
    /// <summary>The inspector of a TaoxrAvatar: its settings, a test of the connection, and how fast it is while it plays.</summary>
    [CustomEditor(typeof(TaoxrAvatar))]
    public sealed class TaoxrAvatarEditor : UnityEditor.Editor
    {
        private const double MeasureSeconds = 1;

        private ConnectionTest? _test;
        private DateTime _measured;

        /// <inheritdoc/>
        public override void OnInspectorGUI()
        {
            DrawDefaultInspector();
            EditorGUILayout.Space();
            var avatar = (TaoxrAvatar)target;
            var options = Read(avatar);
            if (options == null) return;
            GUILayout.BeginHorizontal();
            if (GUILayout.Button("Test connection")) Test(options);
            if (GUILayout.Button("Copy server command")) EditorGUIUtility.systemCopyBuffer = Hints.ServerCommand(options);
            GUILayout.EndHorizontal();
            if (_test != null) EditorGUILayout.HelpBox(_test.Text, _test.Succeeded ? MessageType.Info : _test.IsDone ? MessageType.Error : MessageType.None);
            if (avatar.Client != null) Show(avatar);
        }

        /// <inheritdoc/>
        public override bool RequiresConstantRepaint() => _test != null && !_test.IsDone || target != null && ((TaoxrAvatar)target).Client != null;

        private static ClientOptions? Read(TaoxrAvatar avatar)
        {
            try
            {
                return avatar.Options();
            }
            catch (FormatException error)
            {
                EditorGUILayout.HelpBox(error.Message, MessageType.Error);
                return null;
            }
        }

        private void Test(ClientOptions options)
        {
            _test?.Dispose();
            _test = new ConnectionTest(options);
        }

        private void Show(TaoxrAvatar avatar)
        {
            if ((DateTime.UtcNow - _measured).TotalSeconds > MeasureSeconds && avatar.Session?.State == SessionState.Running)
            {
                _measured = DateTime.UtcNow;
                avatar.MeasureRoundTrip();
            }
            EditorGUILayout.LabelField("Connection", avatar.Client!.State.ToString());
            EditorGUILayout.LabelField("Conversation", avatar.Session!.State.ToString());
            EditorGUILayout.LabelField("Round trip", Milliseconds(avatar.RoundTripMs));
            EditorGUILayout.LabelField("Question to answer", Milliseconds(avatar.AnswerMs));
            var voice = avatar.Playback?.Voice;
            if (voice == null) return;
            EditorGUILayout.LabelField("Sound that waits", Milliseconds(voice.WaitingUs / 1000.0));
            EditorGUILayout.LabelField("Ran dry in this turn", voice.Underruns.ToString(CultureInfo.InvariantCulture) + " times");
        }

        private void OnDisable()
        {
            _test?.Dispose();
            _test = null;
        }

        private static string Milliseconds(double ms) => ms <= 0 ? "–" : ms.ToString("0", CultureInfo.InvariantCulture) + " ms";
    }
}
