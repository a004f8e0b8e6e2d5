#nullable enable
using System;

namespace Taoxr.Protocol
{
    /// <summary>
    /// A protobuf message. One that is parsed into again reuses the objects and arrays it holds, so that a stream of
    /// frames and audio costs no allocation: copy what must outlive the next message.
    /// </summary>
    public interface IMessage
    {
        /// <summary>Sets every field to its default. What the fields held is kept for reuse.</summary>
        void Clear();

        /// <summary>Reads fields up to the end of the message, over what is there.</summary>
        /// <exception cref="ProtocolException">The bytes are no such message.</exception>
        void MergeFrom(ref WireReader reader);

        /// <summary>Size on the wire in bytes. Also remembers the sizes inside, which WriteTo needs.</summary>
        int ByteSize();

        /// <summary>The size that ByteSize found last.</summary>
        int CachedSize { get; }

        /// <summary>Writes the fields; ByteSize must have been called since they changed.</summary>
        void WriteTo(ref WireWriter writer);
    }

    /// <summary>Whole messages from and to bytes.</summary>
    public static class Messages
    {
        /// <summary>Makes a message what the bytes say.</summary>
        /// <param name="message">Is cleared first, and reused.</param>
        /// <param name="bytes">One whole message.</param>
        /// <param name="strings">Where strings that come again and again are kept; null makes new ones.</param>
        /// <param name="limits">What it may cost; null means the default.</param>
        /// <exception cref="ProtocolException">The bytes are no such message; it is then partly filled.</exception>
        public static void Parse(
            IMessage message, ReadOnlySpan<byte> bytes, StringCache? strings = null, ParseLimits? limits = null)
        {
            message.Clear();
            var reader = new WireReader(bytes, strings, limits ?? ParseLimits.Default);
            message.MergeFrom(ref reader);
        }

        /// <summary>The bytes of a message, in a new array.</summary>
        /// <exception cref="ProtocolException">A string of it has half a surrogate pair.</exception>
        public static byte[] ToBytes(IMessage message)
        {
            var bytes = new byte[message.ByteSize()];
            var writer = new WireWriter(bytes);
            message.WriteTo(ref writer);
            return bytes;
        }

        /// <summary>Puts the bytes of a message behind those of a buffer.</summary>
        /// <exception cref="ProtocolException">A string of it has half a surrogate pair.</exception>
        public static void Append(IMessage message, ByteBuffer buffer)
        {
            var writer = new WireWriter(buffer.Extend(message.ByteSize()));
            message.WriteTo(ref writer);
        }
    }
}
