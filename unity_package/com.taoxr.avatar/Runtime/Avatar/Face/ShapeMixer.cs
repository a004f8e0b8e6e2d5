#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Avatar
{
    /// <summary>Works out the weights of one mesh's shapes from the server's coefficients. Names are resolved once, here.</summary>
    public sealed class ShapeMixer
    {
        private readonly Term[] _terms;
        private readonly int[] _shapes;
        private readonly float[] _weights;
        private readonly List<string> _missing = new List<string>();

        private readonly struct Term
        {
            public Term(int slot, int source, float gain)
            {
                Slot = slot;
                Source = source;
                Gain = gain;
            }

            public int Slot { get; }

            public int Source { get; }

            public float Gain { get; }
        }

        /// <param name="rules">What drives which shape.</param>
        /// <param name="names">The mesh's shapes, by index.</param>
        public ShapeMixer(IReadOnlyList<ShapeRule> rules, IReadOnlyList<string> names)
        {
            var lookup = new ShapeNames(names);
            var terms = new List<Term>();
            var shapes = new List<int>();
            foreach (var rule in rules)
            {
                var shape = Find(lookup, rule.shapes);
                if (shape < 0 || shapes.Contains(shape))
                {
                    if (shape < 0) _missing.Add(rule.shapes.Length > 0 ? rule.shapes[0] : "");
                    continue;
                }
                foreach (var source in rule.sources) Add(terms, shapes.Count, source);
                shapes.Add(shape);
            }
            _terms = terms.ToArray();
            _shapes = shapes.ToArray();
            _weights = new float[shapes.Count];
        }

        /// <summary>Shapes that are driven.</summary>
        public int Count => _shapes.Length;

        /// <summary>Rules whose shape the mesh lacks.</summary>
        public IReadOnlyList<string> Missing => _missing;

        /// <summary>Index of a driven shape in the mesh.</summary>
        public int Shape(int slot) => _shapes[slot];

        /// <summary>Its weight, 0 to 1.</summary>
        public float Weight(int slot) => _weights[slot];

        /// <summary>The kind of which a mesh has most shapes; Custom when it has hardly any of all.</summary>
        public static ShapeKind Guess(IReadOnlyList<string> names)
        {
            var lookup = new ShapeNames(names);
            var best = ShapeKind.Custom;
            var most = 0;
            // What is first wins a tie: Ready Player Me's table holds ARKit's, and the visemes' the rest of it.
            foreach (var kind in new[] { ShapeKind.Arkit, ShapeKind.ReadyPlayerMe, ShapeKind.OculusVisemes, ShapeKind.Vrm })
            {
                var count = 0;
                foreach (var rule in ShapeTables.Of(kind))
                    if (Find(lookup, rule.shapes) >= 0) count++;
                if (count <= most) continue;
                most = count;
                best = kind;
            }
            return best;
        }

        /// <summary>Works the weights out.</summary>
        /// <param name="arkit">The 52 coefficients, 0 to 1.</param>
        /// <param name="keep">Share of the last weights that stays, from 0 (none: no smoothing) to below 1.</param>
        public void Mix(Span<float> arkit, float keep)
        {
            var slot = -1;
            float sum = 0;
            foreach (var term in _terms)
            {
                if (term.Slot != slot)
                {
                    Set(slot, sum, keep);
                    slot = term.Slot;
                    sum = 0;
                }
                sum += arkit[term.Source] * term.Gain;
            }
            Set(slot, sum, keep);
        }

        private void Set(int slot, float sum, float keep)
        {
            if (slot < 0) return;
            var target = Math.Min(Math.Max(sum, 0), 1);
            _weights[slot] = target + (_weights[slot] - target) * keep;
        }

        private static int Find(ShapeNames lookup, string[] names)
        {
            foreach (var name in names)
            {
                var index = lookup.IndexOf(name);
                if (index >= 0) return index;
            }
            return -1;
        }

        private static void Add(List<Term> terms, int slot, ShapeSource source)
        {
            var index = Arkit.IndexOf(source.arkit);
            if (index >= 0)
            {
                terms.Add(new Term(slot, index, source.gain));
                return;
            }
            var left = Arkit.IndexOf(source.arkit + "Left");
            if (left < 0) throw new ArgumentException("ARKit has no coefficient \"" + source.arkit + "\"");
            terms.Add(new Term(slot, left, source.gain));
            terms.Add(new Term(slot, Arkit.IndexOf(source.arkit + "Right"), source.gain));
        }
    }
}
