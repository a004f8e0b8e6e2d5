// A client that does what it is told on standard input, line by line, and says on standard output what happens. It polls
// as a game would, and plays the avatar's voice on a clock.
//
//   client_runner HOST:PORT [name=value]...     see Main
//
// Words of a line are between tabs. The commands are the cases of Do; the events are the calls of Say.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Taoxr.Client;
using Taoxr.Protocol.V1;
using Taoxr.Transport;

public sealed class ClientRunner
{
    private static readonly StreamWriter Output =
        new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { AutoFlush = true };

    private readonly ConcurrentQueue<string> _commands = new ConcurrentQueue<string>();
    private readonly ConcurrentQueue<object[]> _replies = new ConcurrentQueue<object[]>();
    private readonly TaoxrClient _client;
    private ConversationSession _session;
    private bool _polls = true;
    private int _frames, _bodies, _cues;
    private long _firstFrame = long.MaxValue, _lastFrame = long.MinValue;
    private string _playing = "";
    private double _speed, _playedUs, _receivedUs;
    private readonly Stopwatch _clock = Stopwatch.StartNew();

    private ClientRunner(ClientOptions options)
    {
        _client = new TaoxrClient(options);
        _client.StateChanged += change => Say("connection", change.State, change.Error?.Code, change.Error?.Detail, change.RetryIn.TotalSeconds);
    }

    public static void Main(string[] arguments)
    {
        var options = ClientOptions.For(arguments[0]);
        foreach (var argument in arguments.Skip(1))
        {
            var (name, value) = Split(argument);
            switch (name)
            {
                case "token": options.Token = value; break;
                case "ca": options.RootCertificates = File.ReadAllText(value); break;
                case "insecure": options.AllowInsecure = true; break;
                case "call_s": options.CallTimeout = Seconds(value); break;
                case "connect_s": options.ConnectTimeout = Seconds(value); break;
                case "start_s": options.StartTimeout = Seconds(value); break;
                case "first_s": options.FirstRetry = Seconds(value); break;
                case "longest_s": options.LongestRetry = Seconds(value); break;
                case "retry_s": options.FirstRetry = options.LongestRetry = Seconds(value); break;
                default: throw new ArgumentException(argument);
            }
        }
        new ClientRunner(options).Run();
    }

    private void Run()
    {
        new Thread(() =>
        {
            var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
            for (string line; (line = input.ReadLine()) != null;) _commands.Enqueue(line);
            _commands.Enqueue("quit");
        }) { IsBackground = true }.Start();
        for (var before = _clock.Elapsed; ; Thread.Sleep(4))
        {
            while (_commands.TryDequeue(out var line))
            {
                if (line == "quit") return;
                Do(line.Split('\t'));
            }
            var now = _clock.Elapsed;
            Play((now - before).TotalMilliseconds * 1000);
            before = now;
            // What a call found comes after the steps of the connection that led to it.
            var replies = _replies.Count;
            if (_polls) _client.Poll();
            for (; replies > 0 && _replies.TryDequeue(out var reply); replies--) Say(reply);
        }
    }

