#nullable enable

namespace Taoxr.Transport
{
    /// <summary>The Huffman code of HPACK (RFC 7541, appendix B), which follows from the lengths of its codes.</summary>
    internal static class Huffman
    {
        private const int Longest = 30;
        private const int EndOfString = 256;

        // Bits in the code of each byte, and of the end of a string. Codes are in order of length, then of symbol.
        private static readonly byte[] Lengths =
        {
            13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
            28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
            5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
            7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
            15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
            7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
            24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
            23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
            26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
            21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
            26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
        };

        private static readonly int[] FirstCode = new int[Longest + 1];
        private static readonly int[] FirstIndex = new int[Longest + 1];
        private static readonly int[] Count = new int[Longest + 1];
        private static readonly short[] Symbols = new short[Lengths.Length];

        static Huffman()
        {
            foreach (var length in Lengths) Count[length]++;
            var code = 0;
            var index = 0;
            for (var length = 1; length <= Longest; length++)
            {
                code <<= 1;
                FirstCode[length] = code;
                FirstIndex[length] = index;
                for (short symbol = 0; symbol < Lengths.Length; symbol++)
                    if (Lengths[symbol] == length) Symbols[index++] = symbol;
                code += Count[length];
            }
        }

        /// <summary>Decodes into an array; at most 8/5 as many bytes as are read.</summary>
        /// <returns>How many bytes were written.</returns>
        public static int Decode(byte[] from, int start, int end, byte[] into)
        {
            var written = 0;
            var code = 0;
            var length = 0;
            for (var i = start; i < end; i++)
            {
                for (var bit = 7; bit >= 0; bit--)
                {
                    code = code << 1 | (from[i] >> bit & 1);
                    length++;
                    var place = code - FirstCode[length];
                    if (place < Count[length])
                    {
                        var symbol = Symbols[FirstIndex[length] + place];
                        if (symbol == EndOfString) throw Hpack.Wrong("a Huffman string holds its own end");
                        into[written++] = (byte)symbol;
                        code = 0;
                        length = 0;
                    }
                }
            }
            if (length > 7 || code != (1 << length) - 1) throw Hpack.Wrong("a Huffman string ends inside a character");
            return written;
        }
    }
}
