#nullable enable
using System.Collections.Generic;
using System.Globalization;
using Taoxr.Protocol;
using Taoxr.Protocol.Rpc;

namespace Taoxr.Transport
{
    /// <summary>From what HTTP/2 says to gRPC's statuses (github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).</summary>
    internal static class GrpcStatus
    {
        public static RpcException Of(TransportException error)
        {
            var code = StatusCode.Unavailable;
            if (error.Reset || error.Error == Http2Error.EnhanceYourCalm || error.Error == Http2Error.InadequateSecurity)
            {
                code = error.Error switch
                {
                    Http2Error.NoError => StatusCode.Internal,
                    Http2Error.RefusedStream => StatusCode.Unavailable,
                    Http2Error.Cancel => StatusCode.Cancelled,
                    Http2Error.EnhanceYourCalm => StatusCode.ResourceExhausted,
                    Http2Error.InadequateSecurity => StatusCode.PermissionDenied,
                    _ => StatusCode.Internal,
                };
            }
            return new RpcException(code, error.Message, cause: error);
        }

        /// <summary>Refuses a response that is not gRPC's.</summary>
        public static void CheckHeaders(IReadOnlyList<Header> headers)
        {
            var status = Find(headers, ":status");
            if (status != "200") throw new RpcException(FromHttp(status), "the server answered with HTTP status " + status);
            var type = Find(headers, "content-type");
            if (type == null || !type.StartsWith("application/grpc", System.StringComparison.Ordinal))
                throw new RpcException(StatusCode.Unknown, "the server does not speak gRPC: content-type is " + (type ?? "missing"));
        }

        /// <summary>Throws what the trailers say, unless it is OK.</summary>
        public static void CheckTrailers(Metadata trailers)
        {
            if (!int.TryParse(trailers.Get("grpc-status"), NumberStyles.None, CultureInfo.InvariantCulture, out var code))
                throw new RpcException(StatusCode.Unknown, "the response ended without a status");
            if (code == 0) return;
            var text = Metadata.PercentDecode(trailers.Get("grpc-message") ?? "");
            throw new RpcException(code <= 16 ? (StatusCode)code : StatusCode.Unknown, text, Details(trailers));
        }

        private static Status? Details(Metadata trailers)
        {
            var bytes = trailers.GetBytes("grpc-status-details-bin");
            if (bytes == null) return null;
            try
            {
                return Status.Parse(bytes);
            }
            catch (ProtocolException)
            {
                return null; // The status itself came well, and counts more.
            }
        }

        private static string? Find(IReadOnlyList<Header> headers, string name)
        {
            foreach (var header in headers)
                if (header.Name == name) return header.Value;
            return null;
        }

        private static StatusCode FromHttp(string? status)
        {
            switch (status)
            {
                case "400":
                    return StatusCode.Internal;
                case "401":
                    return StatusCode.Unauthenticated;
                case "403":
                    return StatusCode.PermissionDenied;
                case "404":
                    return StatusCode.Unimplemented;
                case "429":
                case "502":
                case "503":
                case "504":
                    return StatusCode.Unavailable;
                default:
                    return StatusCode.Unknown;
            }
        }
    }
}
