// Makes calls as it is told on standard input, one per line, and says on standard output what came of them.
//
// A line is words between tabs: what to do, host, port, seconds that it may take, and more. The answer is one line:
// words between tabs, the first one "OK", or the status of the RpcException with its text, reason and retry delay.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Taoxr.Protocol;
using Taoxr.Protocol.Health;
using Taoxr.Protocol.V1;
using Taoxr.Transport;

public static class GrpcRunner
{
    public static void Main()
    {
        var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { AutoFlush = true };
        var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
        for (string line; (line = input.ReadLine()) != null;)
        {
            string[] answer;
            try
            {
                answer = Run(line.Split('\t')).GetAwaiter().GetResult();
            }
            catch (RpcException error)
            {
                answer = new[]
                {
                    error.Code.ToString(), error.Detail, error.ErrorInfo?.Reason ?? "",
                    error.RetryInfo?.RetryDelay?.Nanos.ToString(CultureInfo.InvariantCulture) ?? "",
                    string.Join(",", error.BadRequest?.FieldViolations.Select(v => v.Field) ?? new string[0]),
                };
            }
            catch (TransportException error)
            {
                answer = new[] { "NoConnection", error.Message };
            }
            output.WriteLine(string.Join("\t", answer.Select(word => word.Replace("\n", " ").Replace("\t", " "))));
        }
    }

    private static async Task<string[]> Run(string[] words)
    {
        var timeout = TimeSpan.FromSeconds(double.Parse(words[3], CultureInfo.InvariantCulture));
        var host = words[1];
        var port = int.Parse(words[2], CultureInfo.InvariantCulture);
        using var connection = await Connect(words[0], host, port, timeout, words.Skip(4).FirstOrDefault());
        using var channel = new GrpcChannel(connection);
        var more = words.Skip(4).ToArray();
        switch (words[0])
        {
            case "info":
                return await Info(channel, Options(timeout, more.FirstOrDefault()));
            case "silence":
                return await Info(channel, Options(timeout));
            case "health":
                var health = await channel.UnaryAsync(Health.Check, new HealthCheckRequest { Service = more[0] }, Options(timeout));
                return new[] { "OK", health.Status.ToString() };
            case "rig":
                var rig = await channel.UnaryAsync(AvatarService.GetRig, new GetRigRequest { AvatarId = more[0] }, Options(timeout));
                return new[] { "OK", rig.AvatarId };
            case "download":
                return await Download(channel, Options(timeout), int.Parse(more[0], CultureInfo.InvariantCulture));
            case "converse":
                return await Converse(channel, Options(timeout), more);
            case "many":
                return await Many(channel, Options(timeout), int.Parse(more[0], CultureInfo.InvariantCulture));
            case "cancel":
                return await CancelAfterFirst(channel, Options(timeout));
            case "upload":
                return await Upload(channel, Options(timeout), int.Parse(more[0], CultureInfo.InvariantCulture));
            case "unread":
                return await WriteWithoutReading(channel, Options(timeout));
            case "dispose":
                return await DisposeWhileWaiting(channel, Options(timeout));
            default:
                throw new ArgumentException("no such thing to do: " + words[0]);
        }
    }

    // With TLS where the environment names the file of an authority.
    private static async Task<IHttp2Transport> Connect(string what, string host, int port, TimeSpan timeout, string more)
    {
        if (Environment.GetEnvironmentVariable("TAOXR_TEST_CA") is string path)
            return await Transports.ConnectAsync(new ServerAddress("localhost", port, true, false, File.ReadAllText(path)), timeout);
        var keepAlive = what == "silence" ? TimeSpan.FromSeconds(double.Parse(more, CultureInfo.InvariantCulture)) : (TimeSpan?)null;
        return await Http2Connection.ConnectAsync(host, port, timeout, default, keepAlive);
    }

    private static CallOptions Options(TimeSpan timeout, string token = null)
    {
        var options = new CallOptions { Timeout = timeout };
        if (string.IsNullOrEmpty(token)) return options;
        options.Metadata = new Metadata();
        options.Metadata.Add("authorization", "Bearer " + token);
        return options;
    }

    private static async Task<string[]> Info(GrpcChannel channel, CallOptions options)
    {
        var info = await channel.UnaryAsync(ConversationService.GetServerInfo, new GetServerInfoRequest(), options);
        return new[] { "OK", info.Version, string.Join(",", info.Workers.Select(w => w.Role)) };
    }

    // The digest of the whole file, read with pauses that let the windows fill.
    private static async Task<string[]> Download(GrpcChannel channel, CallOptions options, int pauses)
    {
        using var call = channel.Start(AvatarService.DownloadAvatar, options);
        await call.WriteAsync(new DownloadAvatarRequest(), true);
        var response = new DownloadAvatarResponse();
        long bytes = 0;
        var sum = 0L;
        string sha256 = "";
        while (await call.ReadAsync(response))
        {
            if (response.PayloadCase == DownloadAvatarResponse.PayloadOneofCase.Avatar) sha256 = response.Avatar.Sha256;
            else
            {
                bytes += response.Chunk.Data.Length;
                sum += Sum(response.Chunk.Data.Span);
            }
            if (pauses-- > 0) await Task.Delay(5);
        }
        return new[] { "OK", bytes.ToString(CultureInfo.InvariantCulture), sum.ToString(CultureInfo.InvariantCulture), sha256 };
    }

