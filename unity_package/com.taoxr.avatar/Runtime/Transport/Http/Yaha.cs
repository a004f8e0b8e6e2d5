#nullable enable
using System;
using System.Net.Http;

namespace Taoxr.Transport
{
    /// <summary>The package YetAnotherHttpHandler, if the project has it: the assembly definition then defines TAOXR_YAHA.</summary>
    internal static class Yaha
    {
#if TAOXR_YAHA
        public static bool IsInstalled => true;

        // It trusts Mozilla's list where no other roots are given.
        public static HttpMessageHandler Handler(string? rootCertificates) =>
            new Cysharp.Net.Http.YetAnotherHttpHandler
            {
                Http2Only = true,
                RootCertificates = rootCertificates,
                Http2KeepAliveInterval = TimeSpan.FromSeconds(10),
                Http2KeepAliveTimeout = TimeSpan.FromSeconds(10),
                Http2KeepAliveWhileIdle = true,
            };
#else
        public static bool IsInstalled => false;

        public static HttpMessageHandler Handler(string? rootCertificates) => throw new NotSupportedException();
#endif
    }
}
