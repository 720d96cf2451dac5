"""One search from start to end: over which files, by which program, and once more in order where it finds too much.

Where policies hold, files are listed by a walk that asks them, and only those are handed to the program. A pattern with
characters beyond ASCII is looked for once more in files of other encodings.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from zot_core.toolkit import globs
from zot_core.toolkit.confine import searching
from zot_core.toolkit.errors import ToolError
from zot_core.toolkit.filesystem import Guard
from zot_core.toolkit.finding import walked
from zot_core.toolkit.ripgrep import CannotRun, Ended, Runner, cannot_start, failures, programs
from zot_core.toolkit.threads import run_to_end
from zot_plugins.tool_grep.encodings import (
    LABELS,
    LOOKING_S,
    MOST,
    NOT_UTF8,
    NOT_UTF8_IN_TEXT,
    Others,
    beyond_ascii,
    judged,
)
from zot_plugins.tool_grep.hits import Hits

_BATCH_BYTES = 100_000
_META = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")
_UNIT = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|.", re.DOTALL)
"""An escape, a class of characters, or a character."""
_OTHER_SYNTAX = re.compile(r"\(\?\w*x|\\Q|\[[^\]]*\[[^:]")
"""What gives blanks, backslashes or brackets another meaning; such a pattern is left alone."""
_STAND_IN = str(Path(__file__).with_name("stand_in.py"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is searched for."""

    pattern: str
    glob: str = ""
    ignore_case: bool = False
    literal: bool = False
    multiline: bool = False
    dotall: bool = False
    context: int = 0
    hidden: bool = False
    encoding: str = ""
    """A Python codec; empty means UTF-8, and what a file's mark says."""
    not_utf8: bool = False
    """Instead of the pattern, whatever is no UTF-8."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What was found, and what is to be said of it."""

    hits: Hits
    counted: bool = True
    ended_by: Literal["", "timeout", "abort"] = ""
    left_out: int = 0
    unreadable: Sequence[str] = ()
    stand_in: bool = False
    others: Others = field(default_factory=Others)

    def add(self, more: Outcome) -> None:
        """Takes in what a search of other files found."""
        self.hits.add(more.hits)
        self.ended_by = self.ended_by or more.ended_by
        self.unreadable = [*self.unreadable, *more.unreadable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A query at a place: `root` is a real folder, `file` the name of the only file in it to search, if one is."""

    query: Query
    root: str
    file: str
    runner: Runner
    guard: Guard
    limit: int

    async def run(self) -> Outcome:
        """Searches. Raises ToolError for a pattern or a glob that is not valid, OSError as the system does."""
        accepts = accepting(self.query.glob) if not self.file else lambda path: True
        if self.guard.policies and not self.runner.wrapper:
            wrapper = await searching(self.guard.policies, self.root, _needed(self.runner))
            return await replace(self, runner=replace(self.runner, wrapper=wrapper))._run(accepts)
        return await self._run(accepts)

    async def _run(self, accepts: Callable[[str], bool]) -> Outcome:
        files = [self.file] if self.file else None
        left_out, unreadable = 0, list[str]()
        if self.guard.policies and files is None:
            files, left_out, unreadable, ended_by = await self._listed(accepts)
            if ended_by:
                return Outcome(hits=Hits(self.limit, accepts), ended_by=ended_by, left_out=left_out)
        others = await self._others(accepts, files)
        outcome = await self._in_all(accepts, files, others)
        if outcome.hits.too_much:
            # Files came in no order, so what was found so far is anything: the first ones need an orderly search.
            outcome = await self._in_all(accepts, files, others, in_order=True)
            outcome.counted = outcome.hits.matches <= self.limit
        outcome.others = others
        outcome.left_out += left_out
        outcome.unreadable = [*unreadable, *outcome.unreadable]
        return outcome

    async def _others(self, accepts: Callable[[str], bool], files: list[str] | None) -> Others:
        """The files that are not UTF-8, where the pattern makes that matter."""
        query = self.query
        if not beyond_ascii(query.pattern, literal=query.literal):
            return Others()
        if self.file:
            return await run_to_end(judged, self.root, [self.file], self.guard)
        query = Query(pattern="", glob=query.glob, hidden=query.hidden, not_utf8=True)
        runner = replace(self.runner, timeout=min(self.runner.timeout, LOOKING_S))
        looked = await replace(self, query=query, runner=runner)._once(Hits(MOST, accepts), files)
        names = looked.hits.names()
        found = await run_to_end(judged, self.root, names, self.guard) if names else Others()
        found.unfinished = bool(looked.ended_by) or looked.hits.too_much
        return found

    async def _in_all(
        self, accepts: Callable[[str], bool], files: list[str] | None, others: Others, *, in_order: bool = False
    ) -> Outcome:
        elsewhere = others.codec_of()
        began = time.monotonic()
        hits = Hits(self.limit, lambda name: name not in elsewhere and accepts(name), first_only=in_order)
        outcome = await self._once(hits, files, in_order=in_order)
        for codec, names in sorted(others.by_codec.items()):
            left = self.runner.timeout - (time.monotonic() - began)
            search = replace(
                self,
                query=replace(self.query, encoding=codec),
                runner=replace(self.runner, timeout=max(0.0, left)),
            )
            if not outcome.ended_by:
                more = Hits(self.limit, accepts, first_only=in_order)
                outcome.add(await search._once(more, sorted(names), in_order=in_order))
        return outcome

    async def _once(self, hits: Hits, files: list[str] | None, *, in_order: bool = False) -> Outcome:
        outcome = Outcome(hits=hits)
        try:
            args = [*rg_arguments(self.query), *(["--sort=path"] if in_order else [])]
            await self._in_batches(outcome, args, [["./"]] if files is None else _batches(files))
        except CannotRun:
            outcome = await self._stand_in(Hits(self.limit, hits.accepts, first_only=hits.first_only), files)
        outcome.hits.finish()
        return outcome

    async def _in_batches(self, outcome: Outcome, args: list[str], batches: Iterable[list[str]]) -> None:
        deadline = time.monotonic() + self.runner.timeout
        for batch in batches:
            runner = replace(self.runner, timeout=max(0.0, deadline - time.monotonic()))
            ended = await runner.rg([*args, "--", *batch], cwd=self.root, on_data=outcome.hits.feed)
            self._take(outcome, ended)
            if ended.ended_by != "exit":
                return

    def _take(self, outcome: Outcome, ended: Ended) -> None:
        files, other = failures(ended.errors)
        if ended.code == 2 and other and not files and not outcome.hits.matches:
            raise bad_pattern(self.query, other)
        outcome.unreadable = [*outcome.unreadable, *files]
        if ended.ended_by in ("timeout", "abort"):
            outcome.ended_by = "timeout" if ended.ended_by == "timeout" else "abort"

    async def _stand_in(self, hits: Hits, files: list[str] | None) -> Outcome:
        outcome = Outcome(hits=hits, stand_in=True)
        if files is None:
            files, outcome.left_out, unreadable, ended_by = await self._listed(hits.accepts)
            outcome.unreadable = unreadable
            if ended_by:
                outcome.ended_by = ended_by
                return outcome
        try:
            ended = await self.runner.run(
                [sys.executable, "-I", "-S", _STAND_IN, json.dumps(asdict(_for_stand_in(self.query)))],
                cwd=self.root,
                on_data=hits.feed,
                stdin=b"\0".join(os.fsencode(f"./{name}") for name in files),
            )
        except OSError as error:
            raise cannot_start(error) from error
        self._take(outcome, ended)
        return outcome

    async def _listed(
        self, accepts: Callable[[str], bool]
    ) -> tuple[list[str], int, list[str], Literal["", "timeout", "abort"]]:
        files: list[str] = []

        def take(path: str) -> None:
            if accepts(path):
                files.append(path)

        walk, ended_by = await walked(
            self.root,
            self.guard,
            take,
            hidden=self.query.hidden,
            runner=self.runner,
            signal=self.runner.signal,
            operation="read",
        )
        return files, walk.left_out, walk.unreadable, ended_by


def _needed(runner: Runner) -> list[str]:
    """The programs that may do the search, and what the stand-in needs."""
    return [*programs(runner.env.get("PATH", "")), sys.executable, sys.prefix, sys.base_prefix, _STAND_IN]


def _batches(files: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for name in files:
        batch.append(f"./{name}")
        size += len(os.fsencode(name)) + 3
        if size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _for_stand_in(query: Query) -> Query:
    return replace(query, pattern=NOT_UTF8_IN_TEXT) if query.not_utf8 else query


def rg_arguments(query: Query) -> list[str]:
    """The options for a query. What a model wrote stands behind `=`, so that it is never an option itself."""
    flags = {
        "--ignore-case": query.ignore_case,
        "--fixed-strings": query.literal and not query.multiline,
        "--multiline": query.multiline,
        "--multiline-dotall": query.dotall,
        "--hidden": query.hidden,
    }
    return [
        *("--line-number", "--column", "--no-heading", "--with-filename", "--null"),
        *([] if query.not_utf8 else ["--binary"]),
        *("--crlf", "--engine=auto", "--glob=!.git"),
        *(flag for flag, wanted in flags.items() if wanted),
        *([f"--context={query.context}"] if query.context else []),
        *_prefilter(query.glob),
        *([f"--encoding={LABELS[query.encoding]}"] if query.encoding else []),
        *(["--max-count=1"] if query.not_utf8 else []),
        f"--regexp={NOT_UTF8 if query.not_utf8 else _over_lines(query)}",
    ]


def _over_lines(query: Query) -> str:
    """The pattern for `rg`, whose `--crlf` is for `$` alone: a line end in it fits CR LF too, as everywhere else."""
    if not query.multiline:
        return query.pattern
    if query.literal:
        return r"\r?\n".join(_META.sub(r"\\\g<0>", line) for line in re.split(r"\r?\n", query.pattern))
    if _OTHER_SYNTAX.search(query.pattern):
        return query.pattern
    return _UNIT.sub(lambda unit: r"(?:\r?\n)" if unit[0] in ("\n", r"\n") else unit[0], query.pattern)


def _prefilter(glob: str) -> list[str]:
    """Has `rg` pass over files whose name cannot fit. `--glob` with a positive glob would undo .gitignore."""
    last = glob.rpartition("/")[2]
    if glob.startswith("!"):
        return [f"--glob={glob}"]
    if ":" in last or ("/" in glob and "{" in glob):
        return []
    if any(not one or one[-1] in "*?]." for one in globs.braces(last)):
        return []  # it may fit a name that ends in a dot, which no type of `rg` ever does
    return [f"--type-add=zotglob:{last}", "--type=zotglob"]


def accepting(glob: str) -> Callable[[str], bool]:
    """Whether a file, relative to the searched folder, fits the glob. Raises BadGlob."""
    if not glob:
        return lambda path: True
    if glob.startswith("!"):
        out = globs.compiled(glob[1:])
        return lambda path: not any(out(part, part is not path) for part in _with_folders(path))
    fits = globs.compiled(glob + "**" if glob.endswith("/") else glob)
    return lambda path: fits(path, False)


def _with_folders(path: str) -> Iterator[str]:
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def bad_pattern(query: Query, message: str) -> ToolError:
    """The error for a pattern that no engine takes, with what to do."""
    block = message.split("~" * 79)
    said = block[1].strip() if len(block) > 1 else message
    hint = "" if query.literal else " To search for exactly this text, set literal=true."
    return ToolError(f"Not a valid search: {said}\n{hint.strip()}".strip())
