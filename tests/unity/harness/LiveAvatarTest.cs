// A whole avatar in a scene: frames at about 60 a second, a device that plays in real time, a microphone. It says on standard output
// what a test checks.
//
//   "ask TEXT"     asks and waits for the whole answer        "cut TEXT"     asks, and interrupts the answer after 0.3 s
//   "hear"         speaks noise into the microphone for 1 s    "reload"       scripts are loaded again
//   "stop"         disables it                                 "quit"         the game ends
//   "exit"         play mode ends
//   "wait"         waits for a line on standard input
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using Taoxr.Avatar;
using Taoxr.Client;
using Taoxr.Protocol.V1;
using UnityEditor;
using UnityEngine;
using Debug = UnityEngine.Debug;

public sealed class LiveAvatarTest
{
    private const int Block = 480, Channels = 2;

    private readonly TaoxrAvatar _avatar;
    private readonly SkinnedMeshRenderer _face;
    private readonly List<(string Turn, long Us, float Jaw)> _frames = new List<(string, long, float)>();
    private readonly List<(string Turn, long Us, float Jaw, bool Moves)> _shown = new List<(string, long, float, bool)>();
    private readonly Thread _device;
    private readonly int _jaw = Arkit.IndexOf("jawOpen");
    private volatile bool _plays = true, _warm;
    private double _energy, _energyAfterCut;
    private volatile int _blocksAfterCut = int.MinValue;
    private long _allocated, _deviceAllocated;
    private int _quietFrames, _blocks;
    private bool _done;

    public LiveAvatarTest(string target)
    {
        // As the editor does after it has loaded scripts.
        RuntimeHelpers.RunClassConstructor(typeof(Taoxr.Avatar.Editor.TaoxrAvatarEditor).Assembly.GetType("Taoxr.Avatar.Editor.EditorLifetime").TypeHandle);
        var mesh = new Mesh { vertices = new Vector3[3], triangles = new[] { 0, 1, 2 } };
        foreach (var name in Arkit.Names) mesh.AddBlendShapeFrame(name, 100, new Vector3[3], null, null);
        var head = new GameObject("Avatar");
        head.SetActive(false);
        _face = head.AddComponent<SkinnedMeshRenderer>();
        _face.sharedMesh = mesh;
        head.AddComponent<BlendshapeDriver>().smoothing = 0;
        head.AddComponent<GazeDriver>().target = new GameObject("target").transform;
        AddBody(head);
        _avatar = head.AddComponent<TaoxrAvatar>();
        _avatar.server = target;
        _avatar.ConversationBegan += Listen;
        _avatar.AddTool(new AvatarTool("lamp", "Switches the lamp.", "", call => call.Answer("lamp is on")));
        _avatar.AddTool(new AvatarTool("door", "Opens the door.", "", _ => throw new InvalidOperationException("no door")));
        head.SetActive(true);
        _device = new Thread(Play) { IsBackground = true };
        _device.Start();
    }

    public void Run(IEnumerable<string> commands)
    {
        // The session's state is another thread's; the voice is there when a frame has taken it in.
        Until(() => _avatar.Session?.State == SessionState.Running && _avatar.Playback.Voice != null, "the conversation runs");
        Say("voice", _avatar.Playback.Voice.Rate, _avatar.Playback.Body != null);
        foreach (var command in commands)
        {
            var words = command.Split(new[] { ' ' }, 2);
            switch (words[0])
            {
                case "ask": Ask(words[1]); break;
                case "cut": Cut(words[1]); break;
                case "hear": Hear(); break;
                case "wait": Console.ReadLine(); break;
                case "reload": Timed("reload", AssemblyReloadEvents.Reload); break;
                case "exit": Timed("exit", () => EditorApplication.Change(PlayModeStateChange.ExitingPlayMode)); break;
                case "stop": Timed("stop", () => _avatar.enabled = false); break;
                case "quit": Timed("quit", Player.Quit); break;
                default: throw new ArgumentException(command);
            }
        }
        _plays = false;
        _device.Join(1000);
        foreach (var (kind, text) in Debug.Lines) Say(kind, text);
    }

    private void Listen(ConversationSession session)
    {
        session.AudioReceived += (turn, media) =>
        {
            foreach (var frame in media.Frames) _frames.Add((turn.TurnId, frame.TimeUs, frame.Weights[_jaw]));
        };
        session.TurnChanged += (turn, state) =>
        {
            if (state.State == TurnStateState.Done || state.State == TurnStateState.Interrupted) _done = true;
        };
    }

    private void Ask(string text)
    {
        Begin(text);
        // The first seconds warm everything up.
        Until(() => _done && _avatar.Playback.Voice.WaitingUs == 0 && !_avatar.Playback.Voice.Moves, "the answer was heard");
        Say("heard", _avatar.Playback.Voice.TurnId, _avatar.Playback.Voice.PlayedUs, _avatar.Playback.Captions.Text, _frames.Max(f => f.Us), _avatar.Playback.Voice.Underruns, _energy);
        Say("lips", _shown.Count(s => s.Moves), Worst(), _frames.Max(f => f.Jaw));
        Say("allocated", _allocated, _quietFrames, _deviceAllocated, _blocks);
        for (var i = 0; i < 30; i++) Step();
        Say("rest", _face.GetBlendShapeWeight(_jaw));
    }

