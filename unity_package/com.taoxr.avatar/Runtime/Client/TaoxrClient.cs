#nullable enable
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Taoxr.Protocol;
using Taoxr.Protocol.V1;
using Taoxr.Transport;

namespace Taoxr.Client
{
    // The shape of the client:
    //
    //   your frame loop                              threads of the client
    //   TaoxrClient.Poll() ---- events -----------   Connector: keeps one connection, with backoff
    //     ConversationSession events  <- Inbox    <- SessionLoop: reads one conversation, resumes it after a loss
    //     ConversationSession methods -> Outbox   -> its writer
    //
    // Every event is raised inside Poll, so on the thread that calls it, once per frame. Methods only put something into
    // a queue; none waits for the network. Both queues are bounded. A full Inbox makes the reader wait, and HTTP/2
    // then holds the server back: nothing is lost. A full Outbox drops the oldest sound of the microphone, and nothing else.
    //
    // Messages are reused: what an event gives is yours until the handler returns; copy what you keep. In return a frame
    // of a running conversation allocates nothing.

    /// <summary>A client of one taoxr server. Poll it once per frame; dispose it when the scene, the game or the domain ends.</summary>
    public sealed class TaoxrClient : IDisposable
    {
        private readonly ClientOptions _options;
        private readonly Connector _connector;
        private readonly List<ConversationSession> _sessions = new List<ConversationSession>();
        private bool _disposed;

        /// <param name="options">Where the server is.</param>
        /// <exception cref="ArgumentException">The token holds what no header can.</exception>
        public TaoxrClient(ClientOptions options)
        {
            _options = options;
            _connector = new Connector(options);
        }

        /// <summary>A step of the connection; raised by Poll.</summary>
        public event Action<ConnectionChange>? StateChanged;

        /// <summary>The newest state, which StateChanged may still have to tell.</summary>
        public ConnectionState State => _connector.State;

        /// <summary>
        /// Connects, and keeps the connection from then on: what is lost is tried again, with growing waits. Every call and
        /// conversation does this by itself; this one says at once what is wrong. In Waiting and Refused it tries now: call it
        /// when the application comes back from a pause.
        /// </summary>
        /// <returns>What the server says of itself, when the first attempt has succeeded.</returns>
        /// <exception cref="RpcException">Why it has not; attempts go on, unless the server refused us.</exception>
        public Task<GetServerInfoResponse> ConnectAsync() => _connector.ConnectAsync();

        /// <summary>Whether the server takes conversations.</summary>
        /// <exception cref="RpcException">The server could not be asked within ClientOptions.CallTimeout.</exception>
        public async Task<bool> IsServingAsync(CancellationToken cancel = default)
        {
            var request = new Protocol.Health.HealthCheckRequest { Service = "taoxr.v1.ConversationService" };
            var answer = await CallAsync(Protocol.Health.Health.Check, request, cancel).ConfigureAwait(false);
            return answer.Status == Protocol.Health.HealthCheckResponseServingStatus.Serving;
        }

        /// <summary>What the server is doing.</summary>
        /// <exception cref="RpcException">The server could not be asked within ClientOptions.CallTimeout, or refused.</exception>
        public Task<GetServerInfoResponse> GetServerInfoAsync(CancellationToken cancel = default) =>
            CallAsync(ConversationService.GetServerInfo, new GetServerInfoRequest(), cancel);

        /// <summary>The avatars that the server gives away, the default one first.</summary>
        /// <exception cref="RpcException">The server could not be asked within ClientOptions.CallTimeout, or refused.</exception>
        public Task<ListAvatarsResponse> ListAvatarsAsync(CancellationToken cancel = default) =>
            CallAsync(AvatarService.ListAvatars, new ListAvatarsRequest(), cancel);

        /// <summary>Any other call with one request and one answer.</summary>
        /// <exception cref="RpcException">The server could not be asked within ClientOptions.CallTimeout, or refused.</exception>
        public Task<TResponse> CallAsync<TRequest, TResponse>(
            Method<TRequest, TResponse> method, TRequest request, CancellationToken cancel = default)
            where TRequest : class, IMessage
            where TResponse : class, IMessage => _connector.CallAsync(method, request, cancel);

        /// <summary>Begins a conversation, as soon as the server is there; add your handlers before the next Poll.</summary>
        /// <param name="config">What is wanted; copied. Without tracks it is the face.</param>
        /// <exception cref="ObjectDisposedException">The client was disposed.</exception>
        public ConversationSession Converse(ConversationConfig config)
        {
            if (_disposed) throw new ObjectDisposedException(nameof(TaoxrClient));
            var session = new ConversationSession(config, _connector, _options);
            _sessions.Add(session);
            return session;
        }

        /// <summary>Raises the events of everything that happened since the last time. Call it once per frame, on one thread.</summary>
        public void Poll()
        {
            while (_connector.TryTakeChange(out var change)) StateChanged?.Invoke(change);
            for (var i = 0; i < _sessions.Count; i++)
            {
                _sessions[i].Dispatch();
                if (_disposed) return;
                if (_sessions[i].IsFinished) _sessions.RemoveAt(i--);
            }
        }

        /// <summary>Ends all conversations and the connection, within a second, whatever the server does.</summary>
        public void Dispose()
        {
            if (_disposed) return;
            _disposed = true;
            ConversationSession.Stop(_sessions);
            _sessions.Clear();
            _connector.Dispose();
        }
    }
}
