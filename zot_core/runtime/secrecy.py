"""Which environment variables hold credentials: names alone, so that no child process is given them.

Reads what is written, in specs and in a person's models.json; looks into no environment and imports no catalog.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from zot_core.config.secrets import variables_in
from zot_core.types.specs import ProviderSpec

NEEDED = frozenset(
    {
        *("HOME", "HOSTNAME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "USER"),
        *("APPDATA", "COMPUTERNAME", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT"),
        *("TEMP", "TMP", "USERNAME", "USERPROFILE"),
    }
)
"""What a header may name and no program can do without; none of them is a secret."""


def secrets_of(specs: Iterable[ProviderSpec], used: Collection[str]) -> frozenset[str]:
    """The variables of keys, and those that texts of keys and headers name; of providers that are `used` also those
    beside them: they are zot's only then, and a person's other programs need them."""
    names: set[str] = set()
    for spec in specs:
        names.update(spec.env, spec.secret_env if spec.id in used else ())
        texts = [spec.api_key, *spec.headers.values()]
        if not isinstance(spec.models, str):
            texts.extend(text for model in spec.models for text in model.headers.values())
        names.update(*map(variables_in, texts))
    return frozenset(names - NEEDED)


def named_providers(*words: str | None) -> frozenset[str]:
    """The providers that a run names, from words such as `--provider`'s and `--model`'s."""
    return frozenset(part for word in words if word for part in (word, word.partition("/")[0]))


def secrets_in(rows: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """The variables that keys and headers of a models.json name, those of its models and their changes too."""
    texts: list[str] = []
    for row in rows.values():
        texts.extend(text for name in ("apiKey", "api_key") if isinstance(text := row.get(name), str))
        models, changes = row.get("models"), row.get("modelOverrides")
        places = [
            row,
            *(models if isinstance(models, list) else []),
            *(changes.values() if isinstance(changes, Mapping) else []),
        ]
        for place in places:
            headers = place.get("headers") if isinstance(place, Mapping) else None
            if isinstance(headers, Mapping):
                texts.extend(text for text in headers.values() if isinstance(text, str))
    return frozenset().union(*map(variables_in, texts)) - NEEDED
