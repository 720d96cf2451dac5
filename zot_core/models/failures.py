"""What a provider's refusal means: from status, code and wording to a kind, and to a sentence that says what to do.

Knows no provider by name; the wordings are those of the servers in the wild, the more exact sign first. A key never
stands in a message.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from zot_core.net.retry import is_retryable_status, retry_after
from zot_core.types.failure import ErrorKind, Failure
from zot_core.types.record import record

LONGEST_WORD: Final = 600
"""Characters of a provider's message that a person is shown."""


@record(kw_only=True)
class ErrorWord:
    """A provider's error in its own words: `code` and `kind` are its machine words, `message` the sentence, `wait` the
    seconds after which to come back, where the error itself says them."""

    message: str
    code: str = ""
    kind: str = ""
    status: int | None = None
    wait: float | None = None


@record(kw_only=True)
class Origin:
    """Where a request went and with which key, for messages: `key_source` says where the key came from, such as
    `$OPENAI_API_KEY`, `other_keys` where else there is one; `secrets` are texts that must never be shown."""

    provider: str
    model: str = ""
    url: str = ""
    key_source: str = ""
    other_keys: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


def error_word(value: Any, status: int | None = None) -> ErrorWord:
    """The error in `value`, decoded JSON of any of the shapes in the wild (`{"error": {...}}`, `{"error": "..."}`,
    `{"message": ...}`, `{"detail": ...}`, a list of those), or a plain text."""
    if isinstance(value, list) and value:
        return error_word(value[0], status)
    if not isinstance(value, Mapping):
        return ErrorWord(message=_text(value), status=status)
    inner = value.get("error", value)
    if not isinstance(inner, Mapping):
        return ErrorWord(
            message=_text(inner), code=_text(value.get("code")), kind=_text(value.get("type")), status=status
        )
    message = inner.get("message") or inner.get("detail") or inner.get("error_description") or inner.get("msg")
    code = inner.get("code")
    if isinstance(code, int) and status is None and 400 <= code < 600:
        status = code
    metadata = inner.get("metadata")
    if isinstance(metadata, Mapping) and isinstance(metadata.get("raw"), str):
        message = f"{_text(message)}: {metadata['raw']}"  # a router's message names only itself
    kind = inner.get("type") or inner.get("status")
    return ErrorWord(
        message=_text(message) or _text(inner),
        code=_text(code),
        kind=_text(kind),
        status=status,
        wait=_wait_in(inner.get("details")),
    )


def classify(word: ErrorWord) -> Failure:
    """The failure that an error means; its message is still the provider's word alone."""
    kind, retryable = _kind_of(word)
    message = word.message or "no reason given"
    return Failure(kind=kind, message=message, retryable=retryable, status=word.status, retry_after=word.wait)


def failure_of_response(status: int, headers: Mapping[str, str], body: bytes, now: float | None = None) -> Failure:
    """The failure that a response with an error status means. `headers` are lower case; `now` is the wall clock."""
    word = error_word(_decoded(body, headers), status)
    if not word.kind and (kind := headers.get("x-amzn-errortype", "")):
        word = replace(word, kind=kind.partition(":")[0])  # AWS names its errors there, and nowhere else
    failure = classify(word)
    if 300 <= status < 400 and (target := headers.get("location", "")):
        return replace(
            failure,
            kind="bad_request",
            retryable=False,
            message=f"the server redirects to {target}; use that as the base URL",
        )
    wait = retry_after(headers, time.time() if now is None else now)
    return failure if wait is None else replace(failure, retry_after=wait)


def network_failure(message: str) -> Failure:
    """A connection that failed, a stream that was cut or went silent."""
    return Failure(kind="network", message=message, retryable=True)


def is_error_body(value: Any) -> bool:
    """Whether decoded JSON, sent with status 200, says that the request failed."""
    if not isinstance(value, Mapping):
        return False
    return bool(value.get("error")) or value.get("object") == "error" or value.get("type") == "error"


def explain(failure: Failure, origin: Origin, longest_wait: float = 60.0, now: float | None = None) -> Failure:
    """The failure as a person should read it: who said it, what to do, no secrets."""
    word = scrub(" ".join(failure.message.split()), origin.secrets)
    if len(word) > LONGEST_WORD:
        word = word[:LONGEST_WORD] + "…"
    status = f" ({failure.status})" if failure.status else ""
    advice = _advice(failure, origin, longest_wait, time.time() if now is None else now)
    message = f"{origin.provider}{status}: {word}"
    if advice:
        message = f"{message.rstrip('.')}. {advice}"
    return replace(failure, message=message)


def no_key(provider: str, env: Iterable[str], said: str = "") -> Failure:
    """There is no key: `said`, or the three ways to give one, and the provider that needs none."""
    variable = " or ".join(env) or "the provider's variable"
    return Failure(
        kind="auth",
        message=said
        or (
            f"no API key for {provider}: give --api-key KEY, set {variable} in the environment, or store it in "
            "auth.json. Without any key, --provider scripted works offline"
        ),
    )


