#nullable enable
using System.Collections.Generic;
using UnityEngine;

namespace Taoxr.Avatar
{
    /// <summary>A table of your own, from ARKit's coefficients to the shapes of your avatar: "Create, taoxr, Blendshape Map".</summary>
    [CreateAssetMenu(menuName = "taoxr/Blendshape Map", fileName = "Blendshape Map")]
    public sealed class BlendshapeMap : ScriptableObject
    {
        [Tooltip("One entry per shape of the mesh: the names that it may have, and the ARKit coefficients that drive it.")]
        [SerializeField]
        private List<ShapeRule> rules = new List<ShapeRule>();

        /// <summary>What drives which shape.</summary>
        public List<ShapeRule> Rules => rules;

        /// <summary>Begins with a table that is there, to be changed.</summary>
        public void Fill(ShapeKind kind)
        {
            rules.Clear();
            foreach (var rule in ShapeTables.Of(kind))
                rules.Add(new ShapeRule { shapes = (string[])rule.shapes.Clone(), sources = (ShapeSource[])rule.sources.Clone() });
        }

        [ContextMenu("Fill with ARKit's names")]
        private void Reset() => Fill(ShapeKind.Arkit);

        [ContextMenu("Fill with VRM's expressions")]
        private void FillVrm() => Fill(ShapeKind.Vrm);

        [ContextMenu("Fill with Ready Player Me's shapes")]
        private void FillReadyPlayerMe() => Fill(ShapeKind.ReadyPlayerMe);

        [ContextMenu("Fill with the visemes of Oculus Lipsync")]
        private void FillVisemes() => Fill(ShapeKind.OculusVisemes);
    }
}
