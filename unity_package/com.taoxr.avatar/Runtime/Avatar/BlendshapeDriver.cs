#nullable enable
using System;
using System.Collections.Generic;
using UnityEngine;

namespace Taoxr.Avatar
{
    /// <summary>Moves the blendshapes of any SkinnedMeshRenderer by ARKit's coefficients.</summary>
    [AddComponentMenu("taoxr/Blendshape Driver")]
    [DisallowMultipleComponent]
    public sealed class BlendshapeDriver : MonoBehaviour
    {
        private const float LeastChange = 0.05f;

        [Tooltip("Whose names the shapes have.")]
        public ShapeKind kind = ShapeKind.Auto;

        [Tooltip("The table of kind Custom.")]
        public BlendshapeMap? map;

        [Tooltip("What is moved; empty: every mesh with blendshapes on this object and below it.")]
        public SkinnedMeshRenderer[] renderers = Array.Empty<SkinnedMeshRenderer>();

        [Tooltip("How slowly shapes follow, in seconds; 0 is at once. Much more than 0.05 blurs speech.")]
        [Range(0, 0.3f)]
        public float smoothing = 0.015f;

        [Tooltip("How strongly the face moves.")]
        [Range(0, 2)]
        public float strength = 1;

        private Part[]? _parts;

        private sealed class Part
        {
            public Part(SkinnedMeshRenderer renderer, ShapeMixer mixer)
            {
                Renderer = renderer;
                Mixer = mixer;
                Shown = new float[mixer.Count];
            }

            public SkinnedMeshRenderer Renderer { get; }

            public ShapeMixer Mixer { get; }

            public float[] Shown { get; }
        }

        /// <summary>Shapes that are moved, of all meshes.</summary>
        public int ShapeCount
        {
            get
            {
                if (_parts == null) Resolve();
                var count = 0;
                foreach (var part in _parts!) count += part.Mixer.Count;
                return count;
            }
        }

        /// <summary>Finds the shapes again, after you changed renderers, kind or map.</summary>
        public void Resolve()
        {
            var parts = new List<Part>();
            var found = renderers.Length > 0 ? renderers : GetComponentsInChildren<SkinnedMeshRenderer>(true);
            var missing = new HashSet<string>();
            var seen = new HashSet<string>();
            foreach (var target in found)
            {
                if (target == null || target.sharedMesh == null || target.sharedMesh.blendShapeCount == 0) continue;
                var names = NamesOf(target.sharedMesh);
                var rules = Rules(kind == ShapeKind.Auto ? ShapeMixer.Guess(names) : kind);
                var mixer = new ShapeMixer(rules, names);
                foreach (var rule in rules) seen.Add(rule.shapes.Length > 0 ? rule.shapes[0] : "");
                // What one mesh lacks another may have: eyelashes are often one of their own.
                if (parts.Count == 0) missing.UnionWith(mixer.Missing);
                else missing.IntersectWith(mixer.Missing);
                if (mixer.Count > 0) parts.Add(new Part(target, mixer));
            }
            _parts = parts.ToArray();
            if (parts.Count == 0)
                Debug.LogWarning("taoxr: no mesh below \"" + name + "\" has blendshapes of a name that is known; the face will not move. Make a Blendshape Map (Create, taoxr) for it.", this);
            else if (missing.Count > 0 && missing.Count < seen.Count)
                Debug.Log("taoxr: \"" + name + "\" has no shape for " + string.Join(", ", missing), this);
        }

        /// <summary>Shows a face.</summary>
        /// <param name="arkit">The 52 coefficients, 0 to 1.</param>
        /// <param name="seconds">Time since the last face.</param>
        public void Show(Span<float> arkit, float seconds)
        {
            if (_parts == null) Resolve();
            var keep = smoothing > 0 ? Mathf.Exp(-seconds / smoothing) : 0;
            foreach (var part in _parts!)
            {
                if (part.Renderer == null) continue;
                part.Mixer.Mix(arkit, keep);
                for (var i = 0; i < part.Mixer.Count; i++)
                {
                    var weight = Mathf.Clamp(part.Mixer.Weight(i) * strength * 100, 0, 100);
                    if (Mathf.Abs(weight - part.Shown[i]) < LeastChange && weight > 0) continue;
                    if (weight == part.Shown[i]) continue;
                    part.Shown[i] = weight;
                    part.Renderer.SetBlendShapeWeight(part.Mixer.Shape(i), weight);
                }
            }
        }

        private IReadOnlyList<ShapeRule> Rules(ShapeKind of)
        {
            if (of != ShapeKind.Custom) return ShapeTables.Of(of);
            return map != null ? map.Rules : (IReadOnlyList<ShapeRule>)Array.Empty<ShapeRule>();
        }

        private static string[] NamesOf(Mesh mesh)
        {
            var names = new string[mesh.blendShapeCount];
            for (var i = 0; i < names.Length; i++) names[i] = mesh.GetBlendShapeName(i);
            return names;
        }

        private void OnValidate() => _parts = null;
    }
}
