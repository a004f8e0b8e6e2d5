#nullable enable
using System;

namespace Taoxr.Transport
{
    /// <summary>Error codes of HTTP/2 (RFC 9113, section 7).</summary>
    public enum Http2Error
    {
        NoError = 0,
        ProtocolError = 1,
        InternalError = 2,
        FlowControlError = 3,
        SettingsTimeout = 4,
        StreamClosed = 5,
        FrameSizeError = 6,
        RefusedStream = 7,
        Cancel = 8,
        CompressionError = 9,
        ConnectError = 10,
        EnhanceYourCalm = 11,
        InadequateSecurity = 12,
        Http11Required = 13,
    }

    /// <summary>The connection or a stream of it cannot go on.</summary>
    public sealed class TransportException : Exception
    {
        /// <param name="message">What happened.</param>
        /// <param name="error">The code that was sent or received.</param>
        /// <param name="reset">Whether the other side ended only this stream.</param>
        /// <param name="cause">What it comes from.</param>
        public TransportException(
            string message, Http2Error error = Http2Error.NoError, bool reset = false, Exception? cause = null)
            : base(message, cause)
        {
            Error = error;
            Reset = reset;
        }

        /// <summary>The code that was sent or received.</summary>
        public Http2Error Error { get; }

        /// <summary>Whether the other side ended only this stream.</summary>
        public bool Reset { get; }
    }
}
