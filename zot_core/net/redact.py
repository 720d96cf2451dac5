"""Taking secrets out of what is logged or shown: keys by their shape, by the name they stand under, and by value.

Pure. Knows no provider; the names and shapes are those of the servers in the wild.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

REMOVED: Final = "[removed]"
KEY_SHAPES = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|AIza|key)[-_][A-Za-z0-9*_\-.]{6,}|\bAIza[A-Za-z0-9_\-]{10,}")
BEARER = re.compile(r"(?i)\b(bearer\s+)[^\s\"',}]{4,}")
_SECRET_NAME = (
    r"(?:[\w.\-]*[_\-.])?(?:api[_\-]?key|apikey|access[_\-]?key|(?:x-goog-)?key|token|secret|secretkey|password|passwd"
    r"|passphrase|authorization|credentials?|cookie|code_verifier|device_code|signature|sig)"
    r"|(?:access|refresh|id|auth|bearer|session|security)token|(?:client|private|secret)(?:key|secret)"
    r"|proxy-authorization|set-cookie"
)
_HARMLESS = frozenset({"prompt_cache_key", "idempotency-key"})
"""Names that look like a secret's and hold none."""
_NAME = re.compile(_SECRET_NAME, re.IGNORECASE)
# `signature` and `sig` are secrets in a URL; in a body they are a model's thinking, which a log needs
_FIELD = re.compile(
    rf"(?i)(\\{{0,15}})\"((?!signature|sig)(?:{_SECRET_NAME}))\1\"(\s*:\s*)\1\"((?:(?!\1\")(?:\\.|[^\\]))*?)\1\""
)
_PLACED: Final = 6
"""Characters from which a value is a secret that is looked for elsewhere; shorter ones would hit words."""


def is_secret_name(name: str) -> bool:
    """Whether a header, a parameter or a field of that name holds a secret."""
    return name.lower() not in _HARMLESS and _NAME.fullmatch(name) is not None


def secrets_in(headers: Mapping[str, str]) -> set[str]:
    """The values of headers that hold secrets, schemes such as `Bearer` taken off."""
    values = (value for name, value in headers.items() if is_secret_name(name))
    return {word for value in values for word in (value, value.rpartition(" ")[2]) if len(word) >= _PLACED}


def clean_headers(headers: Mapping[str, str], secrets: Iterable[str] = ()) -> dict[str, str]:
    """`headers` with the values of secret ones removed, and secrets taken out of the others."""
    return {name: REMOVED if is_secret_name(name) else clean_text(value, secrets) for name, value in headers.items()}


def clean_url(url: str, secrets: Iterable[str] = ()) -> str:
    """`url` without a password and without the values of secret parameters."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return REMOVED
    head, at, host = parts.netloc.rpartition("@")
    query = _clean_form(parts.query)
    cleaned = urlunsplit((parts.scheme, f"{REMOVED}@{host}" if at and head else host, parts.path, query, ""))
    return clean_text(cleaned, secrets)


def clean_body(text: str, content_type: str = "", secrets: Iterable[str] = ()) -> str:
    """A body, or a line of it, without secrets: JSON (also JSON within JSON strings) or a form."""
    if "x-www-form-urlencoded" in content_type:
        text = _clean_form(text)
    return clean_text(text, secrets)


def clean_text(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the given secrets, without secret fields of JSON, and without what looks like a key."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, REMOVED)
    text = _FIELD.sub(_without_value, text)
    return BEARER.sub(rf"\1{REMOVED}", KEY_SHAPES.sub(REMOVED, text))


def _without_value(match: re.Match[str]) -> str:
    quote, name, colon, _ = match.groups()
    if name.lower() in _HARMLESS:
        return match[0]
    return f'{quote}"{name}{quote}"{colon}{quote}"{REMOVED}{quote}"'


def _clean_form(text: str) -> str:
    if not text:
        return text
    pairs = parse_qsl(text, keep_blank_values=True)
    if not any(is_secret_name(name) or name.lower() == "code" for name, _ in pairs):
        return text
    return urlencode(
        [(name, REMOVED if is_secret_name(name) or name.lower() == "code" else value) for name, value in pairs],
        safe="[]",
    )
