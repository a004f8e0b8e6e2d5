#nullable enable
using System;

namespace Taoxr.Avatar
{
    /// <summary>A share of an ARKit coefficient in a shape.</summary>
    [Serializable]
    public struct ShapeSource
    {
        /// <summary>ARKit's name; "mouthSmile" stands for both mouthSmileLeft and mouthSmileRight.</summary>
        public string arkit;

        /// <summary>How much of it (of each, when it stands for both); below 0 takes the shape back.</summary>
        public float gain;

        /// <param name="arkit">ARKit's name.</param>
        /// <param name="gain">How much of it.</param>
        public ShapeSource(string arkit, float gain)
        {
            this.arkit = arkit;
            this.gain = gain;
        }
    }

    /// <summary>What drives one shape of a mesh: the sum of its sources, kept between 0 and 1.</summary>
    [Serializable]
    public sealed class ShapeRule
    {
        /// <summary>Names that the shape may have; the first that the mesh has is taken.</summary>
        public string[] shapes = Array.Empty<string>();

        /// <summary>What drives it.</summary>
        public ShapeSource[] sources = Array.Empty<ShapeSource>();

        /// <summary>For Unity, which reads the rules of an asset into it.</summary>
        public ShapeRule()
        {
        }

        /// <param name="shapes">Names that the shape may have, with "|" between them.</param>
        /// <param name="sources">What drives it.</param>
        public ShapeRule(string shapes, params ShapeSource[] sources)
        {
            this.shapes = shapes.Split('|');
            this.sources = sources;
        }
    }
}
