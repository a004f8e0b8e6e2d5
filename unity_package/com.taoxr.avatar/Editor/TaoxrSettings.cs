#nullable enable
using UnityEditor;
using UnityEngine;

namespace Taoxr.Avatar.Editor
{
    /// <summary>What new avatars of this project begin with.</summary>
    [FilePath("ProjectSettings/TaoxrSettings.asset", FilePathAttribute.Location.ProjectFolder)]
    public sealed class TaoxrSettings : ScriptableSingleton<TaoxrSettings>
    {
        [SerializeField]
        private string server = "127.0.0.1:50061";

        [SerializeField]
        private bool allowInsecure;

        /// <summary>Where the server of a new avatar is.</summary>
        public string Server => server;

        /// <summary>Whether a new avatar may use a server on another machine without TLS.</summary>
        public bool AllowInsecure => allowInsecure;

        /// <summary>Changes them, for the whole project.</summary>
        public void Set(string newServer, bool newAllowInsecure)
        {
            if (newServer == server && newAllowInsecure == allowInsecure) return;
            server = newServer;
            allowInsecure = newAllowInsecure;
            Save(true);
        }
    }

    /// <summary>Gives a new avatar the settings of the project.</summary>
    [InitializeOnLoad]
    internal static class NewAvatars
    {
        static NewAvatars()
        {
            ObjectFactory.componentWasAdded += added =>
            {
                if (!(added is TaoxrAvatar avatar)) return;
                avatar.server = TaoxrSettings.instance.Server;
                avatar.allowInsecure = TaoxrSettings.instance.AllowInsecure;
            };
        }
    }
}
