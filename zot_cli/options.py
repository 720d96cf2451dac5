"""The command line, parsed: flags anywhere among the words, `--flag value` and `--flag=value`, `--` ends flags.

Parsed twice: first without knowing the flags of plugins, which are kept aside; again, strictly, when plugins are
loaded. That, and one order of `--plugin` and `--ext`, no library's parser offers; and a run need not import one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from zot_cli.flags import FLAGS, Flag
from zot_cli.names import MODE_WORDS
from zot_core.types.failure import UsageError

if TYPE_CHECKING:
    from zot_core.types.specs import FlagSpec

HELP_HINT = "see zot --help"
_NUMBER = re.compile(r"-\.?\d")


def nearest(word: str, known: Sequence[str], before: str = "", cutoff: float = 0.7) -> str:
    """`; did you mean X?`, with the second nearest if there is one; nothing when no spelling is near."""
    from difflib import get_close_matches  # 4 ms, and only for a mistake

    near = get_close_matches(word, known, n=2, cutoff=cutoff)
    return f"; did you mean {' or '.join(before + name for name in near)}?" if near else ""


def refuse_misspelt(line: CommandLine, commands: Sequence[str]) -> None:
    """Raises UsageError for a prompt of one word that is nearly a command's name; `--` before it says it is none."""
    if line.mode or line.literal or len(line.words) != 1 or not line.words[0].isidentifier():
        return
    word = line.words[0]
    near = nearest(word, commands, "zot ", 0.82) if word not in commands else ""
    if near:
        raise UsageError(f"no command {word!r}{near} As a prompt: zot -- {word}; {HELP_HINT}")


def hinted(near: str, hint: str = HELP_HINT) -> str:
    """What `nearest` said and where help is, as the end of a message."""
    return f"{near} {hint[:1].upper()}{hint[1:]}" if near else f"; {hint}"


