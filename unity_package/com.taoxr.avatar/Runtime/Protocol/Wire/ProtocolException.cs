#nullable enable
using System;

namespace Taoxr.Protocol
{
    /// <summary>Bytes are not a message, or break a limit; or a message cannot be written.</summary>
    public sealed class ProtocolException : Exception
    {
        /// <param name="message">What is wrong, and where.</param>
        public ProtocolException(string message) : base(message)
        {
        }
    }
}