    private void Do(string[] words)
    {
        switch (words[0])
        {
            case "connect": Reply("connect", async () => (await _client.ConnectAsync()).Version); break;
            case "info": Reply("info", async () => string.Join(",", (await _client.GetServerInfoAsync()).Workers.Select(w => w.Role))); break;
            case "avatars": Reply("avatars", async () => string.Join(",", (await _client.ListAvatarsAsync()).Avatars.Select(a => a.AvatarId))); break;
            case "serving": Reply("serving", async () => (await _client.IsServingAsync()).ToString()); break;
            case "converse": Converse(words.Skip(1)); break;
            case "ask": Try(() => _session.Ask(words[1])); break;
            case "audio": Push(words[1]); break;
            case "begin": _session.BeginTalking(); break;
            case "end": _session.EndTalking(); break;
            case "mute": Try(() => _session.SetMuted(words[1] == "1")); break;
            case "interrupt": _session.Interrupt(null, words.Length > 1 && words[1] == "forget"); break;
            case "tool": Try(() => _session.AnswerTool(words[1], words[2])); break;
            case "fail": Try(() => _session.FailTool(words[1], words[2])); break;
            case "wave": Try(() => _session.PlayAction(PlayActionAction.Wave)); break;
            case "look": Try(() => _session.LookAt(0.2f, 1.6f, 1)); break;
            case "lookat": Try(() => _session.LookAt(Number(words[1]), Number(words[2]), Number(words[3]))); break;
            case "update": Try(() => _session.Update(words[1], (int)Number(words[2]), Number(words[3]))); break;
            case "played": Try(() => _session.ReportPlayback("turn-1", (long)Number(words[1]))); break;
            case "ahead": Try(_session.LookAhead); break;
            case "ping": _session.Ping(77); break;
            case "play": _speed = double.Parse(words[1], CultureInfo.InvariantCulture); break;
            case "polls": _polls = words[1] == "1"; break;
            case "stats": Say("stats", _session.WaitingMessages, _session.DroppedAudioUs, _session.State, _client.State, Process.GetCurrentProcess().WorkingSet64); break;
            case "target": Target(words[1]); break;
            case "flood": Flood(); break;
            case "finish": _session.End(); break;
            case "leave": Timed("left", () => _session.Dispose()); break;
            case "dispose": Timed("disposed", () => _client.Dispose()); break;
            default: throw new ArgumentException(words[0]);
        }
    }

    private void Converse(IEnumerable<string> wishes)
    {
        var config = new ConversationConfig();
        foreach (var (name, value) in wishes.Select(Split))
        {
            switch (name)
            {
                case "audio": config.AudioIn = new AudioFormat { SampleRateHz = int.Parse(value) }; break;
                case "ptt": config.InputMode = InputMode.PushToTalk; break;
                case "partials": config.PartialTranscripts = true; break;
                case "body": config.Tracks.Add(Track.Body); config.Tracks.Add(Track.Face); config.Tracks.Add(Track.Cues); break;
                case "tool":
                    var told = value.Split(new[] { ':' }, 2);
                    config.Tools.Add(new Tool { Name = told[0], Description = told.Length > 1 ? told[1] : "Looks at something." });
                    break;
                case "tokens": config.MaxAnswerTokens = int.Parse(value); break;
                case "resume": config.ResumeToken = value; break;
                case "rate": config.FrameRate = double.Parse(value); break;
                default: throw new ArgumentException(name);
            }
        }
        var session = _session = _client.Converse(config);
        session.StateChanged += state => Say("state", state);
        session.Started += s => Say("started", s.Resumed, s.LostTurn?.TurnId, s.LostTurn?.UserText, s.LostTurn?.HeardText, s.ResumeToken, s.AudioOut!.SampleRateHz, s.SessionId);
        session.Ended += error => Say("ended", error?.Code.ToString() ?? "OK", error?.Detail);
        session.Retrying += error => Say("retrying", error.Code, error.Detail);
        session.SpeechHeard += (turn, speech) => Say("speech", speech.Kind);
        session.TranscriptReceived += (turn, transcript) => Say("transcript", transcript.IsFinal, transcript.Text);
        session.TurnChanged += (turn, state) => Say("turn", turn.TurnId, state.State, state.HeardText);
        session.TextReceived += (turn, text) => Say("text", turn.TurnId, text.Text);
        session.FaceReceived += (turn, frame) => Count(ref _frames, frame.TimeUs, frame.Weights.Count == 52);
        session.BodyReceived += (turn, frame) => Count(ref _bodies, frame.TimeUs, frame.Rotations.Count == 4 * session.Negotiated.Body.BoneNames.Count);
        session.CueReceived += (turn, cue) => _cues++;
        session.AudioReceived += Hear;
        session.MotionReceived += (turn, motion) => Say("motion", motion.Activity, motion.Body.Count);
        session.PlaybackCut += turn =>
        {
            _receivedUs = _playedUs;
            Say("cut", turn.TurnId, (long)_playedUs);
        };
        session.ToolCalled += (turn, call) => Say("toolcall", call.CallId, call.Name, call.ArgumentsJson);
        session.NoticeReceived += (turn, status) => Say("notice", status.Code, status.Message);
        session.MetricsReceived += (turn, metrics) => Say("metrics", metrics.AnswerTokens);
        session.GoingAwayReceived += going => Say("going", going.Reason);
        session.PongReceived += pong => Say("pong", pong.ClientTimeUs);
    }

