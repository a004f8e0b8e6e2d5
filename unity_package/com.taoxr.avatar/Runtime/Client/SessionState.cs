#nullable enable

namespace Taoxr.Client
{
    /// <summary>How far a conversation is.</summary>
    public enum SessionState
    {
        /// <summary>It waits for the server.</summary>
        Starting,

        /// <summary>The user and the avatar can speak.</summary>
        Running,

        /// <summary>The connection was lost; the conversation goes on when there is one again.</summary>
        Resuming,

        /// <summary>It is over.</summary>
        Ended,
    }

    /// <summary>What a message of the conversation belongs to.</summary>
    public readonly struct TurnInfo
    {
        internal TurnInfo(string turnId, long epoch, long seq)
        {
            TurnId = turnId;
            Epoch = epoch;
            Seq = seq;
        }

        /// <summary>The turn; empty outside a turn.</summary>
        public string TurnId { get; }

        /// <summary>Grows with every interruption.</summary>
        public long Epoch { get; }

        /// <summary>Grows by one per message of a connection.</summary>
        public long Seq { get; }
    }
}
