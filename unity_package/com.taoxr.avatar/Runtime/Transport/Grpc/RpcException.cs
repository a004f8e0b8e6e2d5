#nullable enable
using System;
using Taoxr.Protocol.Rpc;
using Taoxr.Protocol.WellKnown;

namespace Taoxr.Transport
{
    /// <summary>How a call ended (grpc.io/docs/guides/status-codes).</summary>
    public enum StatusCode
    {
        OK = 0,
        Cancelled = 1,
        Unknown = 2,
        InvalidArgument = 3,
        DeadlineExceeded = 4,
        NotFound = 5,
        AlreadyExists = 6,
        PermissionDenied = 7,
        ResourceExhausted = 8,
        FailedPrecondition = 9,
        Aborted = 10,
        OutOfRange = 11,
        Unimplemented = 12,
        Internal = 13,
        Unavailable = 14,
        DataLoss = 15,
        Unauthenticated = 16,
    }

    /// <summary>A call ended with another status than OK.</summary>
    public sealed class RpcException : Exception
    {
        /// <param name="code">The status.</param>
        /// <param name="detail">Its text.</param>
        /// <param name="status">What the server said beside it; null where it said nothing.</param>
        /// <param name="cause">What it comes from.</param>
        public RpcException(StatusCode code, string detail, Status? status = null, Exception? cause = null)
            : base(code + ": " + detail, cause)
        {
            Code = code;
            Detail = detail;
            Status = status;
        }

        /// <summary>The status.</summary>
        public StatusCode Code { get; }

        /// <summary>Its text.</summary>
        public string Detail { get; }

        /// <summary>The status with its details (grpc-status-details-bin); null where the server sent none.</summary>
        public Status? Status { get; }

        /// <summary>The detail that says the reason ("BUSY"); null where there is none.</summary>
        public ErrorInfo? ErrorInfo => Find("google.rpc.ErrorInfo") is Any found ? ErrorInfo.Parse(found.Value.Span) : null;

        /// <summary>The detail that says when a new try makes sense; null where there is none.</summary>
        public RetryInfo? RetryInfo => Find("google.rpc.RetryInfo") is Any found ? RetryInfo.Parse(found.Value.Span) : null;

        /// <summary>The detail that says which fields were wrong; null where there is none.</summary>
        public BadRequest? BadRequest => Find("google.rpc.BadRequest") is Any found ? BadRequest.Parse(found.Value.Span) : null;

        private Any? Find(string type)
        {
            if (Status == null) return null;
            foreach (var detail in Status.Details)
                if (detail.TypeUrl.EndsWith("/" + type, StringComparison.Ordinal)) return detail;
            return null;
        }
    }
}
