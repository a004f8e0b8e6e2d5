using System.Collections.Generic;
using UnityEngine;

namespace Taoxr.Samples
{
    /// <summary>
    /// A simple head, made of an ellipsoid with a mouth, eyes and brows, and the 52 ARKit blendshapes: so that the sample needs no
    /// model. Metres; it faces +Z, its own left is -X.
    /// </summary>
    public static class ProceduralHead
    {
        private const int Rings = 48;
        private const int Columns = 64;

        private static readonly Vector3 Size = new Vector3(0.075f, 0.11f, 0.09f);
        private static readonly Color Skin = new Color(0.87f, 0.68f, 0.57f);
        private static readonly Color Lip = new Color(0.72f, 0.38f, 0.36f);
        private static readonly Color Dark = new Color(0.16f, 0.07f, 0.07f);
        private static readonly Color Brow = new Color(0.28f, 0.19f, 0.14f);

        /// <summary>Puts the head on an object.</summary>
        public static SkinnedMeshRenderer Build(GameObject on)
        {
            var parts = new Parts();
            AddSkin(parts);
            AddEllipse(parts, Part.Lips, new Vector2(0, -0.047f), new Vector2(0.024f, 0.008f), 0.0012f, Lip);
            AddEllipse(parts, Part.Mouth, new Vector2(0, -0.047f), new Vector2(0.019f, 0.0008f), 0.0024f, Dark);
            AddEllipse(parts, Part.Tongue, new Vector2(0, -0.049f), new Vector2(0.010f, 0.0002f), 0.003f, Lip);
            foreach (var side in new[] { -1, 1 })
            {
                AddEllipse(parts, Part.Eye, new Vector2(0.03f * side, 0.018f), new Vector2(0.013f, 0.0085f), 0.0015f, Color.white);
                AddEllipse(parts, Part.Iris, new Vector2(0.03f * side, 0.018f), new Vector2(0.0055f, 0.0055f), 0.0027f, new Color(0.25f, 0.42f, 0.5f));
                AddEllipse(parts, Part.Lid, new Vector2(0.03f * side, 0.0265f), new Vector2(0.0145f, 0.0004f), 0.0038f, Skin);
                AddEllipse(parts, Part.Brow, new Vector2(0.031f * side, 0.037f), new Vector2(0.017f, 0.003f), 0.002f, Brow);
            }
            var mesh = parts.ToMesh();
            foreach (var name in Taoxr.Avatar.Arkit.Names) mesh.AddBlendShapeFrame(name, 100, parts.Deltas(name), null, null);
            var renderer = on.AddComponent<SkinnedMeshRenderer>();
            renderer.sharedMesh = mesh;
            renderer.localBounds = new Bounds(Vector3.zero, new Vector3(0.3f, 0.4f, 0.3f));
            renderer.sharedMaterials = parts.Materials();
            return renderer;
        }

        private enum Part
        {
            Skin,
            Lips,
            Mouth,
            Tongue,
            Eye,
            Iris,
            Lid,
            Brow,
        }

        private static void AddSkin(Parts parts)
        {
            parts.Begin(Part.Skin, Skin);
            for (var ring = 0; ring <= Rings; ring++)
                for (var column = 0; column <= Columns; column++)
                {
                    var up = Mathf.PI * ring / Rings;
                    var around = 2 * Mathf.PI * column / Columns;
                    var place = new Vector3(Mathf.Sin(up) * Mathf.Sin(around), Mathf.Cos(up), Mathf.Sin(up) * Mathf.Cos(around));
                    // A chin, and a nose.
                    var narrow = 1 - 0.28f * Mathf.Clamp01(-place.y) * Mathf.Clamp01(-place.y);
                    var nose = place.z > 0 ? 0.016f * Bump(place.x, 0.13f) * Bump(place.y + 0.12f, 0.2f) : 0;
                    parts.Add(new Vector3(place.x * Size.x * narrow, place.y * Size.y, place.z * Size.z + nose));
                }
            for (var ring = 0; ring < Rings; ring++)
                for (var column = 0; column < Columns; column++)
                {
                    var at = ring * (Columns + 1) + column;
                    parts.Triangle(at, at + Columns + 1, at + 1);
                    parts.Triangle(at + 1, at + Columns + 1, at + Columns + 2);
                }
        }

