#nullable enable
using System.Collections.Generic;
using UnityEngine;

namespace Taoxr.Avatar
{
    /// <summary>The avatars that hold a connection, so that none outlives the game: sockets and threads that stay freeze the editor.</summary>
    public static class LiveAvatars
    {
        private static readonly List<TaoxrAvatar> Avatars = new List<TaoxrAvatar>();

        /// <summary>How many.</summary>
        public static int Count => Avatars.Count;

        /// <summary>Ends all conversations and connections, within a second.</summary>
        public static void StopAll()
        {
            for (var i = Avatars.Count - 1; i >= 0; i--) Avatars[i].Stop();
        }

        internal static void Add(TaoxrAvatar avatar) => Avatars.Add(avatar);

        internal static void Remove(TaoxrAvatar avatar) => Avatars.Remove(avatar);

        // With "Enter Play Mode Options" the domain is not loaded again, so statics still hold what the last run left.
        [RuntimeInitializeOnLoadMethod(RuntimeInitializeLoadType.SubsystemRegistration)]
        private static void Begin()
        {
            StopAll();
            Application.quitting -= StopAll;
            Application.quitting += StopAll;
        }
    }
}
