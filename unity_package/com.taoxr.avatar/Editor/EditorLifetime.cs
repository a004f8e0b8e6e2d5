#nullable enable
using UnityEditor;

namespace Taoxr.Avatar.Editor
{
    /// <summary>Ends all connections before scripts are loaded again, play mode ends or the editor quits.</summary>
    [InitializeOnLoad]
    internal static class EditorLifetime
    {
        static EditorLifetime()
        {
            AssemblyReloadEvents.beforeAssemblyReload += LiveAvatars.StopAll;
            EditorApplication.quitting += LiveAvatars.StopAll;
            EditorApplication.playModeStateChanged += change =>
            {
                if (change == PlayModeStateChange.ExitingPlayMode) LiveAvatars.StopAll();
            };
        }
    }
}