        // A flat ellipse that lies on the face.
        private static void AddEllipse(Parts parts, Part part, Vector2 centre, Vector2 radii, float above, Color color)
        {
            // Rings, so that it bends with the face rather than cut through it.
            const int Edge = 32, Steps = 5;
            parts.Begin(part, color);
            parts.Add(OnFace(centre.x, centre.y, above));
            for (var step = 1; step <= Steps; step++)
                for (var i = 0; i < Edge; i++)
                {
                    var angle = 2 * Mathf.PI * i / Edge;
                    var reach = (float)step / Steps;
                    parts.Add(OnFace(centre.x + reach * radii.x * Mathf.Cos(angle), centre.y + reach * radii.y * Mathf.Sin(angle), above));
                }
            for (var i = 0; i < Edge; i++)
            {
                var next = (i + 1) % Edge;
                parts.Triangle(0, 1 + i, 1 + next);
                for (var step = 0; step < Steps - 1; step++)
                {
                    var (inner, outer) = (1 + step * Edge, 1 + (step + 1) * Edge);
                    parts.Triangle(inner + i, outer + i, inner + next);
                    parts.Triangle(inner + next, outer + i, outer + next);
                }
            }
        }

        private static Vector3 OnFace(float x, float y, float above)
        {
            var inside = Mathf.Max(0, 1 - x * x / (Size.x * Size.x) - y * y / (Size.y * Size.y));
            return new Vector3(x, y, Size.z * Mathf.Sqrt(inside) + above);
        }

        private static float Bump(float x, float width) => Mathf.Exp(-x * x / (width * width));

