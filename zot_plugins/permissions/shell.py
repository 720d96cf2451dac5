"""Taking a shell command apart, as far as its text tells what runs. Errs to "cannot be told".

Knows quotes and operators; a substitution, a redirection into a file, or a word that the shell itself acts on makes the
whole command one that cannot be told.
"""

from __future__ import annotations

import re

READING = (
    "cat *", "head *", "tail *", "ls", "ls *", "pwd", "echo *", "wc *", "rg *", "grep *", "which *", "file *", "stat *",
    "du *", "df *", "date", "whoami", "uname*", "tree", "tree *", "diff *", "sort *", "uniq *", "cut *", "true", "cd *",
    "git status*", "git diff*", "git log*", "git show*", "git branch", "git branch -a", "git branch -v*",
    "git rev-parse*",    "git ls-files*", "git blame*", "git remote -v", "git describe*",
)  # fmt: skip
"""Commands that only look, whatever their arguments. `find`, `sed`, `awk`, `xargs` and `env` are not among them: each
runs or writes what it is told to."""

_TELLING = re.compile(r"[`$<>\\]|\bexec\b|\beval\b|\bsource\b")
_WRITES = re.compile(r"--output\b|--exec\b|--ext-diff\b|-o\b")


def parts(command: str) -> list[str] | None:
    """The simple commands in order; None when text alone does not say what runs."""
    outside = _without_quotes(command)
    if outside is None or _TELLING.search(outside) or _quoted_substitution(command) or _WRITES.search(outside):
        return None
    found: list[str] = []
    start = 0
    for match in re.finditer(r"&&|\|\||[;|&\n(){}]", outside):
        found.append(command[start : match.start()])
        start = match.end()
    found.append(command[start:])
    named = [" ".join(part.split()) for part in found]
    return [part for part in named if part] or [command.strip()]


def _without_quotes(command: str) -> str | None:
    """The command with what is in quotes blanked, of the same length; None when a quote is not closed."""
    out, quote = [], ""
    for char in command:
        if quote:
            out.append("_" if char != quote else char)
            quote = "" if char == quote else quote
        else:
            out.append(char)
            quote = char if char in "\"'" else ""
    return None if quote else "".join(out)


def _quoted_substitution(command: str) -> bool:
    """Whether something in double quotes is substituted."""
    return any(char in match[0] for match in re.finditer(r'"[^"]*"', command) for char in "$`\\")
