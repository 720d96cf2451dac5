"""How requests to Amazon Bedrock are let in: signed (SigV4) with what botocore's chain of credentials finds, or with a
Bedrock API key as bearer token. Needs the extra `bedrock`; knows no wire format.

All that blocks (files, a login, the metadata of an instance) happens in a thread. A session of botocore is made once
for each profile, and renews what ends by itself.
"""

from __future__ import annotations

import asyncio
import os
import re
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from zot_core.models.protocol import Authorized, Outgoing
from zot_core.types.failure import Failure, RunFailed

if TYPE_CHECKING:
    from botocore.session import Session

SERVICE = "bedrock"
"""The name that requests are signed for (`signingName` in botocore 1.44.8's model of bedrock-runtime)."""
_REGION = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_HOST = re.compile(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com")
_SIGNS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_lock = Lock()
_sessions: dict[str, Any] = {}


async def authorize(outgoing: Outgoing) -> Authorized:
    """The request's address and headers. Raises RunFailed, which says what a person has to do."""
    return await asyncio.to_thread(_authorized, outgoing)


def signs() -> bool:
    """Whether the library is there, and a variable or a file that its chain looks at. A machine's role shows none."""
    if find_spec("botocore") is None:
        return False
    folder = Path("~/.aws").expanduser()
    files = (
        os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or folder / "credentials",
        os.environ.get("AWS_CONFIG_FILE") or folder / "config",
    )
    return any(os.environ.get(name) for name in _SIGNS) or any(Path(file).is_file() for file in files)


def _authorized(outgoing: Outgoing) -> Authorized:
    try:
        import botocore.eventstream  # noqa: F401 - the answer needs it too
        from botocore.exceptions import BotoCoreError, HTTPClientError, ProfileNotFound
    except ImportError as error:
        raise RunFailed(
            Failure(kind="bad_request", message='it needs botocore: pip install "zot-agent[bedrock]"')
        ) from error
    try:
        with _lock:
            return _with_session(outgoing)
    except ProfileNotFound as error:
        raise RunFailed(Failure(kind="bad_request", message=f"{error}; AWS_PROFILE or `profile` names it")) from error
    except HTTPClientError as error:  # asking for credentials failed
        raise RunFailed(Failure(kind="network", message=f"no AWS credentials: {error}", retryable=True)) from error
    except BotoCoreError as error:
        raise RunFailed(Failure(kind="auth", message=f"no AWS credentials: {error}")) from error


def _with_session(outgoing: Outgoing) -> Authorized:
    profile = _text(outgoing, "profile")
    session = _session(profile)
    url = outgoing.url
    region = _region(outgoing, session)
    url = url.replace("{region}", region)
    if outgoing.key:
        return Authorized(url=url)  # a Bedrock API key, which is among the headers
    credentials = session.get_credentials()
    if credentials is None:
        message = (
            "no AWS credentials in the environment, the profiles of ~/.aws or this machine's role: run `aws sso login` "
            "or `aws configure`, or set AWS_BEARER_TOKEN_BEDROCK"
        )
        raise RunFailed(Failure(kind="auth", message=message))
    return _signed(outgoing, url, region, credentials)


def _signed(outgoing: Outgoing, url: str, region: str, credentials: Any) -> Authorized:
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest

    frozen = credentials.get_frozen_credentials()
    # Only what AWS wants signed: a proxy may change the rest
    kept = {n: v for n, v in outgoing.headers.items() if n == "content-type" or n.startswith("x-amz")}
    request = AWSRequest(method="POST", url=url, data=outgoing.content, headers=kept)
    SigV4Auth(frozen, SERVICE, region).add_auth(request)
    headers = {name.lower(): str(value) for name, value in request.headers.items()}
    return Authorized(
        headers=headers,
        url=url,
        source=f"AWS ({credentials.method}, region {region})",
        secrets=tuple(text for text in (frozen.secret_key, frozen.token) if text),
    )


def _session(profile: str) -> Session:
    if profile not in _sessions:
        from botocore.session import Session

        _sessions[profile] = Session(profile=profile or None)
    found: Session = _sessions[profile]
    return found


def _region(outgoing: Outgoing, session: Session) -> str:
    """The person's word in models.json, the environment's, that of a host of AWS, the profile's."""
    named = _text(outgoing, "region") or os.environ.get("AWS_REGION", "").strip()
    named = named or os.environ.get("AWS_DEFAULT_REGION", "").strip()
    if not named and (host := _HOST.fullmatch(urlsplit(outgoing.url).hostname or "")):
        named = host[1]
    region = named or session.get_config_variable("region") or ""
    if not region:
        raise RunFailed(
            Failure(kind="bad_request", message="no AWS region: set AWS_REGION, or `region` in the profile of ~/.aws")
        )
    if not _REGION.fullmatch(region):
        raise RunFailed(Failure(kind="bad_request", message=f"{region!r} is no AWS region, such as us-east-1"))
    return region


def _text(outgoing: Outgoing, flag: str) -> str:
    value = outgoing.model.compat.get(flag)
    return value.strip() if isinstance(value, str) else ""
