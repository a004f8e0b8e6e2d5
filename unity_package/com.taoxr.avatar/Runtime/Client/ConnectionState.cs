#nullable enable
using System;
using Taoxr.Transport;

namespace Taoxr.Client
{
    /// <summary>How far a client is with its server.</summary>
    public enum ConnectionState
    {
        /// <summary>Nobody has asked for a connection yet.</summary>
        Idle,

        /// <summary>An attempt runs.</summary>
        Connecting,

        /// <summary>The server answers.</summary>
        Connected,

        /// <summary>It does not; the next attempt comes by itself.</summary>
        Waiting,

        /// <summary>It refuses us for a reason that stays (a wrong token, no TLS): the next attempt is yours, Connect.</summary>
        Refused,

        /// <summary>The client was disposed.</summary>
        Closed,
    }

    /// <summary>A step of the connection.</summary>
    public readonly struct ConnectionChange
    {
        internal ConnectionChange(ConnectionState state, RpcException? error, TimeSpan retryIn)
        {
            State = state;
            Error = error;
            RetryIn = retryIn;
        }

        /// <summary>The new state.</summary>
        public ConnectionState State { get; }

        /// <summary>Why, of Waiting and Refused; null otherwise.</summary>
        public RpcException? Error { get; }

        /// <summary>When the next attempt begins, of Waiting.</summary>
        public TimeSpan RetryIn { get; }
    }
}