    private void Cut(string text)
    {
        var before = _avatar.Playback.Voice.TurnId;
        Begin(text);
        Until(() => _avatar.Playback.Voice.TurnId != before && _avatar.Playback.Voice.PlayedUs > 300000, "the answer is heard");
        _avatar.Interrupt();
        _blocksAfterCut = 0;
        var played = _avatar.Playback.Voice.PlayedUs;
        Until(() => _done, "the turn ended");
        for (var i = 0; i < 30; i++) Step();
        Say("cut", played, _avatar.Playback.Voice.PlayedUs, _energyAfterCut, _face.GetBlendShapeWeight(_jaw));
    }

    private void Hear()
    {
        var microphone = _avatar.GetComponent<MicrophoneStreamer>();
        Until(() => microphone.IsRunning, "the microphone runs");
        var random = new System.Random(1);
        for (var i = 0; i < 60; i++)
        {
            Microphone.Hear(Enumerable.Range(0, 267).Select(_ => (float)random.NextDouble() - 0.5f).ToArray());
            Step();
        }
        Say("level", microphone.LevelDb, microphone.Level);
    }

    private void Begin(string text)
    {
        _frames.Clear();
        _shown.Clear();
        _energy = 0;
        _allocated = _quietFrames = 0;
        _done = false;
        _avatar.Ask(text);
    }

    private void Step()
    {
        var quiet = _avatar.Session?.WaitingMessages == 0;
        var before = Allocated();
        Player.Frame(1 / 60f);
        if (quiet && _avatar.Session?.WaitingMessages == 0 && _shown.Count > 30)
        {
            _warm = true;
            _allocated += Allocated() - before;
            _quietFrames++;
        }
        if (_avatar.Playback?.Voice is Voice voice) _shown.Add((voice.TurnId, voice.PlayedUs, _face.GetBlendShapeWeight(_jaw) / 100, voice.Moves));
        Thread.Sleep(14);
    }

    // The farthest that the mouth was from the frames of the sound that was heard, once it had eased into them.
    private double Worst()
    {
        var worst = 0.0;
        var streak = 0;
        foreach (var shown in _shown)
        {
            streak = shown.Moves ? streak + 1 : 0;
            if (streak < 6) continue;
            var at = _frames.FindLastIndex(f => f.Turn == shown.Turn && f.Us <= shown.Us);
            if (at < 0) continue;
            var (a, b) = (_frames[at], _frames[Math.Min(at + 1, _frames.Count - 1)]);
            var mix = b.Us > a.Us ? Math.Min(1.0, (shown.Us - a.Us) / (double)(b.Us - a.Us)) : 0;
            worst = Math.Max(worst, Math.Abs(a.Jaw + (b.Jaw - a.Jaw) * mix - shown.Jaw));
        }
        return worst;
    }

    private void Play()
    {
        var block = new float[Block * Channels];
        var scratch = new float[Block * Channels];
        var clock = Stopwatch.StartNew();
        for (long played = 0; _plays; played += Block)
        {
            while (clock.Elapsed.TotalSeconds * AudioSettings.outputSampleRate < played) Thread.Sleep(1);
            var before = Allocated();
            Player.Audio(block, Channels, scratch);
            if (_warm)
            {
                _deviceAllocated += Allocated() - before;
                _blocks++;
            }
            double energy = 0;
            foreach (var sample in block) energy += sample * sample;
            _energy += energy;
            if (_blocksAfterCut >= 0 && ++_blocksAfterCut > 2) _energyAfterCut += energy;
        }
    }

    private void Until(Func<bool> condition, string what)
    {
        var limit = Stopwatch.StartNew();
        while (!condition())
        {
            if (limit.Elapsed.TotalSeconds > 60) throw new TimeoutException(what + "; " + string.Join("; ", Debug.Lines));
            Step();
        }
    }

    private static void Timed(string what, Action action)
    {
        var watch = Stopwatch.StartNew();
        action();
        Say(what, watch.ElapsedMilliseconds, LiveAvatars.Count);
    }

    private static void AddBody(GameObject root)
    {
        var animator = root.AddComponent<Animator>();
        var above = root.transform;
        foreach (var bone in new[] { HumanBodyBones.Hips, HumanBodyBones.Spine, HumanBodyBones.Chest, HumanBodyBones.Neck, HumanBodyBones.Head })
        {
            var made = new GameObject(bone.ToString()).transform;
            made.SetParent(above, false);
            made.localPosition = new Vector3(0, bone == HumanBodyBones.Hips ? 0.95f : 0.15f, 0);
            animator.Bones.Add(bone, made);
            above = made;
        }
    }

    private static long Allocated()
    {
#if DOTNET
        return GC.GetAllocatedBytesForCurrentThread();
#else
        return 0;
#endif
    }

    private static void Say(params object[] words) => Console.WriteLine(string.Join("\t", words.Select(w => w is double d ? d.ToString("G9") : w?.ToString())));
}
