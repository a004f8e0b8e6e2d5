#nullable enable
using System;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;
using Taoxr.Protocol;
using Taoxr.Protocol.V1;
using Taoxr.Transport;

namespace Taoxr.Client
{
    /// <summary>The threads of one conversation: one reads, and begins again after a loss; one per stream writes.</summary>
    internal sealed class SessionLoop
    {
        private static readonly TimeSpan MostPoliteness = TimeSpan.FromSeconds(2);
        private readonly byte[] _config;
        private readonly Connector _connector;
        private readonly ClientOptions _options;
        private readonly Outbox _outbox;
        private readonly Inbox _inbox;
        private readonly Backoff _backoff;
        private readonly CancellationTokenSource _end = new CancellationTokenSource();
        private readonly CancellationTokenSource _stop = new CancellationTokenSource();
        private readonly Thread _thread;
        private string _resumeToken = "";
        private bool _ran;

        public SessionLoop(ConversationConfig config, Connector connector, ClientOptions options, Outbox outbox, Inbox inbox)
        {
            _config = Messages.ToBytes(config);
            _connector = connector;
            _options = options;
            _outbox = outbox;
            _inbox = inbox;
            _backoff = new Backoff(options.FirstRetry, options.LongestRetry, new Random());
            _thread = new Thread(Run) { IsBackground = true, Name = "taoxr conversation" };
            _thread.Start();
        }

        /// <summary>The end is wanted: a stream that runs may finish, but none begins.</summary>
        public void WantsEnd()
        {
            _end.Cancel();
            _stop.CancelAfter(MostPoliteness);
        }

        /// <summary>Waits for the thread to end.</summary>
        /// <returns>Whether it has.</returns>
        public bool Join(TimeSpan patience) => _thread.Join(patience > TimeSpan.Zero ? patience : TimeSpan.Zero);

        /// <summary>Ends the stream that runs, whatever is still to be said.</summary>
        public void BreakOff() => _stop.Cancel();

        private void Run()
        {
            RpcException? failure = null;
            try
            {
                while (!_end.IsCancellationRequested) TryOnce();
            }
            catch (RpcException error)
            {
                failure = error;
            }
            _outbox.Finish();
            _inbox.Add(SessionState.Ended, _end.IsCancellationRequested ? null : failure);
        }

        // Throws what ends the conversation for good.
        private void TryOnce()
        {
            if (!WaitForChannel(out var channel)) return;
            var running = Stopwatch.StartNew();
            try
            {
                Converse(channel);
            }
            catch (RpcException error) when (Retry.IsWorthIt(error) || IsForgotten(error))
            {
                if (IsForgotten(error)) _resumeToken = "";
                if (Retry.IsLoss(error)) _connector.Lost(channel, error);
                if (running.Elapsed > _options.LongestRetry) _backoff.Reset();
                _inbox.Add(_ran ? SessionState.Resuming : SessionState.Starting, error);
                _end.Token.WaitHandle.WaitOne(Retry.After(error) ?? _backoff.Next());
            }
        }

        // Whether the server does not know the conversation any more: a new one is better than none.
        private bool IsForgotten(RpcException error) => error.Code == StatusCode.NotFound && _ran && _resumeToken.Length > 0;

        // False when the end is wanted first.
        private bool WaitForChannel(out GrpcChannel channel)
        {
            channel = null!;
            var waiting = _connector.WaitAsync();
            try
            {
                Task.WaitAny(new Task[] { waiting }, _end.Token);
            }
            catch (OperationCanceledException)
            {
                return false;
            }
            channel = Get(waiting);
            return true;
        }

        // One stream, until its end. Returns only when that was wanted.
        private void Converse(GrpcChannel channel)
        {
            var options = _connector.Options(null, _stop.Token);
            options.MaxResponseBytes = Inbox.LargestMessage;
            using var call = channel.Start(ConversationService.Converse, options);
            Begin(call);
            var stream = _outbox.Open(!_ran);
            _ran = true;
            var writer = new Thread(() => Write(call, stream)) { IsBackground = true, Name = "taoxr conversation write" };
            writer.Start();
            var leaving = GoingAwayReason.Unspecified;
            try
            {
                while (Read(call) is ConverseResponse response)
                {
                    if (response.GoingAway is GoingAway going) leaving = Leave(going.Reason);
                    _inbox.Add(response, call.ResponseBytes);
                }
            }
            finally
            {
                // Two writers would send the same requests, which the outbox keeps for reuse.
                _outbox.Close();
                call.Cancel();
                writer.Join();
            }
            if (_end.IsCancellationRequested) return;
            if (leaving == GoingAwayReason.Idle) throw new RpcException(StatusCode.OutOfRange, "nobody spoke for too long, so the server ended the conversation");
            throw new RpcException(StatusCode.Unavailable, "the server ended the conversation");
        }

        private void Begin(GrpcCall<ConverseRequest, ConverseResponse> call)
        {
            var late = new RpcException(StatusCode.DeadlineExceeded, "the conversation did not start within " + _options.StartTimeout.TotalSeconds + " s");
            using var limit = new Timer(_ => call.Cancel(late), null, _options.StartTimeout, Timeout.InfiniteTimeSpan);
            var config = ConversationConfig.Parse(_config);
            if (_ran)
            {
                config.ResumeToken = _resumeToken;
                if (_resumeToken.Length > 0)
                {
                    config.SystemPrompt = "";
                    config.History.Clear();
                }
            }
            Get(call.WriteAsync(new ConverseRequest { Config = config }));
            var first = Read(call);
            if (first?.SessionStarted == null) throw new RpcException(StatusCode.Unavailable, "the server ended without starting the conversation");
            Check(first.SessionStarted);
            _resumeToken = first.SessionStarted.ResumeToken;
            _inbox.Add(SessionState.Running);
            _inbox.Add(first, call.ResponseBytes);
        }

        // What handlers rely on.
        private static void Check(SessionStarted started)
        {
            var rate = started.AudioOut?.SampleRateHz ?? 0;
            if (rate < 8000 || rate > 192_000 || started.Rig == null)
                throw new RpcException(StatusCode.DataLoss, "the server did not say what its sound and poses mean");
        }

        private GoingAwayReason Leave(GoingAwayReason reason)
        {
            if (reason != GoingAwayReason.Idle || !_options.KeepIdleConversations) return reason;
            _outbox.TryAdd(new ConverseRequest { Ping = new Ping() });
            return GoingAwayReason.Unspecified;
        }

        private ConverseResponse? Read(GrpcCall<ConverseRequest, ConverseResponse> call)
        {
            var response = _inbox.Rent();
            var filled = false;
            try
            {
                filled = Get(call.ReadAsync(response));
                return filled ? response : null;
            }
            finally
            {
                if (!filled) _inbox.GiveBack(response);
            }
        }

        private void Write(GrpcCall<ConverseRequest, ConverseResponse> call, int stream)
        {
            try
            {
                while (_outbox.Take(stream) is ConverseRequest request)
                {
                    var last = request.PayloadCase == ConverseRequest.PayloadOneofCase.EndSession;
                    Get(call.WriteAsync(request, last));
                    _outbox.GiveBack(request);
                    if (last) return;
                }
            }
            catch (RpcException)
            {
                // The thread that reads learns of it too, and acts.
            }
        }

        private static void Get(Task task) => task.GetAwaiter().GetResult();

        private static T Get<T>(Task<T> task) => task.GetAwaiter().GetResult();
    }
}
