#nullable enable
using System;
using Taoxr.Transport;

namespace Taoxr.Client
{
    /// <summary>Whether and when to try again.</summary>
    internal static class Retry
    {
        /// <summary>Whether the same could succeed later. A server that is missing, busy or broken may come back; a "no" stays one.</summary>
        public static bool IsWorthIt(RpcException error)
        {
            switch (error.Code)
            {
                case StatusCode.Unavailable:
                case StatusCode.DeadlineExceeded:
                case StatusCode.ResourceExhausted:
                case StatusCode.Aborted:
                case StatusCode.Cancelled:
                    return true;
                case StatusCode.Internal:
                case StatusCode.Unknown:
                    return error.Status == null; // Said by gRPC itself when a stream breaks off; our servers send details.
                default:
                    return false;
            }
        }

        /// <summary>Whether the connection is lost, rather than one call refused.</summary>
        public static bool IsLoss(RpcException error) =>
            error.InnerException is TransportException { Reset: false } cause && cause.Error != Http2Error.RefusedStream;

        /// <summary>How long the server asks us to wait; null where it does not.</summary>
        public static TimeSpan? After(RpcException error)
        {
            var delay = error.RetryInfo?.RetryDelay;
            if (delay == null) return null;
            var seconds = Math.Min(Math.Max(delay.Seconds + delay.Nanos * 1e-9, 0), 60);
            return TimeSpan.FromSeconds(seconds);
        }
    }
}
