// Vectors and rotations; left-handed, +Y up, +Z forward.
#nullable disable
using System;

namespace UnityEngine
{
    public static class Mathf
    {
        public const float PI = (float)Math.PI;
        public const float Deg2Rad = PI / 180;
        public const float Rad2Deg = 180 / PI;

        public static float Abs(float x) => Math.Abs(x);

        public static float Sin(float x) => (float)Math.Sin(x);

        public static float Cos(float x) => (float)Math.Cos(x);

        public static float Atan2(float y, float x) => (float)Math.Atan2(y, x);

        public static float Sqrt(float x) => (float)Math.Sqrt(x);

        public static float Exp(float x) => (float)Math.Exp(x);

        public static float Max(float a, float b) => Math.Max(a, b);

        public static float Min(float a, float b) => Math.Min(a, b);

        public static int Clamp(int x, int min, int max) => Math.Min(Math.Max(x, min), max);

        public static float Clamp(float x, float min, float max) => Math.Min(Math.Max(x, min), max);

        public static float Clamp01(float x) => Clamp(x, 0, 1);

        public static float Lerp(float a, float b, float t) => a + (b - a) * Clamp01(t);

        public static float InverseLerp(float a, float b, float x) => a == b ? 0 : Clamp01((x - a) / (b - a));
    }

    public struct Vector2
    {
        public float x, y;

        public Vector2(float x, float y)
        {
            this.x = x;
            this.y = y;
        }
    }

    public struct Vector3
    {
        public float x, y, z;

        public Vector3(float x, float y, float z)
        {
            this.x = x;
            this.y = y;
            this.z = z;
        }

        public static Vector3 zero => default;

        public static Vector3 one => new Vector3(1, 1, 1);

        public static Vector3 up => new Vector3(0, 1, 0);

        public static Vector3 forward => new Vector3(0, 0, 1);

        public float magnitude => (float)Math.Sqrt(Dot(this, this));

        public Vector3 normalized => magnitude > 1e-5f ? this * (1 / magnitude) : zero;

        public static Vector3 operator +(Vector3 a, Vector3 b) => new Vector3(a.x + b.x, a.y + b.y, a.z + b.z);

        public static Vector3 operator -(Vector3 a, Vector3 b) => new Vector3(a.x - b.x, a.y - b.y, a.z - b.z);

        public static Vector3 operator -(Vector3 a) => new Vector3(-a.x, -a.y, -a.z);

        public static Vector3 operator *(Vector3 a, float b) => new Vector3(a.x * b, a.y * b, a.z * b);

        public static Vector3 operator *(float a, Vector3 b) => b * a;

        public static float Dot(Vector3 a, Vector3 b) => a.x * b.x + a.y * b.y + a.z * b.z;

        public static Vector3 Scale(Vector3 a, Vector3 b) => new Vector3(a.x * b.x, a.y * b.y, a.z * b.z);

        public static Vector3 Lerp(Vector3 a, Vector3 b, float t) => a + (b - a) * Mathf.Clamp01(t);
    }

    public struct Quaternion
    {
        public float x, y, z, w;

        public Quaternion(float x, float y, float z, float w)
        {
            this.x = x;
            this.y = y;
            this.z = z;
            this.w = w;
        }

        public static Quaternion identity => new Quaternion(0, 0, 0, 1);

        public static Quaternion operator *(Quaternion a, Quaternion b) => new Quaternion(
            a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
            a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x,
            a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);

        public static Vector3 operator *(Quaternion q, Vector3 v)
        {
            var turned = q * new Quaternion(v.x, v.y, v.z, 0) * new Quaternion(-q.x, -q.y, -q.z, q.w);
            return new Vector3(turned.x, turned.y, turned.z);
        }

        public static Quaternion Inverse(Quaternion q) => new Quaternion(-q.x, -q.y, -q.z, q.w);

        public static float Dot(Quaternion a, Quaternion b) => a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;

        public static Quaternion AngleAxis(float degrees, Vector3 axis)
        {
            var half = degrees * Mathf.Deg2Rad / 2;
            var way = axis.normalized * Mathf.Sin(half);
            return new Quaternion(way.x, way.y, way.z, Mathf.Cos(half));
        }

        public static Quaternion Euler(float x, float y, float z) =>
            AngleAxis(y, new Vector3(0, 1, 0)) * AngleAxis(x, new Vector3(1, 0, 0)) * AngleAxis(z, new Vector3(0, 0, 1));

        public static Quaternion Slerp(Quaternion a, Quaternion b, float t)
        {
            t = Mathf.Clamp01(t);
            var dot = Dot(a, b);
            var sign = dot < 0 ? -1f : 1f;
            var angle = Math.Acos(Math.Min(dot * sign, 1));
            float first = 1 - t, second = t;
            if (angle > 1e-3)
            {
                first = (float)(Math.Sin((1 - t) * angle) / Math.Sin(angle));
                second = (float)(Math.Sin(t * angle) / Math.Sin(angle));
            }
            second *= sign;
            return new Quaternion(a.x * first + b.x * second, a.y * first + b.y * second, a.z * first + b.z * second, a.w * first + b.w * second);
        }

        public static Quaternion LookRotation(Vector3 forward) =>
            Euler(-Mathf.Atan2(forward.y, Mathf.Sqrt(forward.x * forward.x + forward.z * forward.z)) * Mathf.Rad2Deg, Mathf.Atan2(forward.x, forward.z) * Mathf.Rad2Deg, 0);
    }

    public struct Color
    {
        public float r, g, b, a;

        public Color(float r, float g, float b, float a = 1)
        {
            this.r = r;
            this.g = g;
            this.b = b;
            this.a = a;
        }

        public static Color white => new Color(1, 1, 1);

        public static Color red => new Color(1, 0, 0);

        public static Color green => new Color(0, 1, 0);

        public static Color grey => new Color(0.5f, 0.5f, 0.5f);
    }

    public struct Bounds
    {
        public Bounds(Vector3 center, Vector3 size)
        {
            this.center = center;
            this.size = size;
        }

        public Vector3 center { get; set; }

        public Vector3 size { get; set; }
    }
}
