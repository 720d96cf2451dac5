"""The shapes of `auth.json`: what is written here, what the Go zot writes, and what people write by hand.

Reads values only; which credential wins, `auth` says.
"""

from __future__ import annotations

import time
from dataclasses import field
from typing import Any

from zot_core.types.record import record

EXPIRY_MARGIN = 60.0
"""Seconds before its end at which a login's token counts as expired."""


@record
class Entry:
    """What auth.json says of one provider."""

    key: str = field(default="", repr=False)
    command: str | tuple[str, ...] = ()
    token: str = field(default="", repr=False)
    account_id: str = ""
    expires: float | None = None
    refresh: str = field(default="", repr=False)

    @property
    def expired(self) -> bool:
        return self.expires is not None and time.time() > self.expires - EXPIRY_MARGIN


ENTRY_KEYS = frozenset(
    {"type", "api_key", "apiKey", "key", "api_key_command", "oauth", "access", "refresh", "expires", "base_url"}
)
"""Keys that make an object one provider's entry."""


def replaced(entry: Any, provider: str) -> dict[str, Any]:
    """What stays of a provider's entry when another key or login takes the place of what it has."""
    if not isinstance(entry, dict):
        return {}
    kept = {name: value for name, value in entry.items() if name not in ENTRY_KEYS and name != "accountId"}
    if "base_url" in entry:
        kept["base_url"] = entry["base_url"]
    if provider == "openai" and isinstance(entry.get("oauth"), dict):
        kept["oauth"] = entry["oauth"]  # the Go zot's login of openai-codex, which is another provider's
    return kept


def flat(data: dict[str, Any]) -> dict[str, Any]:
    """Providers by id: at the top, or one level down where a group of them is kept."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, dict) and value and not ENTRY_KEYS & value.keys():
            found = {key: inner for key, inner in value.items() if isinstance(inner, (dict, str))} | found
        else:
            found[name] = value
    return found


def read_entry(data: Any) -> Entry:
    """One provider's entry in any of the shapes: a text, `{api_key}`, the Go zot's `{oauth: {...}}`, `{type, key}`."""
    if isinstance(data, str):
        return Entry(key=data.strip())
    if not isinstance(data, dict):
        return Entry()
    key = next((_text(data.get(name)) for name in ("api_key", "apiKey", "key") if _text(data.get(name))), "")
    login = data.get("oauth")
    if isinstance(login, dict):
        token, account, end = login.get("access_token"), login.get("account_id"), login.get("expiry")
        refresh = login.get("refresh_token")
    else:
        token, account, end = data.get("access"), data.get("accountId"), data.get("expires")
        refresh = data.get("refresh")
    return Entry(key, _command(data.get("api_key_command")), _text(token), _text(account), _time(end), _text(refresh))


def _command(given: Any) -> str | tuple[str, ...]:
    if isinstance(given, dict):
        given = [given.get("program"), *(given.get("args") or [])]
    if isinstance(given, str):
        return given.strip()
    if isinstance(given, list) and given and all(isinstance(word, str) for word in given):
        return tuple(given)
    return ()


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _time(value: Any) -> float | None:
    """Seconds since the epoch from RFC 3339 (the year 1 is Go's "never") or from milliseconds; None is never."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value / 1000 if value > 1e11 else float(value)
    if isinstance(value, str) and value and not value.startswith("0001-"):
        import re
        from datetime import datetime

        try:
            # Go writes nanoseconds, of which datetime takes six digits.
            return datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", value)).timestamp()
        except ValueError:
            return None
    return None


def entry_of(stored: dict[str, Any], provider: str) -> Entry:
    """What `stored` (as `flat` gives it) has for a provider."""
    # The Go zot keeps the login of its provider openai-codex under openai, whose own requests never use it.
    if provider == "openai-codex" and provider not in stored:
        entry = read_entry(stored.get("openai"))
        return Entry(token=entry.token, account_id=entry.account_id, expires=entry.expires, refresh=entry.refresh)
    entry = read_entry(stored.get(provider))
    if provider == "openai":
        return Entry(key=entry.key, command=entry.command)
    return entry
