// What the package uses of YetAnotherHttpHandler, which is native: enough to compile against, and to see what it is told.
using System;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;

namespace Cysharp.Net.Http
{
    public class YetAnotherHttpHandler : HttpMessageHandler
    {
        public bool? Http2Only { get; set; }
        public string RootCertificates { get; set; }
        public TimeSpan? Http2KeepAliveInterval { get; set; }
        public TimeSpan? Http2KeepAliveTimeout { get; set; }
        public bool? Http2KeepAliveWhileIdle { get; set; }

        protected override Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancel)
        {
            if (request.RequestUri.Host == "nowhere.invalid") throw new DllNotFoundException("yaha_native");
            throw new HttpRequestException("stub: " + request.RequestUri + " " + Http2Only + " " + (RootCertificates ?? "none").Trim());
        }
    }
}