        // How far a shape moves a place. x and y are those of the face seen from the front; its own left is at -x.
        private static Vector3 Move(string shape, Part part, Vector3 at, Vector3 centre)
        {
            var left = shape.EndsWith("Left", System.StringComparison.Ordinal);
            var right = shape.EndsWith("Right", System.StringComparison.Ordinal);
            // Of a shape with a side, the other side stays; in the middle both share.
            var side = left ? Mathf.InverseLerp(0.006f, -0.006f, at.x) : right ? Mathf.InverseLerp(-0.006f, 0.006f, at.x) : 1;
            var outward = at.x < 0 ? -1f : 1f;
            var lips = part == Part.Lips || part == Part.Mouth || part == Part.Tongue;
            var low = Mathf.InverseLerp(-0.0468f, -0.0472f, at.y);
            var mouth = lips ? 1 : part == Part.Skin && at.z > 0 ? Bump(at.x, 0.03f) * Bump(at.y + 0.047f, 0.02f) : 0;
            var corner = Mathf.Clamp01(Mathf.Abs(at.x) / 0.02f);
            var open = 1 - 0.6f * corner * corner * corner;
            var chin = part == Part.Skin && at.z > -0.02f ? Mathf.InverseLerp(-0.045f, -0.075f, at.y) : lips ? low : 0;
            var pair = at.x < 0 ? "Left" : "Right";
            switch (shape)
            {
                case "jawOpen": return Down(0.028f * (part == Part.Mouth ? low : chin) * (lips ? open : 1));
                case "jawForward": return new Vector3(0, 0, 0.006f * chin);
                case "jawLeft": return new Vector3(-0.008f * Mathf.Max(chin, lips ? 0.6f : 0), 0, 0);
                case "jawRight": return new Vector3(0.008f * Mathf.Max(chin, lips ? 0.6f : 0), 0, 0);
                case "mouthClose": return Down(lips ? -0.028f * low * open : 0);
                case "mouthFunnel": return new Vector3(lips ? -0.35f * at.x : 0, part == Part.Mouth ? (low > 0.5f ? -0.004f : 0.004f) : 0, 0.005f * mouth);
                case "mouthPucker": return new Vector3(lips ? -0.5f * at.x : 0, 0, 0.008f * mouth);
                case "mouthLeft": return new Vector3(-0.01f * mouth, 0, 0);
                case "mouthRight": return new Vector3(0.01f * mouth, 0, 0);
                case "mouthSmileLeft":
                case "mouthSmileRight": return new Vector3(0.006f * outward, 0.008f * corner, 0) * (side * mouth * corner);
                case "mouthFrownLeft":
                case "mouthFrownRight": return Down(0.008f * corner * side * mouth);
                case "mouthDimpleLeft":
                case "mouthDimpleRight": return new Vector3(0.004f * outward, 0, -0.002f) * (side * mouth * corner);
                case "mouthStretchLeft":
                case "mouthStretchRight": return new Vector3(0.008f * outward, -0.002f, 0) * (side * mouth * corner);
                case "mouthRollLower": return lips ? new Vector3(0, 0.004f, -0.003f) * low : Vector3.zero;
                case "mouthRollUpper": return lips ? new Vector3(0, -0.004f, -0.003f) * (1 - low) : Vector3.zero;
                case "mouthShrugLower": return new Vector3(0, 0.004f, 0.002f) * (mouth * low);
                case "mouthShrugUpper": return new Vector3(0, 0.004f, 0.002f) * (mouth * (1 - low));
                case "mouthPressLeft":
                case "mouthPressRight": return part == Part.Lips ? new Vector3(0, (at.y < -0.047f ? 0.003f : -0.003f) * side, 0) : Vector3.zero;
                case "mouthLowerDownLeft":
                case "mouthLowerDownRight": return Down(0.009f * side * mouth * low);
                case "mouthUpperUpLeft":
                case "mouthUpperUpRight": return Down(-0.008f * side * mouth * (1 - low));
                case "tongueOut": return part == Part.Tongue ? new Vector3(0, -0.014f * low, 0.006f) : Vector3.zero;
                case "browInnerUp": return part == Part.Brow ? Down(-0.009f * Mathf.InverseLerp(0.045f, 0.018f, Mathf.Abs(at.x))) : Vector3.zero;
                case "browOuterUpLeft":
                case "browOuterUpRight": return part == Part.Brow ? Down(-0.008f * side * Mathf.InverseLerp(0.02f, 0.045f, Mathf.Abs(at.x))) : Vector3.zero;
                case "browDownLeft":
                case "browDownRight": return part == Part.Brow ? new Vector3(-0.003f * outward, -0.006f, 0) * side : Vector3.zero;
                case "cheekPuff": return part == Part.Skin && at.z > 0 ? new Vector3(0.012f * outward, 0, 0.006f) * (Bump(Mathf.Abs(at.x) - 0.045f, 0.02f) * Bump(at.y + 0.04f, 0.025f)) : Vector3.zero;
                case "cheekSquintLeft":
                case "cheekSquintRight": return part == Part.Skin && at.z > 0 ? new Vector3(0, 0.005f, 0.003f) * (side * Bump(Mathf.Abs(at.x) - 0.035f, 0.015f) * Bump(at.y, 0.015f)) : Vector3.zero;
                case "noseSneerLeft":
                case "noseSneerRight": return part == Part.Skin && at.z > 0 ? new Vector3(0, 0.006f, 0.002f) * (side * Bump(Mathf.Abs(at.x) - 0.012f, 0.01f) * Bump(at.y + 0.015f, 0.015f)) : Vector3.zero;
            }
            return shape.StartsWith("eye", System.StringComparison.Ordinal) && shape.EndsWith(pair, System.StringComparison.Ordinal)
                ? MoveEye(shape, part, at, centre, outward)
                : Vector3.zero;
        }

