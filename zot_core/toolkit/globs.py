"""Globs for names and paths: `*`, `?`, `[a-z]`, `[!a-z]`, `**` between slashes, `{a,b}`, and `\\` before a character.

Made into regular expressions that need no backtracking within a name. Knows no files.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

from zot_core.toolkit.errors import ToolError

_ALTERNATIVES = 500


class BadGlob(ToolError):
    """A glob that means nothing."""

    def __init__(self, pattern: str, reason: str) -> None:
        super().__init__(f"Not a valid glob: {pattern!r}: {reason}. Put a backslash before a character meant as it is.")


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Callable[[str, bool], bool]:
    """A test (relative path, is it a folder) for the glob.

    Without a slash it is compared with the last name, at any depth; with one, with the whole path. A slash at the end
    takes folders only. Raises BadGlob.
    """
    bare = pattern.removeprefix("./")
    folders_only = bare.endswith("/")
    bare = bare.rstrip("/")
    if not bare:
        raise BadGlob(pattern, "it is empty")
    expressions = [_path_expression(one) for one in braces(bare)]
    try:
        match = re.compile("|".join(f"(?:{one})" for one in expressions), re.DOTALL).fullmatch
    except (re.error, OverflowError) as error:
        raise BadGlob(pattern, str(error)) from error
    return lambda path, folder: (folder or not folders_only) and match(path) is not None


def _path_expression(pattern: str) -> str:
    if "/" not in pattern:
        return "(?:.*/)?" + segment(pattern) if pattern != "**" else ".+"
    return path_expression(pattern.lstrip("/"))


def path_expression(pattern: str) -> str:
    """The regular expression of a glob for a whole path, without braces. Raises BadGlob."""
    parts = pattern.split("/")
    out = []
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        if part == "**":
            if last or at == 0 or parts[at - 1] != "**":
                out.append(".+" if last else "(?:[^/]+/)*")
        else:
            out.append(segment(part) + ("" if last else "/"))
    return "".join(out)


@lru_cache(maxsize=1024)
def segment(pattern: str) -> str:
    """The regular expression of a glob for one name, without braces. Raises BadGlob."""
    tokens: list[str | None] = []  # None is a star
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "*":
            if not tokens or tokens[-1] is not None:
                tokens.append(None)
        elif char == "?":
            tokens.append("[^/]")
        elif char == "[":
            token, at = _choice(pattern, at)
            tokens.append(token)
        elif char == "\\" and at < len(pattern):
            tokens.append(re.escape(pattern[at]))
            at += 1
        else:
            tokens.append(re.escape(char))
    return _joined(tokens)


def _joined(tokens: list[str | None]) -> str:
    """Between two stars the first place that fits is as good as any other: an atomic group never tries again."""
    runs = [""]
    for token in tokens:
        if token is None:
            runs.append("")
        else:
            runs[-1] += token
    if len(runs) == 1:
        return runs[0]
    first, *middle, last = runs
    return first + "".join(f"(?>[^/]*?{run})" for run in middle) + "[^/]*" + last


def _choice(pattern: str, at: int) -> tuple[str, int]:
    """`[…]` from behind its bracket on, and where it ends."""
    end = at
    negated = pattern[at : at + 1] in ("!", "^") and bool(pattern[at : at + 1])
    end += negated
    begin = end
    members = ""
    while True:
        char = pattern[end : end + 1]
        if not char:
            raise BadGlob(pattern, "a [ is not closed")
        if char == "]" and end > begin:
            break
        if char == "\\" and pattern[end + 1 : end + 2]:
            end += 1
            members += re.escape(pattern[end])
        else:
            members += "-" if char == "-" and end > begin else re.escape(char)
        end += 1
    members = members[:-1] + r"\-" if members.endswith("-") and not members.endswith(r"\-") else members
    expression = f"[^/{members}]" if negated else f"[{members}]"
    try:
        re.compile(expression)
    except re.error as error:
        raise BadGlob(pattern, str(error)) from error
    return expression, end + 1


def braces(pattern: str) -> list[str]:
    """The globs that `{a,b}` stands for, nested ones too. Raises BadGlob for one that is not closed, or too many."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        one = waiting.pop()
        found = _first_brace(pattern, one)
        if found is None:
            done.append(one)
        else:
            before, choices, after = found
            waiting += [before + choice + after for choice in reversed(choices)]
        if len(done) + len(waiting) > _ALTERNATIVES:
            raise BadGlob(pattern, "it has too many alternatives")
    return done


def _first_brace(whole: str, pattern: str) -> tuple[str, list[str], str] | None:
    depth = start = 0
    in_class = False
    cuts: list[int] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = pattern.find("]", at + 2) > 0
        elif char == "{":
            start = at if depth == 0 else start
            depth += 1
        elif char == "," and depth == 1:
            cuts.append(at)
        elif char == "}" and depth:
            depth -= 1
            if depth == 0:
                edges = [start, *cuts, at]
                choices = [pattern[left + 1 : right] for left, right in pairwise(edges)]
                return pattern[:start], choices, pattern[at + 1 :]
        at += 1
    if depth:
        raise BadGlob(whole, "a { is not closed")
    return None
