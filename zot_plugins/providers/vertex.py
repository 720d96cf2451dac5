"""How requests to Google's Vertex AI are let in: with a token that google-auth finds (application default credentials)
and renews, or with a token given as a key. Fills project and location into the address.

Needs the extra `vertex` unless a key is given; knows no wire format. All that blocks happens in a thread.
"""

from __future__ import annotations

import asyncio
import os
import re
import warnings
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from zot_core.models.protocol import Authorized, Outgoing
from zot_core.types.failure import Failure, RunFailed

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_PROJECT = re.compile(r"[a-z0-9][a-z0-9:.-]*")
_LOCATION = re.compile(r"[a-z0-9-]+")
_lock = Lock()
_found: list[tuple[Any, str]] = []
"""Credentials and their project, once they were found."""


async def authorize(outgoing: Outgoing) -> Authorized:
    """The request's address and headers. Raises RunFailed, which says what a person has to do."""
    if outgoing.key:
        return Authorized(url=_filled(outgoing, ""))
    return await asyncio.to_thread(_authorized, outgoing)


def signs() -> bool:
    """Whether the library is there, and a file with credentials. A machine's account shows none."""
    try:
        if find_spec("google.auth") is None:
            return False
    except ImportError:  # there is no `google` at all
        return False
    named = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", "")
    if named:
        return Path(named).is_file()
    folder = os.environ.get("CLOUDSDK_CONFIG") or Path("~/.config/gcloud").expanduser()
    return (Path(folder) / "application_default_credentials.json").is_file()


def _authorized(outgoing: Outgoing) -> Authorized:
    try:
        import google.auth.transport.requests
        from google.auth import exceptions
    except ImportError as error:
        raise RunFailed(
            Failure(kind="bad_request", message='it needs google-auth: pip install "zot-agent[vertex]"')
        ) from error
    headers: dict[str, str] = {}
    try:
        with _lock:
            credentials, project = _credentials()
            if not credentials.valid:  # also when it ends within minutes
                credentials.refresh(google.auth.transport.requests.Request(session=trusting_session()))
            credentials.apply(headers)
    except exceptions.DefaultCredentialsError as error:
        message = (
            f"no Google credentials ({_line(error)}): run `gcloud auth application-default login`, or let "
            "GOOGLE_APPLICATION_CREDENTIALS name a file with some"
        )
        raise RunFailed(Failure(kind="auth", message=message)) from error
    except exceptions.TransportError as error:
        raise RunFailed(Failure(kind="network", message=f"no Google token: {_line(error)}", retryable=True)) from error
    except exceptions.GoogleAuthError as error:
        passing = bool(getattr(error, "retryable", False))
        raise RunFailed(Failure(kind="auth", message=f"no Google token: {_line(error)}", retryable=passing)) from error
    return Authorized(
        headers=headers,
        url=_filled(outgoing, project),
        source="Google's application default credentials",
        secrets=(credentials.token,),
    )


def _credentials() -> tuple[Any, str]:
    if not _found:
        import google.auth

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice on quota projects, which would be written over the screen
            credentials, project = google.auth.default(scopes=[SCOPE])
        _found.append((credentials, project or ""))
    return _found[0]


def trusting_session() -> Any:
    """What fetches tokens: it believes the certificates that zot believes, and no bundle beside them."""
    import requests
    from requests.adapters import HTTPAdapter

    from zot_core.net.tls import tls_context

    class Trusting(HTTPAdapter):
        def init_poolmanager(self, *args: Any, **options: Any) -> None:
            super().init_poolmanager(*args, **{**options, "ssl_context": tls_context()})

        def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
            return super().proxy_manager_for(proxy, **{**options, "ssl_context": tls_context()})

        def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
            conn.cert_reqs = "CERT_REQUIRED"

    session = requests.Session()
    session.mount("https://", Trusting())
    return session


def _filled(outgoing: Outgoing, found: str) -> str:
    """The address: what models.json says of project and location, the environment, what came with the credentials."""
    url = outgoing.url
    if "{project}" in url:
        project = _text(outgoing, "project") or os.environ.get("GOOGLE_CLOUD_PROJECT", "").strip() or found
        if not project:
            raise RunFailed(Failure(kind="bad_request", message="no Google Cloud project: set GOOGLE_CLOUD_PROJECT"))
        if not _PROJECT.fullmatch(project):
            raise RunFailed(Failure(kind="bad_request", message=f"{project!r} is no id of a Google Cloud project"))
        url = url.replace("{project}", project)
    if "{location}" in url or "{endpoint}" in url:
        location = _text(outgoing, "location") or os.environ.get("GOOGLE_CLOUD_LOCATION", "").strip() or "global"
        if not _LOCATION.fullmatch(location):
            message = f"{location!r} is no Google Cloud location, such as global or us-east5"
            raise RunFailed(Failure(kind="bad_request", message=message))
        url = url.replace("{location}", location).replace("{endpoint}", endpoint(location))
    return url


def endpoint(location: str) -> str:
    """The host for a location: that of all, of a multi-region, or of a region; anthropic-sdk-python, lib/vertex, and
    platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai (2026-11)."""
    if location == "global":
        return "aiplatform.googleapis.com"
    if location in ("us", "eu"):
        return f"aiplatform.{location}.rep.googleapis.com"
    return f"{location}-aiplatform.googleapis.com"


def _text(outgoing: Outgoing, flag: str) -> str:
    value = outgoing.model.compat.get(flag)
    return value.strip() if isinstance(value, str) else ""


def _line(error: Exception) -> str:
    return " ".join(str(error.args[0] if error.args else error).split())[:300].rstrip(".")
