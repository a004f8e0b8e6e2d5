"""A certificate for a bridge on this machine."""

from __future__ import annotations

from pathlib import Path

import trustme


def certificate(folder: Path) -> dict[str, Path]:
    """The bridge's settings ``tls_cert`` and ``tls_key``; who signed it is in ``ca.pem`` of the folder."""
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    cert, key = folder / "cert.pem", folder / "key.pem"
    cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    issued.private_key_pem.write_to_path(key)
    authority.cert_pem.write_to_path(folder / "ca.pem")
    return {"tls_cert": cert, "tls_key": key}
