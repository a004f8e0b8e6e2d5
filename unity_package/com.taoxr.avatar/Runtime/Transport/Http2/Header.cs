#nullable enable

namespace Taoxr.Transport
{
    /// <summary>One header of HTTP/2.</summary>
    public readonly struct Header
    {
        /// <param name="name">In lower case.</param>
        /// <param name="value">Its value.</param>
        public Header(string name, string value)
        {
            Name = name;
            Value = value;
        }

        /// <summary>In lower case.</summary>
        public string Name { get; }

        /// <summary>Its value.</summary>
        public string Value { get; }
    }
}
