"""Credentials: which key a provider gets, and where it came from. Never shows a key.

Order: the command line, the provider's environment variables, `auth.json`, the provider's own `apiKey` in models.json.
Blank counts as absent everywhere and whitespace around a key is dropped. Knows no provider and no network.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zot_core.config.objects import read_object
from zot_core.config.paths import Paths, variable
from zot_core.config.problems import Problem
from zot_core.types.failure import Failure, RunFailed, UsageError
from zot_core.types.record import record

if TYPE_CHECKING:
    from zot_core.config.auth_entries import Entry
    from zot_core.config.secrets import Secret
    from zot_core.types.login import Tokens


@record
class Credential:
    """A key and its `source` in words for a person. `kind` oauth is a login's token; `also` names places that lost."""

    key: str = field(repr=False)
    source: str
    kind: Literal["api_key", "oauth"] = "api_key"
    account_id: str = ""
    also: tuple[str, ...] = ()

    def mask(self, text: str) -> str:
        """`text` without the key, for messages that a server wrote."""
        return text.replace(self.key, "[key]") if len(self.key) >= 4 else text

    def refused(self, provider: str) -> str:
        """What to tell a person when the provider refused the key: where it came from, and what else there is."""
        message = f"{provider} refused the key from {self.source}"
        return f"{message}; there is another one in {' and '.join(self.also)}" if self.also else message


