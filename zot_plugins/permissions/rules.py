"""Rules and what they say of a call. Pure but for the real path of a file, which a link may not disguise.

A call is one or more requests; the strictest answer of them counts. Of the rules that match a request the last counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from zot_plugins.permissions.shell import READING, parts

Action = Literal["allow", "ask", "deny"]
_STRICT: tuple[Action, ...] = ("deny", "ask", "allow")
_MAIN = ("command", "path", "url", "pattern", "query", "name")


class Rule(NamedTuple):
    """`tool` and `pattern` may hold `*`. `where` limits it to calls that only `read`, to files `inside` the project, to
    commands, or to commands that only look."""

    tool: str
    pattern: str
    action: Action
    where: Literal["", "read", "inside", "command", "reading command"] = ""


class Request(NamedTuple):
    """What a call wants: the tool, what it is about, and whether it only reads. `inside` says of a file that it is in
    the project, of a command that its text tells all that runs."""

    tool: str
    subject: str
    reads: bool = False
    inside: bool = True
    kind: Literal["file", "command", "other"] = "other"


PRESET_RULES: Mapping[str, Sequence[Rule]] = {
    "full-access": (Rule("*", "*", "allow"),),
    "workspace": (
        Rule("*", "*", "ask"),
        Rule("*", "*", "allow", "read"),
        Rule("*", "*", "allow", "inside"),
        Rule("*", "*", "allow", "command"),
    ),
    "accept-edits": (
        Rule("*", "*", "ask"),
        Rule("*", "*", "allow", "read"),
        Rule("*", "*", "allow", "inside"),
    ),
    "auto": (
        Rule("*", "*", "ask"),
        Rule("*", "*", "allow", "read"),
        Rule("*", "*", "allow", "inside"),
        Rule("*", "*", "allow", "reading command"),
    ),
    "read-only": (Rule("*", "*", "deny"), Rule("*", "*", "allow", "read")),
    "ask": (Rule("*", "*", "ask"),),
}
"""What each preset says: full-access everything; workspace what reads, what stays in the project and commands;
accept-edits the same but commands; auto also commands that only look; read-only only what reads; ask nothing."""


def requests(tool: str, args: Mapping[str, Any], cwd: str, reads: bool) -> list[Request]:
    """What a call asks for. A command counts as its parts: each has to be allowed."""
    command = args.get("command", args.get("input")) if tool in ("bash", "bash_job", "powershell") else None
    if isinstance(command, str):
        found = parts(command) if tool != "powershell" else None
        if found is None:  # it runs more than can be told from its text
            return [Request(tool, command, inside=False, kind="command")]
        return [Request(tool, part, kind="command") for part in found]
    path = args.get("path")
    if isinstance(path, str):
        real = os.path.realpath(Path(cwd, Path(path.removeprefix("@")).expanduser()))
        return [Request(tool, real, reads, _inside(real, cwd), "file")]
    subject = next((str(args[name]) for name in _MAIN if isinstance(args.get(name), str)), "")
    return [Request(tool, subject, reads, inside=reads, kind="other")]


def decide(wanted: Iterable[Request], rules: Sequence[Rule], cwd: str) -> Action:
    """The strictest of the answers to a call's requests."""
    answers = {_answer(request, rules, cwd) for request in wanted} or {"allow"}
    return next(action for action in _STRICT if action in answers)


def _answer(request: Request, rules: Sequence[Rule], cwd: str) -> Action:
    answer: Action = "ask"
    for rule in rules:
        if _matches(rule, request, cwd):
            answer = rule.action
    return answer


def _matches(rule: Rule, request: Request, cwd: str) -> bool:
    if not _glob(rule.tool).fullmatch(request.tool):
        return False
    if rule.where == "read" and not request.reads:
        return False
    if rule.where == "inside" and not (request.kind == "file" and request.inside):
        return False
    if rule.where == "command" and request.kind != "command":
        return False
    if rule.where == "reading command" and not (request.kind == "command" and _only_looks(request)):
        return False
    if request.kind == "command" and not request.inside and rule.action == "allow" and rule.pattern != "*":
        return False  # what a pattern allows must be all that runs
    pattern = rule.pattern
    if request.kind == "file" and pattern != "*":
        pattern = os.path.join(cwd, os.path.expanduser(pattern))  # noqa: PTH118, PTH111 - a pattern is no path
    return bool(_glob(pattern).fullmatch(request.subject))


def _only_looks(request: Request) -> bool:
    return request.inside and any(_glob(pattern).fullmatch(request.subject) for pattern in READING)


def _inside(real: str, cwd: str) -> bool:
    root = os.path.realpath(cwd)
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)


@lru_cache(maxsize=512)
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in pattern.split("*")), re.S)
