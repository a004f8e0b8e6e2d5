// The package's components on the stubs of Unity, doing what a test asks.
//
//   avatar_runner resample FROM TO BLOCK     s16le on standard input, float32 on standard output, as the microphone is converted
//   avatar_runner voice FROM TO BLOCK        the same, as the voice is played
//   avatar_runner mix KIND                   lines of 52 numbers -> lines name=weight of every shape that moves
//   avatar_runner silent KIND                the ARKit names that no rule of a kind has
//   avatar_runner body                       lines -> poses; see Body
//   avatar_runner skeleton                   lines -> places and rotations; see Bones
//   avatar_runner head FILE                  the sample's head
//   avatar_runner live HOST:PORT TEXT...     a whole avatar in a scene; see Live
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using Taoxr.Avatar;
using Taoxr.Protocol.V1;
using Taoxr.Samples;
using UnityEngine;

public static class AvatarRunner
{
    public static void Main(string[] arguments)
    {
        CultureInfo.DefaultThreadCurrentCulture = CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        switch (arguments[0])
        {
            case "resample": Resample(int.Parse(arguments[1]), int.Parse(arguments[2]), int.Parse(arguments[3])); break;
            case "voice": Speak(int.Parse(arguments[1]), int.Parse(arguments[2]), int.Parse(arguments[3])); break;
            case "mix": Mix((ShapeKind)Enum.Parse(typeof(ShapeKind), arguments[1])); break;
            case "silent": Silent((ShapeKind)Enum.Parse(typeof(ShapeKind), arguments[1])); break;
            case "body": Body(); break;
            case "skeleton": Bones(); break;
            case "head": Head(arguments[1]); break;
            case "live": new LiveAvatarTest(arguments[1]).Run(arguments.Skip(2)); break;
            default: throw new ArgumentException(arguments[0]);
        }
    }

    private static void Resample(int from, int to, int block)
    {
        var pcm = MemoryMarshal.Cast<byte, short>(ReadAll()).ToArray();
        var sound = new SoundIn(from, to, block);
        using var output = new BinaryWriter(Console.OpenStandardOutput());
        for (var at = 0; at < pcm.Length; at += block)
        {
            var part = pcm.Skip(at).Take(block).Select(s => s / 32768f).ToArray();
            var count = sound.Convert(part, out var result);
            for (var i = 0; i < count; i++) output.Write(result[i]);
        }
    }

    private static void Speak(int from, int to, int block)
    {
        var pcm = ReadAll();
        var voice = new Voice(from, 0);
        voice.SetDeviceRate(to);
        voice.Add("a", 0, pcm, true);
        using var output = new BinaryWriter(Console.OpenStandardOutput());
        var data = new float[block];
        for (var left = (long)pcm.Length / 2 * to / from; left > 0; left -= block)
        {
            voice.Read(data, 1, 0);
            foreach (var sample in data) output.Write(sample);
        }
    }

    private static void Mix(ShapeKind kind)
    {
        var names = ShapeTables.Of(kind).Select(r => r.shapes[0]).ToArray();
        var mixer = new ShapeMixer(ShapeTables.Of(kind), names);
        for (string line; (line = Console.ReadLine()) != null;)
        {
            mixer.Mix(Numbers(line), 0);
            Console.WriteLine(string.Join(" ", Enumerable.Range(0, mixer.Count).Select(i => names[mixer.Shape(i)] + "=" + mixer.Weight(i))));
        }
    }

    private static void Silent(ShapeKind kind)
    {
        var used = ShapeTables.Of(kind).SelectMany(r => r.sources).SelectMany(s => new[] { s.arkit, s.arkit + "Left", s.arkit + "Right" });
        foreach (var name in Arkit.Names.Except(used)) Console.WriteLine(name);
    }

