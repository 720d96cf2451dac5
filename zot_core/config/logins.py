"""Logins in `auth.json`: which one has to be renewed, and writing down what came of it, in the shape that was there.

Knows no network: who renews, `zot_core.runtime.renewing` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from zot_core.config.paths import Paths
from zot_core.types.login import Tokens


def store_tokens(paths: Paths, provider: str, tokens: Tokens) -> None:
    """Keep the tokens of `provider` in auth.json (0600) in place of the old ones; all else stays as it is.

    Raises SaveRefused when auth.json must stay as it is.
    """
    from zot_core.config.jsonc_edit import set_key
    from zot_core.config.store import edit_object

    def change(text: str, data: dict[str, Any]) -> str:
        path, entry = next(_places(data, provider), ((provider,), {}))
        login = entry.get("oauth")
        if isinstance(login, dict):
            new = {**login, "access_token": tokens.access, "refresh_token": tokens.refresh}
            if tokens.expires is not None:
                new["expiry"] = datetime.fromtimestamp(tokens.expires, UTC).isoformat().replace("+00:00", "Z")
            return set_key(text, path, {**entry, "oauth": new})
        new = {**entry, "access": tokens.access, "refresh": tokens.refresh}
        if tokens.expires is not None:
            new["expires"] = int(tokens.expires * 1000)
        return set_key(text, path, new)

    edit_object(paths.auth, paths.cache / "locks", change, 0o600)


def store_login(paths: Paths, provider: str, tokens: Tokens) -> None:
    """Keep a new login of `provider` in auth.json (0600) in place of the key or login that was there for it; all else
    of its entry and of the file stays as it is.

    Raises SaveRefused when auth.json must stay as it is.
    """
    from zot_core.config.auth_entries import replaced
    from zot_core.config.jsonc_edit import set_key
    from zot_core.config.store import edit_object

    new: dict[str, Any] = {"type": "oauth", "access": tokens.access, "refresh": tokens.refresh}
    if tokens.expires is not None:
        new["expires"] = int(tokens.expires * 1000)

    def change(text: str, data: dict[str, Any]) -> str:
        return set_key(text, (provider,), {**replaced(data.get(provider), provider), **new})

    paths.ensure()
    edit_object(paths.auth, paths.cache / "locks", change, 0o600)


def _places(data: dict[str, Any], provider: str) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Where the login may stand: at the top, in a group, or (the Go zot's openai-codex) under another name."""
    names = (provider, "openai") if provider == "openai-codex" else (provider,)
    for name in names:
        groups = [((), data), *(((key,), value) for key, value in data.items() if isinstance(value, dict))]
        for above, group in groups:
            entry = group.get(name)
            if isinstance(entry, dict) and ("access" in entry or isinstance(entry.get("oauth"), dict)):
                yield (*above, name), entry
