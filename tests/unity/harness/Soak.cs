// The main path of a game: 60 updates a second of a simulated clock, which runs as fast as the server keeps up. Each one
// polls, hands out 1/60 s of microphone, copies what came and reports playback. Says what that allocated.
//
//   soak HOST:PORT FRAMES
//
// One line: frames counted, bytes that the updates after the first turn allocated, the most that one of them did, the most
// messages that waited, poses of face and body, seconds of voice, turns,
// nanoseconds of an update on average.
using System;
using System.Diagnostics;
using System.Globalization;
using System.Threading;
using Taoxr.Client;
using Taoxr.Protocol.V1;

public sealed class Soak
{
    private const int MicrophoneRate = 16000;
    private const int Block = 267;
    private readonly TaoxrClient _client;
    private readonly ConversationSession _session;
    private readonly float[] _microphone = new float[Block];
    private readonly float[] _face = new float[52];
    private readonly byte[] _voice = new byte[1 << 16];
    private int _faces, _bodies, _turns, _asked;
    private long _voiceBytes;
    private string _playing = "";
    private double _playedUs, _receivedUs;
    private bool _ended;

    private Soak(string target)
    {
        _client = new TaoxrClient(ClientOptions.For(target));
        var config = new ConversationConfig { AudioIn = new AudioFormat { SampleRateHz = MicrophoneRate } };
        config.Tracks.Add(Track.Face);
        config.Tracks.Add(Track.Body);
        _session = _client.Converse(config);
        _session.FaceReceived += (turn, frame) =>
        {
            frame.Weights.Span.CopyTo(_face);
            _faces++;
        };
        _session.BodyReceived += (turn, frame) => _bodies++;
        _session.MotionReceived += (turn, motion) => _bodies += motion.Body.Count;
        _session.AudioReceived += (turn, media) =>
        {
            media.Pcm.Span.CopyTo(_voice);
            _voiceBytes += media.Pcm.Length;
            if (turn.TurnId != _playing) _playedUs = 0;
            _playing = turn.TurnId;
            _receivedUs = media.StartUs + media.Pcm.Length / 2 * 1_000_000L / _session.Negotiated.AudioOut.SampleRateHz;
        };
        _session.TurnChanged += (turn, state) => _turns += state.State == TurnStateState.Done ? 1 : 0;
        _session.Ended += error => _ended = true;
    }

    public static void Main(string[] arguments)
    {
        new Soak(arguments[0]).Run(int.Parse(arguments[1], CultureInfo.InvariantCulture));
    }

    private void Run(int frames)
    {
        long allocated = 0, most = 0;
        var waiting = 0;
        var counted = 0;
        long spent = 0, updates = 0;
        while (counted < frames && !_ended)
        {
            if (_asked == _turns && _session.State == SessionState.Running)
            {
                _session.Ask("go on");
                _asked++;
            }
            waiting = Math.Max(waiting, _session.WaitingMessages);
            var start = Stopwatch.GetTimestamp();
            var before = GC.GetAllocatedBytesForCurrentThread();
            Update();
            spent += Stopwatch.GetTimestamp() - start;
            var cost = GC.GetAllocatedBytesForCurrentThread() - before;
            if (_turns > 0)
            {
                counted++;
                allocated += cost;
                most = Math.Max(most, cost);
            }
            updates++;
            Thread.Sleep(1);
        }
        _client.Dispose();
        Console.WriteLine(string.Join("\t", counted, allocated, most, waiting, _faces, _bodies, _voiceBytes / 2 / 22050, _turns, spent * 1_000_000_000 / Stopwatch.Frequency / updates));
    }

    private void Update()
    {
        _client.Poll();
        _session.PushAudio(_microphone, 0, Block);
        _session.LookAt(0.1f, 1.6f, 1);
        if (_playing.Length == 0 || _playedUs >= _receivedUs) return;
        _playedUs = Math.Min(_playedUs + 1e6 / 60, _receivedUs);
        _session.ReportPlayback(_playing, (long)_playedUs);
    }
}
