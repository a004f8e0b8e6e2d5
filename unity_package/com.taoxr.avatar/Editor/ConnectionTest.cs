#nullable enable
using System;
using System.Diagnostics;
using System.Threading.Tasks;
using Taoxr.Client;
using Taoxr.Protocol.V1;
using Taoxr.Transport;

namespace Taoxr.Avatar.Editor
{
    /// <summary>Asks a server who it is and how far away, on other threads; the editor looks now and then what came of it.</summary>
    public sealed class ConnectionTest : IDisposable
    {
        private const int Rounds = 5;

        private readonly ClientOptions _options;
        private readonly TaoxrClient _client;
        private readonly Task<string> _result;

        /// <param name="options">The server.</param>
        public ConnectionTest(ClientOptions options)
        {
            _options = options;
            _client = new TaoxrClient(options);
            _result = RunAsync();
        }

        /// <summary>Whether it is over.</summary>
        public bool IsDone => _result.IsCompleted;

        /// <summary>Whether the server can be used.</summary>
        public bool Succeeded { get; private set; }

        /// <summary>What came of it, in words.</summary>
        public string Text => IsDone ? _result.Result : "asking " + _options.Host + ":" + _options.Port + " …";

        /// <summary>Gives up, if it still runs.</summary>
        public void Dispose() => _client.Dispose();

        private async Task<string> RunAsync()
        {
            try
            {
                var info = await _client.ConnectAsync().ConfigureAwait(false);
                var best = TimeSpan.MaxValue;
                for (var round = 0; round < Rounds; round++)
                {
                    var watch = Stopwatch.StartNew();
                    await _client.IsServingAsync().ConfigureAwait(false);
                    if (watch.Elapsed < best) best = watch.Elapsed;
                }
                Succeeded = true;
                return Describe(info, best);
            }
            catch (RpcException error)
            {
                return Hints.For(error, _options);
            }
        }

        private static string Describe(GetServerInfoResponse info, TimeSpan roundTrip)
        {
            var text = "taoxr " + info.Version + ", " + roundTrip.TotalMilliseconds.ToString("0.0", System.Globalization.CultureInfo.InvariantCulture)
                + " ms away, " + info.ActiveConversations + " of " + info.MaxConversations + " conversations";
            foreach (var worker in info.Workers) text += "\n" + worker.Role + ": " + worker.State + " (" + worker.Model + ")";
            return text;
        }
    }
}
