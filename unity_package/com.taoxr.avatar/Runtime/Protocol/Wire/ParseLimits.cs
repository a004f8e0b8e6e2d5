#nullable enable

namespace Taoxr.Protocol
{
    /// <summary>What a message may cost. With them, parsing N bytes takes at most about 8 N bytes and MaxItems objects.</summary>
    public sealed class ParseLimits
    {
        /// <summary>The limits where none are given.</summary>
        public static readonly ParseLimits Default = new ParseLimits(100, 65536);

        /// <param name="maxDepth">Messages and groups inside each other.</param>
        /// <param name="maxItems">Messages, map entries and repeated strings in all.</param>
        public ParseLimits(int maxDepth, int maxItems)
        {
            MaxDepth = maxDepth;
            MaxItems = maxItems;
        }

        /// <summary>Messages and groups inside each other.</summary>
        public int MaxDepth { get; }

        /// <summary>Messages, map entries and repeated strings in all.</summary>
        public int MaxItems { get; }
    }
}