def scrub(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the given secrets and without anything that looks like a key."""
    from zot_core.net.redact import BEARER, KEY_SHAPES  # only when something failed

    for secret in sorted({s for s in secrets if len(s) >= 4}, key=len, reverse=True):
        text = text.replace(secret, "[key]")
    return BEARER.sub(r"\1[key]", KEY_SHAPES.sub("[key]", text))


def _kind_of(word: ErrorWord) -> tuple[ErrorKind, bool]:
    from zot_core.models.wordings import OVERFLOW_CODES, OVERFLOW_WORDS, QUOTA_WORDS, RATE_WORDS  # see there

    status = word.status
    signs = f"{word.code} {word.kind} {word.message}"
    limited = status == 429 or bool(RATE_WORDS.search(signs))
    if word.wait is None and QUOTA_WORDS.search(signs) and (status in {402, 403, 429, None} or "quota" in word.code):
        return "rate_limit", False
    if word.code in OVERFLOW_CODES or word.kind in OVERFLOW_CODES:
        return "context_overflow", False
    if not limited and (status == 413 or (status not in {401, 403} and OVERFLOW_WORDS.search(word.message))):
        return "context_overflow", False
    if limited:
        return "rate_limit", status in {None, 429, 503} or status == 200
    if status is not None and status >= 300:
        return _kind_of_status(status, signs)
    return _kind_of_words(signs)


def _kind_of_status(status: int, signs: str) -> tuple[ErrorKind, bool]:
    from zot_core.models.wordings import KEY_WORDS, OVERLOADED_WORDS, REFUSED_WORDS

    retryable = is_retryable_status(status)
    if status in {401, 403} or (status == 400 and KEY_WORDS.search(signs)):
        return "auth", False
    if status == 402:
        return "rate_limit", False
    if status in {503, 529} or (retryable and OVERLOADED_WORDS.search(signs)):
        return "overloaded", True
    if status == 408:
        return "network", True
    if retryable:
        return "provider", True
    if status < 500 and REFUSED_WORDS.search(signs):
        return "refused", False
    return ("bad_request", False) if status < 500 and status != 424 else ("provider", False)


def _kind_of_words(signs: str) -> tuple[ErrorKind, bool]:
    from zot_core.models.wordings import AUTH_WORDS, INVALID_WORDS, OVERLOADED_WORDS, PASSING_WORDS, REFUSED_WORDS

    if OVERLOADED_WORDS.search(signs):
        return "overloaded", True
    if AUTH_WORDS.search(signs):
        return "auth", False
    if INVALID_WORDS.search(signs):
        return "bad_request", False
    if REFUSED_WORDS.search(signs):
        return "refused", False
    return "provider", bool(PASSING_WORDS.search(signs))


def _advice(failure: Failure, origin: Origin, longest_wait: float, now: float) -> str:
    if failure.kind == "auth":
        return _key_advice(origin)
    if failure.kind in {"rate_limit", "overloaded"}:
        if failure.retry_after is not None and failure.retry_after > longest_wait:
            return f"Come back in {_span(failure.retry_after)}, {_clock(now + failure.retry_after)}"
        if not failure.retryable and failure.kind == "rate_limit":
            return "Check the plan and the balance of this account, or choose another model"
        return "Try again later or choose another model"
    if failure.kind == "context_overflow":
        return "The conversation is longer than the model takes: start a new session, or choose a larger model"
    if failure.kind == "network":
        return f"Check the connection{f' to {origin.url}' if origin.url else ''} and the proxy settings"
    if failure.status == 404:
        return (
            f"Check the model {origin.model!r} (`zot --list-models` lists the known ones) and the base URL {origin.url}"
        )
    return ""


def _key_advice(origin: Origin) -> str:
    if not origin.key_source:
        return "No key was sent; give one with --api-key, the environment or auth.json"
    source = f"The key came from {origin.key_source}"
    if origin.other_keys:
        return f"{source}; there is another one in {' and in '.join(origin.other_keys)}"
    return f"{source}; check it, or give another with --api-key, the environment or auth.json"


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{round(seconds)} s"
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def _clock(moment: float) -> str:
    try:
        return time.strftime("at %Y-%m-%d %H:%M", time.localtime(moment))
    except (ValueError, OverflowError, OSError):
        return "beyond any calendar"


def _wait_in(details: Any) -> float | None:
    """The wait that Google's errors name in a detail (`retryDelay: "34s"`); none where a day's quota is used up, which
    names one too."""
    rows = [row for row in details if isinstance(row, Mapping)] if isinstance(details, list) else []
    if any("PerDay" in _text(row.get("violations")) for row in rows):
        return None
    waits = (re.fullmatch(r"(\d+(?:\.\d+)?)s", _text(row.get("retryDelay"))) for row in rows)
    return next((float(wait[1]) for wait in waits if wait), None)


def _decoded(body: bytes, headers: Mapping[str, str]) -> Any:
    text = body.decode("utf-8", "replace").replace("\0", "").strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass  # not every proxy in between speaks JSON
    if "html" in headers.get("content-type", "") or text[:1] == "<":
        title = re.search(r"<title[^>]*>([^<]*)", text, re.IGNORECASE)
        return f"a web page{f' titled {title[1].strip()!r}' if title else ''} came instead of an answer"
    if text.startswith("data:"):
        return _decoded(text.splitlines()[0].removeprefix("data:").encode(), {})
    return text or "an empty answer"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