    // "bones a b", then "media T numbers", "motion NOW T numbers T numbers", "cut", "update NOW HEARD|-": a line of numbers for each update.
    private static void Body()
    {
        BodyTrack track = null;
        for (string line; (line = Console.ReadLine()) != null;)
        {
            var words = line.Split(' ');
            switch (words[0])
            {
                case "bones": track = new BodyTrack(words.Skip(1).ToList()); break;
                case "media": track.AddMedia(long.Parse(words[1]), Frame(words, 1, track.Bones.Count)); break;
                case "cut": track.CutMedia(); break;
                case "motion":
                    var motion = new Motion();
                    for (var at = 2; at < words.Length; at += 4 + 4 * track.Bones.Count) motion.Body.Add(Frame(words, at, track.Bones.Count));
                    track.AddMotion(long.Parse(words[1]), motion);
                    break;
                case "update":
                    track.Update(long.Parse(words[1]), words[2] == "-" ? (long?)null : long.Parse(words[2]));
                    Console.WriteLine(track.Shows ? string.Join(" ", track.Rotations.ToArray().Concat(track.Hips.ToArray()).Select(Text)) : "none");
                    break;
            }
        }
    }

    // "bone NAME PARENT VRM|- x y z qx qy qz qw", then "pose VRM... | numbers": a line of x y z qx qy qz qw in the world per bone.
    private static void Bones()
    {
        var root = new GameObject("root");
        root.transform.position = new Vector3(3, 1, -2);
        root.transform.rotation = Quaternion.Euler(0, 40, 0);
        var animator = root.AddComponent<Animator>();
        var driver = root.AddComponent<BodyDriver>();
        var bones = new Dictionary<string, Transform> { { "root", root.transform } };
        for (string line; (line = Console.ReadLine()) != null;)
        {
            var words = line.Split(' ');
            if (words[0] == "bone")
            {
                var bone = new GameObject(words[1]).transform;
                bone.SetParent(bones[words[2]], false);
                var numbers = words.Skip(4).Select(Number).ToArray();
                bone.localPosition = new Vector3(numbers[0], numbers[1], numbers[2]);
                bone.localRotation = new Quaternion(numbers[3], numbers[4], numbers[5], numbers[6]);
                bones.Add(words[1], bone);
                if (words[3] != "-" && Humanoid.TryGet(words[3], out var which)) animator.Bones.Add(which, bone);
                continue;
            }
            var split = Array.IndexOf(words, "|");
            var track = new BodyTrack(words.Skip(1).Take(split - 1).ToList());
            track.AddMedia(0, Frame(words.Skip(split).ToArray(), 0, track.Bones.Count));
            track.Update(0, 0);
            driver.Show(track, true);
            foreach (var bone in bones.Values.Skip(1))
            {
                var place = root.transform.InverseTransformPoint(bone.position);
                var turn = Quaternion.Inverse(root.transform.rotation) * bone.rotation;
                Console.WriteLine(string.Join(" ", new[] { place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w }.Select(Text)));
            }
        }
    }

    private static void Head(string path)
    {
        var mesh = ProceduralHead.Build(new GameObject("head")).sharedMesh;
        using var output = new StreamWriter(path);
        foreach (var v in mesh.vertices) output.WriteLine("v " + v.x + " " + v.y + " " + v.z);
        for (var part = 0; part < mesh.subMeshCount; part++) output.WriteLine("t " + string.Join(" ", mesh.GetTriangles(part)));
        var deltas = new Vector3[mesh.vertices.Length];
        for (var shape = 0; shape < mesh.blendShapeCount; shape++)
        {
            mesh.GetBlendShapeFrameVertices(shape, 0, deltas, null, null);
            output.WriteLine("s " + mesh.GetBlendShapeName(shape) + " " + string.Join(" ", deltas.Select(d => d.x + " " + d.y + " " + d.z)));
        }
    }

    private static BodyFrame Frame(string[] words, int at, int bones)
    {
        var frame = new BodyFrame { TimeUs = at == 0 ? 0 : long.Parse(words[at]) };
        frame.Rotations.Set(words.Skip(at + 1).Take(4 * bones).Select(Number).ToArray());
        frame.HipsTranslation.Set(words.Skip(at + 1 + 4 * bones).Take(3).Select(Number).ToArray());
        return frame;
    }

    private static byte[] ReadAll()
    {
        using var memory = new MemoryStream();
        Console.OpenStandardInput().CopyTo(memory);
        return memory.ToArray();
    }

    private static float[] Numbers(string line) => line.Split(' ').Select(Number).ToArray();

    private static float Number(string word) => float.Parse(word, CultureInfo.InvariantCulture);

    private static string Text(float number) => number.ToString("R", CultureInfo.InvariantCulture);
}
