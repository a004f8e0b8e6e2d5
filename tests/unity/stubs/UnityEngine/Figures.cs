// Meshes, skeletons, pictures.
#nullable disable
using System;
using System.Collections.Generic;

namespace UnityEngine
{
    public sealed class Mesh : Object
    {
        private readonly List<(string Name, Vector3[] Deltas)> _shapes = new List<(string, Vector3[])>();

        public Vector3[] vertices { get; set; } = Array.Empty<Vector3>();

        public Vector3[] normals { get; set; } = Array.Empty<Vector3>();

        public Color[] colors { get; set; } = Array.Empty<Color>();

        private readonly Dictionary<int, int[]> _triangles = new Dictionary<int, int[]>();

        public int[] triangles
        {
            get => GetTriangles(0);
            set => SetTriangles(value, 0);
        }

        public int subMeshCount { get; set; } = 1;

        public Bounds bounds { get; set; }

        public int blendShapeCount => _shapes.Count;

        public string GetBlendShapeName(int index) => _shapes[index].Name;

        public int GetBlendShapeIndex(string shape) => _shapes.FindIndex(s => s.Name == shape);

        public void AddBlendShapeFrame(string shapeName, float frameWeight, Vector3[] deltaVertices, Vector3[] deltaNormals, Vector3[] deltaTangents)
        {
            if (deltaVertices.Length != vertices.Length) throw new ArgumentException("as many deltas as vertices");
            _shapes.Add((shapeName, deltaVertices));
        }

        public void GetBlendShapeFrameVertices(int shapeIndex, int frameIndex, Vector3[] deltaVertices, Vector3[] deltaNormals, Vector3[] deltaTangents) =>
            _shapes[shapeIndex].Deltas.CopyTo(deltaVertices, 0);

        public void SetTriangles(int[] indices, int submesh) => _triangles[submesh] = indices;

        public int[] GetTriangles(int submesh) => _triangles[submesh];

        public void RecalculateNormals()
        {
        }

        public void RecalculateBounds()
        {
        }
    }

    public sealed class Shader : Object
    {
        public static Shader Find(string shader) => new Shader { name = shader };
    }

    public sealed class Material : Object
    {
        public Material(Shader shader)
        {
        }

        public Color color { get; set; }
    }

    public class Renderer : Component
    {
        public bool enabled { get; set; } = true;

        public Material sharedMaterial { get; set; }

        public Material material { get; set; }

        public Material[] sharedMaterials { get; set; }
    }

    public sealed class SkinnedMeshRenderer : Renderer
    {
        private float[] _weights = Array.Empty<float>();

        public Mesh sharedMesh { get; set; }

        public Bounds localBounds { get; set; }

        public int Writes { get; private set; }

        public float GetBlendShapeWeight(int index) => index < _weights.Length ? _weights[index] : 0;

        public void SetBlendShapeWeight(int index, float value)
        {
            if (index < 0 || index >= sharedMesh.blendShapeCount) throw new ArgumentOutOfRangeException(nameof(index));
            if (_weights.Length != sharedMesh.blendShapeCount) _weights = new float[sharedMesh.blendShapeCount];
            _weights[index] = value;
            Writes++;
        }
    }

    public enum HumanBodyBones
    {
        Hips = 0,
        LeftUpperLeg = 1,
        RightUpperLeg = 2,
        LeftLowerLeg = 3,
        RightLowerLeg = 4,
        LeftFoot = 5,
        RightFoot = 6,
        Spine = 7,
        Chest = 8,
        Neck = 9,
        Head = 10,
        LeftShoulder = 11,
        RightShoulder = 12,
        LeftUpperArm = 13,
        RightUpperArm = 14,
        LeftLowerArm = 15,
        RightLowerArm = 16,
        LeftHand = 17,
        RightHand = 18,
        LeftToes = 19,
        RightToes = 20,
        LeftEye = 21,
        RightEye = 22,
        Jaw = 23,
        LeftThumbProximal = 24,
        LeftThumbIntermediate = 25,
        LeftThumbDistal = 26,
        LeftIndexProximal = 27,
        LeftIndexIntermediate = 28,
        LeftIndexDistal = 29,
        LeftMiddleProximal = 30,
        LeftMiddleIntermediate = 31,
        LeftMiddleDistal = 32,
        LeftRingProximal = 33,
        LeftRingIntermediate = 34,
        LeftRingDistal = 35,
        LeftLittleProximal = 36,
        LeftLittleIntermediate = 37,
        LeftLittleDistal = 38,
        RightThumbProximal = 39,
        RightThumbIntermediate = 40,
        RightThumbDistal = 41,
        RightIndexProximal = 42,
        RightIndexIntermediate = 43,
        RightIndexDistal = 44,
        RightMiddleProximal = 45,
        RightMiddleIntermediate = 46,
        RightMiddleDistal = 47,
        RightRingProximal = 48,
        RightRingIntermediate = 49,
        RightRingDistal = 50,
        RightLittleProximal = 51,
        RightLittleIntermediate = 52,
        RightLittleDistal = 53,
        UpperChest = 54,
        LastBone = 55,
    }

    public struct SkeletonBone
    {
        public string name;
        public Vector3 position;
        public Quaternion rotation;
        public Vector3 scale;
    }

    public struct HumanDescription
    {
        public SkeletonBone[] skeleton;
    }

    public sealed class Avatar : Object
    {
        public HumanDescription humanDescription { get; set; }
    }

    public sealed class Animator : Behaviour
    {
        public Dictionary<HumanBodyBones, Transform> Bones { get; } = new Dictionary<HumanBodyBones, Transform>();

        public Avatar avatar { get; set; }

        public bool isHuman => Bones.Count > 0;

        public Transform GetBoneTransform(HumanBodyBones bone) => Bones.TryGetValue(bone, out var transform) ? transform : null;
    }

    public enum CameraClearFlags
    {
        Skybox = 1,
        SolidColor = 2,
    }

    public sealed class Camera : Behaviour
    {
        public static Camera main { get; set; }

        public CameraClearFlags clearFlags { get; set; }

        public Color backgroundColor { get; set; }

        public float nearClipPlane { get; set; }

        public float fieldOfView { get; set; }
    }

    public enum LightType
    {
        Spot,
        Directional,
        Point,
    }

    public sealed class Light : Behaviour
    {
        public LightType type { get; set; }

        public Color color { get; set; }

        public float intensity { get; set; }
    }

    public enum TextAnchor
    {
        UpperLeft,
        UpperCenter,
        MiddleCenter = 4,
    }

    public enum TextAlignment
    {
        Left,
        Center,
    }

    public sealed class MeshRenderer : Renderer
    {
    }

    public sealed class Font : Object
    {
        public Material material { get; set; } = new Material(null);
    }

    [RequireComponent(typeof(MeshRenderer))]
    public sealed class TextMesh : Component
    {
        public Font font { get; set; }

        public string text { get; set; } = "";

        public float characterSize { get; set; }

        public int fontSize { get; set; }

        public TextAnchor anchor { get; set; }

        public TextAlignment alignment { get; set; }
    }
}