    private static long Sum(ReadOnlySpan<byte> bytes)
    {
        var sum = 0L;
        foreach (var b in bytes) sum += b;
        return sum;
    }

    // Text turns, one after the other: chunks, bytes of audio, frames, the answers, and whether frames lie in their audio.
    private static async Task<string[]> Converse(GrpcChannel channel, CallOptions options, string[] texts)
    {
        using var call = channel.Start(ConversationService.Converse, options);
        await call.WriteAsync(new ConverseRequest { Config = new ConversationConfig() });
        var response = new ConverseResponse();
        var rate = 0;
        var answer = new StringBuilder();
        int chunks = 0, pcm = 0, frames = 0;
        var inside = true;
        var next = 0;
        while (await call.ReadAsync(response))
        {
            switch (response.PayloadCase)
            {
                case ConverseResponse.PayloadOneofCase.SessionStarted:
                    rate = response.SessionStarted.AudioOut.SampleRateHz;
                    await call.WriteAsync(new ConverseRequest { Text = new TextInput { Text = texts[next++] } });
                    break;
                case ConverseResponse.PayloadOneofCase.TextDelta:
                    answer.Append(response.TextDelta.Text);
                    break;
                case ConverseResponse.PayloadOneofCase.Media:
                    var media = response.Media;
                    var end = media.StartUs + media.Pcm.Length / 2 * 1_000_000L / rate;
                    chunks++;
                    pcm += media.Pcm.Length;
                    frames += media.Frames.Count;
                    foreach (var frame in media.Frames) inside &= frame.TimeUs >= media.StartUs && frame.TimeUs <= end && frame.Weights.Count == 52;
                    var heard = new PlaybackReport { TurnId = response.TurnId, PlayedUs = end };
                    await call.WriteAsync(new ConverseRequest { Playback = heard });
                    break;
                case ConverseResponse.PayloadOneofCase.Turn when response.Turn.State == TurnStateState.Done:
                    if (next < texts.Length) await call.WriteAsync(new ConverseRequest { Text = new TextInput { Text = texts[next++] } });
                    else await call.WriteAsync(new ConverseRequest { EndSession = new EndSession() }, true);
                    break;
            }
        }
        return new[] { "OK", chunks.ToString(), pcm.ToString(), frames.ToString(), answer.ToString(), inside.ToString() };
    }

    private static async Task<string[]> Many(GrpcChannel channel, CallOptions options, int count)
    {
        var calls = Enumerable.Range(0, count).Select(_ => Info(channel, options)).ToArray();
        var answers = await Task.WhenAll(calls);
        return new[] { "OK", answers.Count(answer => answer[0] == "OK").ToString() };
    }

    private static async Task<string[]> CancelAfterFirst(GrpcChannel channel, CallOptions options)
    {
        using var cancel = new CancellationTokenSource();
        options.Cancel = cancel.Token;
        using var call = channel.Start(ConversationService.Converse, options);
        await call.WriteAsync(new ConverseRequest { Config = new ConversationConfig() });
        await call.ReadAsync(new ConverseResponse());
        cancel.Cancel();
        while (await call.ReadAsync(new ConverseResponse()))
        {
        }
        return new[] { "OK" };
    }

    // Pieces of 32 KiB of silence to the ear, as fast as they are taken.
    private static async Task<string[]> Upload(GrpcChannel channel, CallOptions options, int pieces)
    {
        using var call = channel.Start(AnimationService.AnimateAudio, options);
        var format = new AudioFormat { SampleRateHz = 16000 };
        await call.WriteAsync(new AnimateAudioRequest { Config = new AnimateAudioConfig { Audio = format } });
        var reading = Task.Run(async () =>
        {
            var frames = 0;
            var response = new AnimateAudioResponse();
            while (await call.ReadAsync(response)) frames += response.Frames?.Frames.Count ?? 0;
            return frames;
        });
        var pcm = new ByteBuffer();
        pcm.Set(new byte[32768]);
        for (var i = 0; i < pieces; i++) await call.WriteAsync(new AnimateAudioRequest { Pcm = pcm });
        await call.CompleteAsync();
        return new[] { "OK", (await reading).ToString(CultureInfo.InvariantCulture) };
    }

    private static async Task<string[]> WriteWithoutReading(GrpcChannel channel, CallOptions options)
    {
        using var call = channel.Start(ConversationService.Converse, options);
        while (true)
        {
            await call.WriteAsync(new ConverseRequest { Ping = new Ping() });
            await Task.Delay(1);
        }
    }

    private static async Task<string[]> DisposeWhileWaiting(GrpcChannel channel, CallOptions options)
    {
        var call = channel.Start(ConversationService.Converse, options);
        var waiting = call.ReadAsync(new ConverseResponse());
        channel.Dispose();
        await waiting;
        return new[] { "OK" };
    }
}