    private void Count(ref int frames, long timeUs, bool whole)
    {
        if (!whole) Say("broken", timeUs);
        frames++;
        _firstFrame = Math.Min(_firstFrame, timeUs);
        _lastFrame = Math.Max(_lastFrame, timeUs);
    }

    // A chunk: its poses must have come before it, and lie in it.
    private void Hear(TurnInfo turn, MediaChunk media)
    {
        var end = media.StartUs + media.Pcm.Length / 2 * 1_000_000L / _session.Negotiated.AudioOut.SampleRateHz;
        var inside = _frames == 0 || _firstFrame >= media.StartUs && _lastFrame < Math.Max(end, media.StartUs + 1);
        Say("audio", turn.TurnId, media.StartUs, end, _frames, _bodies, _cues, inside, media.Last, media.Pcm.Length);
        _frames = _bodies = _cues = 0;
        _firstFrame = long.MaxValue;
        _lastFrame = long.MinValue;
        if (turn.TurnId != _playing) _playedUs = 0;
        _playing = turn.TurnId;
        _receivedUs = end;
    }

    private void Play(double passedUs)
    {
        if (_speed == 0 || _playing.Length == 0 || _playedUs >= _receivedUs) return;
        _playedUs = Math.Min(_playedUs + passedUs * _speed, _receivedUs);
        _session.ReportPlayback(_playing, (long)_playedUs);
    }

    // Raw samples of 16 bit, in pieces as a microphone gives them.
    private void Push(string path)
    {
        var bytes = File.ReadAllBytes(path);
        var samples = new short[bytes.Length / 2];
        Buffer.BlockCopy(bytes, 0, samples, 0, samples.Length * 2);
        for (var start = 0; start < samples.Length; start += 256) _session.PushAudio(samples, start, Math.Min(256, samples.Length - start));
    }

    private static void Target(string text)
    {
        try
        {
            var options = ClientOptions.For(text);
            Say("target", options.Host, options.Port, options.Tls);
        }
        catch (FormatException error)
        {
            Say("target", error.Message);
        }
    }

    private void Flood()
    {
        var asked = 0;
        try
        {
            while (true)
            {
                _session.Ask("one");
                asked++;
            }
        }
        catch (InvalidOperationException)
        {
            Say("flooded", asked);
        }
    }

    private static void Try(Action action)
    {
        try
        {
            action();
        }
        catch (Exception error) when (error is InvalidOperationException || error is ArgumentException)
        {
            Say("refused", error.Message);
        }
    }

    private static void Timed(string what, Action action)
    {
        var watch = Stopwatch.StartNew();
        action();
        Say(what, watch.ElapsedMilliseconds);
    }

    private async void Reply(string what, Func<Task<string>> call)
    {
        try
        {
            _replies.Enqueue(new object[] { "reply", what, "OK", await call() });
        }
        catch (RpcException error)
        {
            _replies.Enqueue(new object[] { "reply", what, error.Code, error.Detail });
        }
    }

    private static void Say(params object[] words)
    {
        var line = string.Join("\t", words.Select(w => Convert.ToString(w, CultureInfo.InvariantCulture).Replace("\n", " ").Replace("\t", " ")));
        lock (Output) Output.WriteLine(line);
    }

    private static float Number(string text) => float.Parse(text, CultureInfo.InvariantCulture);

    private static (string, string) Split(string argument)
    {
        var parts = argument.Split(new[] { '=' }, 2);
        return (parts[0], parts.Length > 1 ? parts[1] : "");
    }

    private static TimeSpan Seconds(string text) => TimeSpan.FromSeconds(double.Parse(text, CultureInfo.InvariantCulture));
}