        private static Vector3 MoveEye(string shape, Part part, Vector3 at, Vector3 centre, float outward)
        {
            var iris = part == Part.Iris ? 1f : 0;
            var eye = part == Part.Eye ? 1f : 0;
            var edge = part == Part.Lid && at.y <= centre.y ? 1f : 0;
            if (shape.StartsWith("eyeBlink", System.StringComparison.Ordinal)) return Down(0.0175f * edge);
            if (shape.StartsWith("eyeSquint", System.StringComparison.Ordinal)) return Down(0.005f * edge);
            if (shape.StartsWith("eyeWide", System.StringComparison.Ordinal)) return new Vector3(0, (at.y - centre.y) * 0.35f * eye, 0);
            if (shape.StartsWith("eyeLookDown", System.StringComparison.Ordinal)) return Down(0.0035f * iris);
            if (shape.StartsWith("eyeLookUp", System.StringComparison.Ordinal)) return Down(-0.0035f * iris);
            if (shape.StartsWith("eyeLookIn", System.StringComparison.Ordinal)) return new Vector3(-0.006f * outward * iris, 0, 0);
            return new Vector3(0.006f * outward * iris, 0, 0);
        }

        private static Vector3 Down(float metres) => new Vector3(0, -metres, 0);

        private sealed class Parts
        {
            private readonly List<Vector3> _places = new List<Vector3>();
            private readonly List<int> _partOf = new List<int>();
            private readonly List<(Part Part, Color Color, Vector3 Centre, int First, List<int> Triangles)> _parts =
                new List<(Part, Color, Vector3, int, List<int>)>();

            public void Begin(Part part, Color color) => _parts.Add((part, color, Vector3.zero, _places.Count, new List<int>()));

            public void Add(Vector3 place)
            {
                var now = _parts[_parts.Count - 1];
                // The first place of an ellipse is its centre.
                if (_places.Count == now.First) _parts[_parts.Count - 1] = (now.Part, now.Color, place, now.First, now.Triangles);
                _places.Add(place);
                _partOf.Add(_parts.Count - 1);
            }

            // Clockwise from outside, as Unity wants it.
            public void Triangle(int a, int b, int c)
            {
                var now = _parts[_parts.Count - 1];
                now.Triangles.Add(now.First + a);
                now.Triangles.Add(now.First + b);
                now.Triangles.Add(now.First + c);
            }

            public Mesh ToMesh()
            {
                var mesh = new Mesh { name = "Head", vertices = _places.ToArray(), subMeshCount = _parts.Count };
                for (var i = 0; i < _parts.Count; i++) mesh.SetTriangles(_parts[i].Triangles.ToArray(), i);
                mesh.RecalculateNormals();
                mesh.RecalculateBounds();
                return mesh;
            }

            public Vector3[] Deltas(string shape)
            {
                var deltas = new Vector3[_places.Count];
                for (var i = 0; i < deltas.Length; i++)
                {
                    var part = _parts[_partOf[i]];
                    var at = _places[i];
                    var moved = Move(shape, part.Part, at, part.Centre);
                    // Eyes and brows stay on the face; the lips go with the jaw, which is longer then.
                    if (part.Part >= Part.Eye) moved.z += OnFace(at.x + moved.x, at.y + moved.y, 0).z - OnFace(at.x, at.y, 0).z;
                    deltas[i] = moved;
                }
                return deltas;
            }

            public Material[] Materials()
            {
                // What the project draws with: the universal pipeline, or the built-in one.
                var shader = Shader.Find("Universal Render Pipeline/Lit");
                if (shader == null) shader = Shader.Find("Standard");
                var materials = new Material[_parts.Count];
                for (var i = 0; i < materials.Length; i++) materials[i] = new Material(shader) { color = _parts[i].Color };
                return materials;
            }
        }
    }
}
