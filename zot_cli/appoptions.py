"""From the command line's words to the App's options. Checks what needs no plugin; must not open anything."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from zot_cli.options import HELP_HINT
from zot_core.app import Options
from zot_core.config.paths import current_folder
from zot_core.types.failure import UsageError

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.types.specs import Mode

_ONE_OF = {"continue_session": "--continue", "resume": "--resume", "session": "--session", "fork": "--fork"}
_CONTRADICTING = (
    ("no_session", "--no-session", ("continue_session", "resume", "session", "fork"), "names a session"),
    ("no_tools", "--no-tools", ("tools",), "names tools"),
)
"""A flag, how it is written, and the others that ask for the opposite."""
_SAME_NAME = (
    "provider",
    "model",
    "models",
    "api_key",
    "base_url",
    "api",
    "system_prompt",
    "append_system_prompt",
    "reasoning",
    "continue_session",
    "resume",
    "session",
    "fork",
    "no_session",
    "session_dir",
    "tools",
    "exclude_tools",
    "no_tools",
    "no_builtin_tools",
    "max_steps",
    "no_ext",
    "no_plugins",
    "no_builtins",
    "trust",
)


def app_options(line: CommandLine, mode: Mode) -> Options:
    """The App's options for this line. Raises UsageError for contradicting flags and a missing directory."""
    given = [flag for dest, flag in _ONE_OF.items() if dest in line.values]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} cannot be used together: each names a session; {HELP_HINT}")
    for dest, flag, others, does in _CONTRADICTING:
        if line.values.get(dest) and (other := next((name for name in others if name in line.values), None)):
            raise UsageError(f"{flag} and {_flag(other)}, which {does}, cannot be used together; {HELP_HINT}")
    values = {name: line.values[name] for name in _SAME_NAME if name in line.values}
    if "base_url" in values:
        _check_url(values["base_url"])
    return Options(
        cwd=_cwd(line.get("cwd")),
        cwd_given=bool(line.get("cwd")),
        mode=mode,
        explicit=tuple(line.explicit),
        offline=bool(line.get("offline")) or os.environ.get("ZOT_OFFLINE", "0") not in ("", "0"),
        unparsed=tuple(line.unknown),
        reparse=line.reparse,
        **values,
    )


def _flag(dest: str) -> str:
    return _ONE_OF.get(dest, f"--{dest.replace('_', '-')}")


def _check_url(url: str) -> None:
    if not url.startswith(("http://", "https://")) or not url.partition("://")[2].strip("/"):
        raise UsageError(
            f"--base-url {url}: not a URL; write it as http://127.0.0.1:8080 or https://host/v1; {HELP_HINT}"
        )


def _cwd(given: str | None) -> str:
    path = Path(given).expanduser() if given else current_folder()
    if not path.is_dir():
        raise UsageError(f"--cwd {given}: no such directory")
    return str(path if path.is_absolute() else current_folder() / path)
