"""Text that stands for a secret: itself, an environment variable, or a command that prints it.

Knows nothing of providers. Results of commands are kept in memory for the life of the process and nowhere else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import field

from zot_core.config.paths import reason, variable
from zot_core.types.failure import Failure, RunFailed
from zot_core.types.record import record

COMMAND_TIMEOUT = 10.0
"""Seconds that a command may take to print a secret; it may ask a password manager, but not a person."""
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))", re.ASCII)
_IN_TEXT = re.compile(rf"\$\$|{_VARIABLE.pattern}", re.ASCII)
_printed: dict[str | tuple[str, ...], str] = {}


@record
class Secret:
    """What a text stood for, and where that is. `value` is "" when there is nothing; then `problem` says why."""

    value: str = field(repr=False)
    source: str
    problem: str = ""


def read_secret(text: str, source: str, env: Mapping[str, str] | None = None) -> Secret:
    """The secret that `text` stands for, trimmed: `$VAR`, `${VAR}`, `!command`, or the text itself.

    `$$` and `$!` at the beginning stand for a literal `$` and `!`. A command blocks for up to 10 s the first time.
    """
    text = text.strip()
    if text.startswith(("$$", "$!")):
        return Secret(text[1:], source)
    if match := _VARIABLE.fullmatch(text):
        name = match[1] or match[2]
        value = variable(name, env)
        problem = "" if value else f"{source} names ${name}, which is {'blank' if _is_set(name, env) else 'not set'}"
        return Secret(value, f"{source} (${name})", problem)
    if text.startswith("!"):
        return run_command(text[1:].strip(), f"{source} (a command)", env)
    return Secret(text, source)


def read_text(text: str, source: str, env: Mapping[str, str] | None = None) -> Secret:
    """A text in which `$VAR` and `${VAR}` may stand anywhere, such as `Bearer ${TOKEN}`; `$$` is a `$`, and a `$` that
    begins no name stays. `!command` and the escapes at the beginning are as in `read_secret`."""
    if needs_command(text) or text.lstrip().startswith("$!"):
        return read_secret(text, source, env)
    missing: list[str] = []

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name is None:
            return "$"
        found = variable(name, env)
        if not found:
            missing.append(f"${name}, which is {'blank' if _is_set(name, env) else 'not set'}")
        return found

    whole = _IN_TEXT.sub(value, text)
    if missing:
        return Secret("", source, f"{source} names {' and '.join(missing)}; a $ itself is written as $$")
    return Secret(whole, source)


def expanded(text: str, source: str) -> str:
    """`read_text`, for a caller that has nothing to say of its own. Raises RunFailed (kind auth)."""
    if "$" not in text and not needs_command(text):
        return text
    found = read_text(text, source)
    if found.problem:
        raise RunFailed(Failure(kind="auth", message=found.problem))
    return found.value


def variables_in(text: str) -> frozenset[str]:
    """The names of the variables that `read_text` would look at for `text`; none of a command, which is the shell's."""
    if needs_command(text) or text.lstrip().startswith("$!"):
        return frozenset()
    return frozenset(match[1] or match[2] for match in _IN_TEXT.finditer(text) if match[1] or match[2])


def needs_command(text: str) -> bool:
    """Whether `read_secret` would run a command for `text`, and so may block."""
    return text.strip().startswith("!")


def run_command(command: str | tuple[str, ...], source: str, env: Mapping[str, str] | None = None) -> Secret:
    """What a command prints, trimmed. A text goes to the shell; a tuple is a program and its arguments."""
    if command in _printed:
        return Secret(_printed[command], source)
    if not command:
        return Secret("", source, f"{source} is empty")
    from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

    try:
        process = Popen(
            command,
            shell=isinstance(command, str),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env=None if env is None else dict(env),
            start_new_session=os.name != "nt",
        )
    except OSError as error:
        return Secret("", source, f"{source} could not be started: {reason(error)}")
    try:
        out, err = process.communicate(timeout=COMMAND_TIMEOUT)
    except BaseException as error:
        _kill(process.pid)
        process.kill()
        process.communicate()
        if not isinstance(error, TimeoutExpired):  # Ctrl-C, for one
            raise
        return Secret("", source, f"{source} printed nothing within {COMMAND_TIMEOUT:g} s and was ended")
    if process.returncode != 0:
        lines = err.decode(errors="replace").strip().splitlines()
        said = f": {lines[-1][:200]}" if lines else ""
        return Secret("", source, f"{source} failed with exit code {process.returncode}{said}")
    value = out.decode(errors="replace").strip()
    if not value:
        return Secret("", source, f"{source} printed nothing")
    _printed[command] = value
    return Secret(value, source)


def _kill(pid: int) -> None:
    """End the command and what it started: a shell's children outlive the shell otherwise."""
    if os.name != "nt":
        from signal import SIGKILL

        try:
            os.killpg(pid, SIGKILL)
        except ProcessLookupError:
            return


def _is_set(name: str, env: Mapping[str, str] | None) -> bool:
    return name in (os.environ if env is None else env)
