"""The one TLS context of a process: whose certificates are believed.

That is the system's own store (on macOS and Windows its verifier, so that a company's root counts), through truststore:
1 ms to import and 1 to build, where httpx's own context reads certifi's bundle for 20. Imported for the first `https:`.
SSL_CERT_FILE and SSL_CERT_DIR, where set, take the store's place everywhere.
"""

from __future__ import annotations

import os
import ssl
import sys
from pathlib import Path

_BUNDLES = (
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/ca-bundle.pem",
)


def tls_context(verify: bool = True) -> ssl.SSLContext:
    """A context for clients; without `verify` it believes everybody. Raises OSError with a message for a person when
    SSL_CERT_FILE or SSL_CERT_DIR cannot be read."""
    if not verify:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    named = {name: os.environ.get(name, "") for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")}
    if any(named.values()):
        for name, path in named.items():
            if path and not Path(path).exists():
                raise OSError(f"{name} names {path}, which does not exist")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(named["SSL_CERT_FILE"] or None, named["SSL_CERT_DIR"] or None)
        except (OSError, ssl.SSLError) as error:
            raise OSError(f"SSL_CERT_FILE or SSL_CERT_DIR holds no certificates that can be read: {error}") from error
        return context
    if not _has_store():
        import certifi  # a bare container; httpx brings it

        return ssl.create_default_context(cafile=certifi.where())
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _has_store() -> bool:
    if sys.platform in ("darwin", "win32"):
        return True
    paths = ssl.get_default_verify_paths()
    if paths.cafile or any(Path(bundle).is_file() for bundle in _BUNDLES):
        return True
    return bool(paths.capath) and any(Path(paths.capath or "").iterdir())
