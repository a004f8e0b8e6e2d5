#nullable enable
using System;
using System.Collections.Generic;
using System.Net.Http;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Taoxr.Transport
{
    /// <summary>Trusts the authorities of a PEM text in place of those the platform knows; names and dates are checked as ever.</summary>
    internal sealed class TrustedRoots
    {
        private const string Begin = "-----BEGIN CERTIFICATE-----";
        private const string End = "-----END CERTIFICATE-----";
        private readonly List<X509Certificate2> _roots = new List<X509Certificate2>();

        /// <exception cref="TransportException">The text holds no certificate.</exception>
        public TrustedRoots(string pem)
        {
            try
            {
                for (var at = 0; (at = pem.IndexOf(Begin, at, StringComparison.Ordinal)) >= 0;)
                {
                    at += Begin.Length;
                    var end = pem.IndexOf(End, at, StringComparison.Ordinal);
                    if (end < 0) break;
                    _roots.Add(new X509Certificate2(Convert.FromBase64String(pem.Substring(at, end - at).Trim())));
                    at = end;
                }
            }
            catch (Exception error) when (error is FormatException || error is CryptographicException)
            {
                throw new TransportException("the root certificates are damaged: " + error.Message, Http2Error.InadequateSecurity, cause: error);
            }
            if (_roots.Count == 0) throw new TransportException("the root certificates hold no certificate in PEM form", Http2Error.InadequateSecurity);
        }

        public bool Accepts(HttpRequestMessage request, X509Certificate2? certificate, X509Chain? sent, SslPolicyErrors errors)
        {
            if (certificate == null || (errors & ~SslPolicyErrors.RemoteCertificateChainErrors) != 0) return false;
            using var chain = new X509Chain();
            chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck; // Own authorities publish no lists.
            chain.ChainPolicy.VerificationFlags = X509VerificationFlags.AllowUnknownCertificateAuthority;
            foreach (var root in _roots) chain.ChainPolicy.ExtraStore.Add(root);
            if (sent != null)
                foreach (var element in sent.ChainElements) chain.ChainPolicy.ExtraStore.Add(element.Certificate);
            if (!chain.Build(certificate)) return false;
            var last = chain.ChainElements[chain.ChainElements.Count - 1].Certificate.GetCertHashString();
            foreach (var root in _roots)
                if (root.GetCertHashString() == last) return true;
            return false;
        }
    }
}
