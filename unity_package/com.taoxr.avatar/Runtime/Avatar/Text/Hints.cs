#nullable enable
using System;
using Taoxr.Client;
using Taoxr.Transport;

namespace Taoxr.Avatar
{
    /// <summary>What to do about an error, in words for the developer.</summary>
    public static class Hints
    {
        /// <summary>The error, and what helps.</summary>
        public static string For(RpcException error, ClientOptions options)
        {
            var hint = Hint(error, options);
            return hint.Length == 0 ? error.Detail : error.Detail + " — " + hint;
        }

        /// <summary>The command that starts a server for these options.</summary>
        public static string ServerCommand(ClientOptions options)
        {
            var command = "taoxr serve";
            if (!IsLoopback(options.Host)) command += " --host 0.0.0.0";
            if (options.Port != ClientOptions.DefaultPort) command += " --port " + options.Port;
            if (options.Tls) command += " --tls-cert cert.pem --tls-key key.pem";
            else if (!IsLoopback(options.Host)) command += " --insecure";
            if (!string.IsNullOrEmpty(options.Token)) command += " --token-file token";
            return command;
        }

        /// <summary>Whether a server of this name is on the same device.</summary>
        public static bool IsLoopback(string host) =>
            host == "::1" || host.Equals("localhost", StringComparison.OrdinalIgnoreCase) || host.StartsWith("127.", StringComparison.Ordinal);

        private static string Hint(RpcException error, ClientOptions options)
        {
            switch (error.Code)
            {
                case StatusCode.Unavailable:
                case StatusCode.DeadlineExceeded:
                    return "is it running?  " + ServerCommand(options);
                case StatusCode.Unauthenticated:
                case StatusCode.PermissionDenied:
                    return "set TaoxrAvatar.Token to the token that the server was started with";
                case StatusCode.ResourceExhausted:
                    return "somebody else talks to it; one conversation at a time unless it was started with more";
                default:
                    return "";
            }
        }
    }
}
