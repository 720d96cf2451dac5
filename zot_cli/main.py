"""What the command line asks for: help, a subcommand, or a run in one of the modes; and how the process ends.

Imports the chosen thing only. An exception never leaves it: every end is an exit code and at most one line on stderr.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from zot_cli import exits, stdio
from zot_cli.names import COMMANDS, can_name
from zot_cli.options import CommandLine, parse, refuse_misspelt
from zot_core.types.failure import UsageError

_NO_TERMINAL = 'no terminal here; without one: zot -p "...", zot --json "...", or pipe the prompt in; see zot --help'


def run(argv: Sequence[str]) -> int:
    """Runs the command line and returns the exit code."""
    try:
        # Until a mode has its own handlers (while piped text is read, say) a signal ends the process with its code.
        signal.signal(signal.SIGTERM, _terminated)
    except ValueError:
        pass  # not the main thread: whoever embeds zot handles signals
    try:
        code = _dispatch(argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        stdio.complain("zot: interrupted")
        return exits.INTERRUPTED
    except BrokenPipeError:
        _drop_stdout()
        return exits.FAILED
    except Exception as error:
        failure = exits.failure_of(error)
        if isinstance(failure, UsageError):
            stdio.wrong_usage(str(failure))
            return exits.USAGE
        stdio.reason(failure.message)
        return exits.code_of("error", failure)
    return code


def _dispatch(argv: Sequence[str]) -> int:
    line = parse(argv, _is_command)
    if line.get("help"):
        return _say(import_module("zot_cli.lazy").help_page(import_module("zot_cli.programs").kept(line)))
    if line.get("version"):
        return _say(f"zot {import_module('zot_core._version').__version__}")
    if line.command or line.get("list_models"):
        stdio.utf8()
    if line.program is not None:
        return int(import_module("zot_cli.programs").run(line))
    if line.command:
        lazy: Any = import_module("zot_cli.lazy")
        return int(lazy.run_command(lazy.group(), (line.command, *line.rest), "zot", line))
    if line.get("list_models"):
        return int(import_module("zot_cli.commands.models").run(line))
    mode = line.mode or _implied_mode(line)
    return int(import_module(f"zot_cli.modes.{mode}").run(line))


def _is_command(line: CommandLine, word: str) -> bool:
    """Whether a line's first word is a command of zot or of a plugin; nearly every prompt is told by its looks, or by
    the boot snapshot."""
    if word in COMMANDS:
        return True
    return can_name(word) and bool(import_module("zot_cli.programs").names_one(line, word))


def _implied_mode(line: CommandLine) -> str:
    """The mode of a line that names none: the terminal's, or print when something is piped in."""
    if stdio.is_terminal(0):
        if stdio.is_terminal(1):
            refuse_misspelt(line, [*COMMANDS, *import_module("zot_cli.programs").names(line)])
            # A terminal without cursor movement gets lines; so does one that says nothing of itself.
            return "line" if os.environ.get("TERM", "dumb") in ("dumb", "") else "repl"
        raise UsageError(_NO_TERMINAL)
    line.piped = stdio.piped_text()
    if line.piped:
        return "print"
    if line.unknown:
        line.reparse(())  # says which flag is wrong
    if line.words and line.words[0].isidentifier():
        return "contributed"
    raise UsageError(_NO_TERMINAL)


def _say(text: str) -> int:
    sys.stdout.write(text + "\n")
    return exits.DONE


def _drop_stdout() -> None:
    """The reader is gone; without this the interpreter's own last flush would complain."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


def _terminated(_number: int, _frame: object) -> None:
    sys.exit(exits.TERMINATED)