class Auth:
    """The credentials of this process. `auth.json` is read when first needed; `reload` reads it again.

    `flag` is the key of the command line, for whichever provider the run uses.
    """

    def __init__(self, paths: Paths, env: Mapping[str, str] | None = None, flag: str = "") -> None:
        self._paths = paths
        self._env = env
        self._flag = flag.strip()
        self._stored: dict[str, Any] | None = None
        self._problems: list[Problem] = []

    @property
    def problems(self) -> list[Problem]:
        """What is wrong with auth.json."""
        self._load()
        return list(self._problems)

    def reload(self) -> None:
        """Forget what auth.json said."""
        self._stored = None

    def find(
        self, provider: str, env_names: Sequence[str] = (), api_key: str = "", use_flag: bool = True
    ) -> Credential | None:
        """The first credential in the order of this module, or None.

        `env_names` are the provider's variables, first set one wins; `api_key` is its own text, `$VAR`, `${VAR}` or
        `!command`. A command runs only when nothing before it has a key, and then blocks for up to 10 s. Raises
        RunFailed (kind auth) for a key that no request can carry and for a command that fails.
        """
        places = self._places(provider, env_names, api_key, use_flag)
        found = next(places, None)
        if found is None:
            return None
        _check(found)
        also = tuple(place.source for place in self._places(provider, env_names, api_key, use_flag, commands=False))
        others = tuple(source for source in also if source != found.source)
        return Credential(found.key, found.source, found.kind, found.account_id, others)

    def require(self, provider: str, env_names: Sequence[str] = (), api_key: str = "") -> Credential:
        """As `find`, but without any credential it raises RunFailed (kind auth), which names the ways to give one."""
        found = self.find(provider, env_names, api_key)
        if found is None:
            raise RunFailed(Failure(kind="auth", message=self.missing(provider, env_names, api_key)))
        return found

    def has(self, provider: str, env_names: Sequence[str] = (), api_key: str = "", use_flag: bool = True) -> bool:
        """Whether `find` would have something to answer; runs no command, and believes in one that is there."""
        if next(self._places(provider, env_names, api_key, use_flag, commands=False), None) is not None:
            return True
        return self.may_run_command(provider) or api_key.strip().startswith("!")

    def stale_login(self, provider: str) -> Tokens | None:
        """The login of auth.json that has ended or ends within a minute and can be renewed; None where there is none
        or a key comes before it."""
        entry = self._entry(provider)
        if entry is None or entry.key or entry.command or not (entry.token and entry.refresh and entry.expired):
            return None
        from zot_core.types.login import Tokens

        return Tokens(access=entry.token, refresh=entry.refresh, expires=entry.expires)

    def stored(self) -> tuple[str, ...]:
        """The providers that auth.json has an entry for, by name."""
        from zot_core.config.auth_entries import entry_of

        entries = {name: entry_of(self._load(), name) for name in self._load()}
        return tuple(sorted(name for name, one in entries.items() if one.key or one.command or one.token))

    def where(self, provider: str, env_names: Sequence[str] = (), api_key: str = "", use_flag: bool = True) -> str:
        """Where the credential of `provider` comes from, in words; "" where there is none. Runs no command."""
        found = next(self._places(provider, env_names, api_key, use_flag, commands=False), None)
        if found is not None:
            return found.source
        if self.may_run_command(provider):
            return f"the command in {self._paths.auth} ({provider})"
        if api_key.strip().startswith("!"):
            return "the command in models.json"
        entry = self._entry(provider)
        if entry is None or not entry.token:
            return ""
        return f"the login in {self._paths.auth} ({provider})" + ("" if entry.refresh else ", which has expired")

    def may_run_command(self, provider: str) -> bool:
        """Whether `auth.json` names a command for this provider's key, which may take seconds."""
        entry = self._entry(provider)
        return entry is not None and bool(entry.command)

    def missing(self, provider: str, env_names: Sequence[str] = (), api_key: str = "") -> str:
        """What to tell a person when there is no credential for `provider`."""
        variables = " or ".join(env_names)
        ways = ["pass --api-key KEY", *([f"set {variables}"] if variables else [])]
        ways.append(f'put {{"{provider}": {{"api_key": "KEY"}}}} into {self._paths.auth}')
        message = f"no API key for {provider}: {', '.join(ways[:-1])} or {ways[-1]}"
        environ = os.environ if self._env is None else self._env
        hints = [f"{name} is set but blank" for name in env_names if name in environ and not variable(name, environ)]
        entry = self._entry(provider)
        if entry is not None and entry.token and entry.expired:
            hints.append(f"the login of {provider} in {self._paths.auth} has expired")
        from zot_core.config.secrets import read_secret

        if api_key and (problem := read_secret(api_key, "its apiKey in models.json", self._env).problem):
            hints.append(problem)
        hints += [str(problem) for problem in self._problems if problem.level == "error"]
        if hints:
            message = f"{message} ({'; '.join(hints)})"
        return f"{message}. Without any key, --provider scripted works offline"

    def set_key(self, provider: str, key: str) -> None:
        """Keep a key for `provider` in auth.json (0600) in place of what was there for it; all else stays as it is.

        Raises UsageError for a blank or impossible key, SaveRefused when auth.json must stay as it is.
        """
        from zot_core.config.auth_entries import replaced
        from zot_core.config.jsonc_edit import set_key
        from zot_core.config.store import edit_object

        key = key.strip()
        if not key or not provider.strip():
            raise UsageError("a provider and a key that is not blank are needed")
        self.check_key(key)

        def change(text: str, data: dict[str, Any]) -> str:
            return set_key(text, (provider,), {**replaced(data.get(provider), provider), "api_key": key})

        self._paths.ensure()
        edit_object(self._paths.auth, self._paths.cache / "locks", change, 0o600)
        self.reload()

    @staticmethod
    def check_key(key: str) -> None:
        """Raises UsageError for a key that no request can carry."""
        if why := _impossible(key):
            raise UsageError(f"the key cannot be used: {why}")

    def remove(self, provider: str) -> bool:
        """Forget what auth.json has for `provider`; False if that was nothing. Raises SaveRefused."""
        from zot_core.config.auth_entries import replaced
        from zot_core.config.jsonc_edit import remove_key, set_key
        from zot_core.config.store import edit_object

        self.reload()
        if provider not in self._load() and not self._problems:
            return False

        def change(text: str, data: dict[str, Any]) -> str:
            kept = replaced(data.get(provider), provider)
            if "oauth" in kept:  # another provider's
                return set_key(text, (provider,), kept)
            groups = [name for name, value in data.items() if isinstance(value, dict) and provider in value]
            for path in [(provider,), *((group, provider) for group in groups)]:
                text = remove_key(text, path)
            return text

        edit_object(self._paths.auth, self._paths.cache / "locks", change, 0o600)
        self.reload()
        return True

    def _places(
        self, provider: str, env_names: Sequence[str], api_key: str, use_flag: bool, commands: bool = True
    ) -> Iterator[Credential]:
        if use_flag and self._flag:
            yield Credential(self._flag, "--api-key")
        for name in env_names:
            if value := variable(name, self._env):
                yield Credential(value, f"${name}")
        entry = self._entry(provider)
        where = f"{self._paths.auth} ({provider})"
        if entry is None:
            pass
        elif entry.key:
            yield Credential(entry.key, where)
        elif entry.command and commands:
            from zot_core.config.secrets import run_command

            yield _printed(run_command(entry.command, f"the command in {where}", self._env))
        elif entry.token and not entry.expired:
            yield Credential(entry.token, f"the login in {where}", "oauth", entry.account_id)
        if api_key.strip() and (commands or not api_key.strip().startswith("!")):
            from zot_core.config.secrets import read_secret

            secret = read_secret(api_key, f"the apiKey of {provider} in models.json", self._env)
            if secret.value or api_key.strip().startswith("!"):
                yield _printed(secret)

    def _entry(self, provider: str) -> Entry | None:
        stored = self._load()
        if not stored:
            return None
        from zot_core.config.auth_entries import entry_of

        return entry_of(stored, provider)

    def _load(self) -> dict[str, Any]:
        if self._stored is None:
            document, self._problems = read_object(self._paths.auth)
            self._stored = {}
            if document is not None and document.value:
                from zot_core.config.auth_entries import flat

                self._stored = flat(document.value)
            self._problems += _open_to_others(self._paths.auth)
        return self._stored


def _printed(secret: Secret) -> Credential:
    if not secret.value:
        raise RunFailed(Failure(kind="auth", message=secret.problem))
    return Credential(secret.value, secret.source)


def _impossible(key: str) -> str:
    if any(c in key for c in "\r\n\t\0"):
        return "it has a line break or a tab inside"
    if not key.isascii() or not key.isprintable():
        return "it has characters that a request cannot carry, such as curly quotes"
    return ""


def _check(found: Credential) -> None:
    if why := _impossible(found.key):
        raise RunFailed(Failure(kind="auth", message=f"the key from {found.source} cannot be used: {why}"))


def _open_to_others(path: Path) -> list[Problem]:
    if os.name == "nt":
        return []
    try:
        mode = path.stat().st_mode & 0o777
    except OSError:
        return []
    if not mode & 0o077:
        return []
    return [Problem("warning", str(path), None, f"others can read it (mode {mode:04o}); chmod 600 makes it private")]
