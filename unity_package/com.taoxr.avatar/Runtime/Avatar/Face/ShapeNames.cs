#nullable enable
using System.Collections.Generic;
using System.Text;

namespace Taoxr.Avatar
{
    /// <summary>Finds shapes by name, whatever a modelling program made of it: case, "Face.", "head_", "_L" for "Left", "_" and spaces.</summary>
    public sealed class ShapeNames
    {
        private readonly Dictionary<string, int> _indices = new Dictionary<string, int>();

        /// <param name="names">The names of a mesh's shapes, by index.</param>
        public ShapeNames(IReadOnlyList<string> names)
        {
            // Better forms of all names before worse ones of any.
            for (var i = 0; i < names.Count; i++) _indices[names[i]] = i;
            for (var i = 0; i < names.Count; i++) Put(Plain(names[i]), i);
            for (var i = 0; i < names.Count; i++) Put(LongSide(names[i]), i);
            for (var i = 0; i < names.Count; i++)
            {
                var name = Last(names[i], '.');
                for (var at = name.IndexOf('_'); at >= 0; at = name.IndexOf('_', at + 1))
                {
                    // A rest such as "L" of "Blink_L" is no name.
                    if (name.Length - at < 7) break;
                    Put(LongSide(name.Substring(at + 1)), i);
                }
            }
        }

        /// <summary>The index of a shape; -1 where the mesh has none of this name.</summary>
        public int IndexOf(string name)
        {
            if (_indices.TryGetValue(name, out var index)) return index;
            return _indices.TryGetValue(Plain(name), out index) ? index : -1;
        }

        private void Put(string form, int index)
        {
            if (form.Length > 0 && !_indices.ContainsKey(form)) _indices.Add(form, index);
        }

        private static string Plain(string name)
        {
            var plain = new StringBuilder(name.Length);
            foreach (var letter in Last(name, '.'))
                if (char.IsLetterOrDigit(letter)) plain.Append(char.ToLowerInvariant(letter));
            return plain.ToString();
        }

        private static string LongSide(string name)
        {
            if (name.EndsWith("_L", System.StringComparison.OrdinalIgnoreCase)) return Plain(name.Substring(0, name.Length - 2)) + "left";
            if (name.EndsWith("_R", System.StringComparison.OrdinalIgnoreCase)) return Plain(name.Substring(0, name.Length - 2)) + "right";
            return Plain(name);
        }

        private static string Last(string name, char separator) => name.Substring(name.LastIndexOf(separator) + 1);
    }
}
