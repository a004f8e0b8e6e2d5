#nullable enable
using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using Taoxr.Protocol;

namespace Taoxr.Transport
{
    /// <summary>A connection that carries HTTP/2 streams; for any thread.</summary>
    public interface IHttp2Transport : IDisposable
    {
        /// <summary>Whether streams can be opened.</summary>
        bool IsOpen { get; }

        /// <summary>Completes when the connection has ended, with the reason.</summary>
        Task<TransportException> Closed { get; }

        /// <summary>"http" or "https".</summary>
        string Scheme { get; }

        /// <summary>Host and port, as requests name them.</summary>
        string Authority { get; }

        /// <summary>Begins a request.</summary>
        /// <exception cref="TransportException">The connection is closed, or has too many streams.</exception>
        IHttp2Stream Open(IReadOnlyList<Header> headers);
    }

    /// <summary>A request and its response. One caller writes and one reads at a time.</summary>
    public interface IHttp2Stream
    {
        /// <summary>Sends bytes; completes when they are queued, which waits while much is.</summary>
        /// <param name="bytes">Copied before the task completes.</param>
        /// <param name="last">Whether the request ends with them.</param>
        /// <exception cref="TransportException">The stream cannot go on.</exception>
        Task WriteAsync(ReadOnlyMemory<byte> bytes, bool last);

        /// <summary>Waits for bytes of the response, and puts them behind those of a buffer.</summary>
        /// <returns>False at the end of the response.</returns>
        /// <exception cref="TransportException">The stream cannot go on.</exception>
        Task<bool> ReadAsync(ByteBuffer into);

        /// <summary>Waits for the first headers of the response.</summary>
        /// <exception cref="TransportException">The stream cannot go on.</exception>
        Task<IReadOnlyList<Header>> HeadersAsync();

        /// <summary>The last headers; empty before the end of the response, and when there are none.</summary>
        IReadOnlyList<Header> Trailers { get; }

        /// <summary>Breaks the stream off, if it has not ended; whoever waits gets the error.</summary>
        void Cancel(Exception error);
    }
}