@dataclass(slots=True)
class CommandLine:
    """What was on the line. `values` are those of core flags by their `dest`, `flags` those of plugins' flags by name.

    `words` are the prompt's; while `unknown` is not empty, words that follow an unknown flag may be its value.
    """

    argv: tuple[str, ...]
    values: dict[str, Any] = field(default_factory=dict)
    explicit: list[tuple[Literal["ext", "plugin"], str]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    flags: dict[str, Any] = field(default_factory=dict)
    piped: str | None = None
    """Text from stdin, once it was read."""
    literal: bool = False
    """Whether `--` said that what follows is a prompt."""
    command: str = ""
    rest: tuple[str, ...] = ()
    """What follows the first word: the arguments of `command`, when that word is the name of one."""
    also: tuple[str, ...] = ()
    """Spellings beside those of a run, for what is said of an unknown flag."""
    help_hint: str = HELP_HINT
    """Where help on this line is."""
    program: Any = None
    """The plugin's command that `command` names, when it is none of zot's own."""

    def get(self, dest: str, default: Any = None) -> Any:
        """The value of a core flag, or `default` when it was not given."""
        return self.values.get(dest, default)

    @property
    def mode(self) -> str:
        """`print`, `json`, `rpc`, or empty when the line asks for none."""
        if self.get("rpc"):
            return "rpc"
        if self.get("json"):
            return "json"
        return str(self.get("mode", "")) or ("print" if self.get("print") else "")

    @property
    def prompt(self) -> str:
        """The words joined by blanks."""
        return " ".join(self.words)

    def reparse(self, specs: Sequence[FlagSpec]) -> Mapping[str, Any]:
        """Parses again with the flags of plugins and returns their values; unknown flags are errors from now on.

        A plugin's flag that is spelt like a core flag is ignored here; the registry reports it. Raises UsageError.
        """
        rows = [_row(spec) for spec in specs if not {f"--{spec.name}"} & _CORE_NAMES]
        parser = _Parser(self.argv, (*FLAGS, *rows))
        parser.line.also, parser.line.help_hint = self.also, self.help_hint
        again = parser.parse(strict=True)
        self.values, self.explicit, self.words, self.unknown = again.values, again.explicit, again.words, []
        self.rest = again.rest
        given = {spec.name: spec.default for spec in specs}
        for row in rows:
            name = row.names[0][2:]
            if row.dest in again.values:
                given[name] = again.values[row.dest]
        self.flags = given
        return given


IsCommand = Callable[["CommandLine", str], bool]
"""Whether a first word names a command, on a line of which the flags before it are known."""


def parse(argv: Sequence[str], commands: Container[str] | IsCommand = (), *, strict: bool = False) -> CommandLine:
    """The first parse; without `strict` it keeps unknown flags aside. Raises UsageError for a wrong value.

    It ends at a first word that names one of `commands`, unless a mode was asked for: `zot -p sessions` is a prompt.
    """
    return _Parser(argv, FLAGS).parse(strict=strict, commands=commands)


_CORE_NAMES = frozenset(name for flag in FLAGS for name in flag.names)


def _row(spec: FlagSpec) -> Flag:
    kind: Any = "choice" if spec.choices else {"bool": "switch", "str": "text"}.get(spec.type, spec.type)
    return Flag(
        (f"--{spec.name}",),
        f"flag:{spec.name}",
        kind,
        spec.description,
        "VALUE",
        choices=spec.choices,
        repeatable=spec.repeatable,
    )


class _Parser:
    def __init__(self, argv: Sequence[str], flags: Sequence[Flag]) -> None:
        self.flags = {name: flag for flag in flags for name in flag.names}
        self.line = CommandLine(tuple(argv))
        self.rest = list(reversed(argv))

    def parse(self, *, strict: bool, commands: Container[str] | IsCommand = ()) -> CommandLine:
        while self.rest:
            token = self.rest.pop()
            if token == "--":
                self.line.words.extend(reversed(self.rest))
                self.line.literal = True
                break
            if _is_word(token):
                if not self.line.words:
                    if token in MODE_WORDS and not self.line.mode:
                        self.line.values[token] = True
                        continue
                    self.line.rest = tuple(reversed(self.rest))
                    if not self.line.mode and (commands(self.line, token) if callable(commands) else token in commands):
                        self.line.command = token
                        break
                self.line.words.append(token)
                continue
            name, equals, value = token.partition("=")
            flag = self.flags.get(name)
            if flag is not None:
                self.take(flag, name, value if equals else None)
            elif not self.cluster(token):
                if strict:
                    self.fail_unknown(name)
                self.line.unknown.append(token)
        return self.line

    def cluster(self, token: str) -> bool:
        """`-pc` for `-p -c`."""
        names = [f"-{letter}" for letter in token[1:]]
        if token.startswith("--") or len(names) < 2 or any(self.flags.get(n, _NONE).kind != "switch" for n in names):
            return False
        for name in names:
            self.take(self.flags[name], name, None)
        return True

    def take(self, flag: Flag, name: str, value: str | None) -> None:
        if flag.kind == "switch":
            if value is not None:
                raise UsageError(f"{name} takes no value ({value!r} was given); {HELP_HINT}")
            self.line.values[flag.dest] = flag.value
            return
        if value is None:
            value = self.next_value(flag, name)
        parsed = _checked(flag, name, value)
        if flag.source:
            self.line.explicit.append((flag.source, parsed))
        elif flag.repeatable:
            self.line.values[flag.dest] = (*self.line.values.get(flag.dest, ()), parsed)
        else:
            self.line.values[flag.dest] = parsed

    def next_value(self, flag: Flag, name: str) -> str:
        token = self.rest[-1] if self.rest else None
        if flag.kind == "optional":
            # A session id or a path has no blanks; a quoted prompt nearly always has.
            if token is None or token == "--" or not _is_word(token) or any(c.isspace() for c in token):
                return ""
            return self.rest.pop()
        if token is None or token == "--":
            raise UsageError(f"{name} needs a value ({flag.metavar}); {HELP_HINT}")
        if token.partition("=")[0] in self.flags:
            raise UsageError(f"{name} needs a value ({flag.metavar}), not the flag {token}; if meant: {name}={token}")
        return self.rest.pop()

    def fail_unknown(self, name: str) -> NoReturn:
        near = nearest(name, [*self.line.also, *self.flags])
        raise UsageError(f"unknown flag {name}{hinted(near, self.line.help_hint)}")


_NONE = Flag((), "", "text", "")


def _is_word(token: str) -> bool:
    """Prompts may hold `-`, `-5` and `- a list`; everything else that begins with a dash is a flag."""
    if not token.startswith("-") or token == "-" or _NUMBER.match(token):
        return True
    name = token.partition("=")[0]
    return any(character.isspace() for character in name)


def _checked(flag: Flag, name: str, value: str) -> Any:
    if flag.kind == "choice" and value not in flag.choices:
        near = nearest(value, flag.choices)
        raise UsageError(f"{name} {value}: not one of {', '.join(flag.choices)}{hinted(near)}")
    if flag.kind == "csv":
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if flag.kind in ("count", "int", "float"):
        return _number(flag, name, value)
    if flag.kind == "file" and value.startswith("@"):
        return _file_text(name, value[1:])
    if not value and flag.kind != "optional" and flag.dest != "system_prompt" and not flag.dest.startswith("flag:"):
        raise UsageError(f"{name} needs a value ({flag.metavar}); an empty one was given; {HELP_HINT}")
    return value


def _number(flag: Flag, name: str, value: str) -> int | float:
    try:
        number = float(value) if flag.kind == "float" else int(value)
    except ValueError:
        number = -1
        if flag.kind != "count":
            raise UsageError(f"{name} {value}: not a number; {HELP_HINT}") from None
    if flag.kind == "count" and number < 1:
        raise UsageError(f"{name} {value}: a whole number from 1 is needed; {HELP_HINT}")
    return number


def _file_text(name: str, path: str) -> str:
    try:
        with open(os.path.expanduser(path), encoding="utf-8-sig", errors="replace") as file:  # noqa: PTH111, PTH123
            return file.read()
    except OSError as error:
        raise UsageError(f"{name} @{path}: {error.strerror or error}") from None
