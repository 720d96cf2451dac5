"""Two clouds that serve what others made: Amazon Bedrock (SigV4, frames of AWS) and Google's Vertex AI (bearer tokens).

Signatures are checked as AWS does it: made again from the request as it came, with the secret that only the two sides
have. Frames are written here from the published layout, and not by the library that reads them.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from binascii import crc32
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from mock_provider import strict_anthropic, strict_google
from mock_provider.strict_chat import Refused

ACCESS, SECRET, SESSION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "session-token-of-tests"
REGION = "us-east-1"
BEDROCK_KEY = "bedrock-api-key-of-tests"
TOKEN = "ya29.token-of-tests"
PROJECT, LOCATION = "project-1", "us-east5"
_SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)"
)
_BEDROCK = re.compile(r"^/(?:v1/)?model/([^/]+)/invoke-with-response-stream$")
_VERTEX = re.compile(r"^/v1/projects/([^/]+)/locations/([^/]+)/publishers/(\w+)/models/([^/:]+):(\w+)(?:\?(.*))?$")
_MUST_BE_SIGNED = ("host", "x-amz-date", "x-amz-security-token")


def is_bedrock(path: str) -> bool:
    return path.endswith("/invoke-with-response-stream")


def is_vertex(path: str) -> bool:
    return "/publishers/" in path


def check_signature(method: str, path: str, headers: Mapping[str, str], raw: bytes) -> str:
    """ "" for a request that AWS would let in, else the word and the sentence with which it refuses."""
    from botocore.auth import SigV4Auth  # the other formats' tests need none of it
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    given = headers.get("authorization", "")
    if given == f"Bearer {BEDROCK_KEY}":
        return ""
    match = _SIGNED.fullmatch(given)
    if match is None:
        return "MissingAuthenticationTokenException: Missing Authentication Token"
    access, day, region, service, names, _ = match.groups()
    if access != ACCESS:
        return "UnrecognizedClientException: The security token included in the request is invalid."
    if (region, service) != (REGION, "bedrock"):
        return "InvalidSignatureException: Credential should be scoped to a valid region."
    signed = names.split(";")
    if missing := [name for name in _MUST_BE_SIGNED if name in headers and name not in signed]:
        return f"InvalidSignatureException: {missing[0]} must be signed"
    again = AWSRequest(
        method=method,
        url=f"http://{headers['host']}{path}",
        data=raw,
        headers={name: headers.get(name, "") for name in signed if name != "host"},
    )
    again.context["timestamp"] = headers.get("x-amz-date", "")
    auth = SigV4Auth(Credentials(ACCESS, SECRET), service, region)
    text = auth.string_to_sign(again, auth.canonical_request(again))
    if not headers.get("x-amz-date", "").startswith(day) or auth.signature(text, again) != match[6]:
        return (
            "InvalidSignatureException: The request signature we calculated does not match the signature you provided."
        )
    return ""


def check_bedrock(body: Any, path: str) -> None:
    """Raises Refused if the real service would answer 400."""
    found = _BEDROCK.match(path)
    if found is None:
        raise Refused(f"no such operation: {path}")
    if not isinstance(body, dict):
        raise Refused("Malformed input request, please reformat your input and try again.")
    for name in ("model", "stream"):
        if name in body:
            raise Refused(f"Malformed input request: #: extraneous key [{name}] is not permitted")
    if body.get("anthropic_version") != "bedrock-2023-05-31":
        raise Refused('Malformed input request: "anthropic_version": Field required')
    if not isinstance(body.get("anthropic_beta", []), list):
        raise Refused("anthropic_beta: Input should be a valid list")
    binding = (body.get("thinking") or {}).get("block_binding", {})
    if unknown := sorted(binding.keys() - {"mismatch_behavior"}):
        raise Refused(f"thinking.adaptive.block_binding.{unknown[0]}: Extra inputs are not permitted")
    rest = {name: value for name, value in body.items() if name not in ("anthropic_version", "anthropic_beta")}
    strict_anthropic.check({"model": unquote(found[1]), "stream": True, **rest})


def check_vertex(body: Any, path: str) -> None:
    """Raises Refused if the real service would answer 400."""
    found = _VERTEX.match(path)
    if found is None or found[1] != PROJECT or found[2] != LOCATION:
        raise Refused(f"not a path of this project and location: {path}")
    _, _, publisher, model, method, query = found.groups()
    if publisher == "google":
        strict_google.check(body, f"/v1beta/models/{model}:{method}?{query}")
        return
    if (publisher, method) != ("anthropic", "streamRawPredict"):
        raise Refused(f"{publisher} has no {method}")
    if not isinstance(body, dict) or body.get("anthropic_version") != "vertex-2023-10-16":
        raise Refused("anthropic_version: Field required")
    if "model" in body:
        raise Refused("model: Extra inputs are not permitted")
    rest = {name: value for name, value in body.items() if name != "anthropic_version"}
    strict_anthropic.check({"model": unquote(model), **rest})


def frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One frame of an AWS event stream: lengths and their checksum, headers, payload, checksum of all before."""
    head = b"".join(
        struct.pack("!B", len(name)) + name.encode() + b"\x07" + struct.pack("!H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack("!II", 12 + len(head) + len(payload) + 4, len(head))
    body = prelude + struct.pack("!I", crc32(prelude)) + head + payload
    return body + struct.pack("!I", crc32(body))


def chunk_frame(event: str) -> bytes:
    """The frame of one event of the Messages API, with padding as the service adds it."""
    payload = {"bytes": base64.b64encode(event.encode()).decode(), "p": "abcdef"}
    kinds = {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}
    return frame(kinds, json.dumps(payload).encode())


def exception_frame(name: str, message: str, **more: Any) -> bytes:
    """The frame of an exception in mid-stream."""
    kinds = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return frame(kinds, json.dumps({"message": message, **more}).encode())


def framed(events: list[str]) -> list[bytes]:
    """Server-sent events of the Messages API in frames, each."""
    return [
        chunk_frame(line.removeprefix("data: "))
        for event in events
        for line in event.split("\n")
        if line[:5] == "data:"
    ]


def token_answer(raw: bytes) -> dict[str, Any] | None:
    """What the token endpoint answers to a service account's assertion; None for another request."""
    if (
        b"grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&" not in raw + b"&"
        or b"assertion=" not in raw
    ):
        return None
    return {"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"}


def host_of(url: str) -> str:
    """Scheme and host of a URL, for a base of another path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
