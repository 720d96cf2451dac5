"""What authorization servers answer, as tokens or as a failure in words without a secret."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zot_core.net.redact import clean_text
from zot_core.types.failure import Failure, RunFailed
from zot_core.types.login import Tokens, read_tokens

_WORDS = {
    "access_denied": "it was refused",
    "expired_token": "the code has expired; /login again gives a new one",
    "invalid_grant": "the code is not valid, or not any more; /login again gives a new one",
}


def failed(provider: str, answer: Mapping[str, Any], status: int = 0, secrets: Iterable[str] = ()) -> RunFailed:
    """Why a login did not succeed, as the server said it."""
    error, more = answer.get("error"), answer.get("error_description")
    said = _WORDS.get(error, error) if isinstance(error, str) else ""
    if isinstance(more, str) and more and error != "access_denied":
        said = f"{said} ({more})" if said else more
    text = clean_text((said or f"status {status}")[:300], [secret for secret in secrets if secret])
    text = " ".join(text.split())
    return RunFailed(Failure(kind="auth", message=f"the login to {provider} failed: {text}", status=status or None))


def tokens(provider: str, status: int, answer: Mapping[str, Any], secrets: Iterable[str] = ()) -> Tokens:
    """The tokens in an answer. Raises RunFailed (kind auth)."""
    found = read_tokens(answer) if 200 <= status < 300 and not answer.get("error") else None
    if found is None:
        raise failed(provider, answer, status, secrets)
    return found
