#nullable enable
using System;

namespace Taoxr.Protocol
{
    /// <summary>An rpc of a service.</summary>
    public sealed class Method<TRequest, TResponse> where TRequest : class, IMessage where TResponse : class, IMessage
    {
        /// <param name="path">"/package.Service/Method".</param>
        /// <param name="clientStreams">Whether there may be any number of requests.</param>
        /// <param name="serverStreams">Whether there may be any number of responses.</param>
        /// <param name="makeResponse">Makes an empty response.</param>
        public Method(string path, bool clientStreams, bool serverStreams, Func<TResponse> makeResponse)
        {
            Path = path;
            ClientStreams = clientStreams;
            ServerStreams = serverStreams;
            MakeResponse = makeResponse;
        }

        /// <summary>"/package.Service/Method".</summary>
        public string Path { get; }

        /// <summary>Whether there may be any number of requests.</summary>
        public bool ClientStreams { get; }

        /// <summary>Whether there may be any number of responses.</summary>
        public bool ServerStreams { get; }

        /// <summary>Makes an empty response.</summary>
        public Func<TResponse> MakeResponse { get; }
    }
}
