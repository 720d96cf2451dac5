"""`zot sessions`: list, show, export and prune what is kept, without opening a project or loading a plugin.

Reads what the core's session room lists and opens; writes only where `prune` was confirmed.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zot_cli.commands.tables import show_json, show_rows
from zot_cli.plain import clean
from zot_cli.stdio import complain, is_terminal
from zot_core.config.paths import Paths, current_folder, expand_path
from zot_core.config.settings import load_settings
from zot_core.session.export import as_markdown, entry_json
from zot_core.session.find import find_session, plan_prune, remove_session
from zot_core.session.listing import SessionInfo, list_sessions
from zot_core.session.session import Session
from zot_core.types.failure import RunFailed, UsageError
from zot_core.wire import codec

if TYPE_CHECKING:
    from zot_cli.options import CommandLine

_AGE = re.compile(r"(\d+)([dwh])")
_SECONDS = {"h": 3600, "d": 86400, "w": 7 * 86400}
_directory = click.option("--session-dir", metavar="DIR", help="Where the sessions are kept.")
_json = click.option("--json", "as_json", is_flag=True, help="As JSON.")
_line = click.pass_obj


@click.group(help="List, show, export and prune sessions.")
def sessions() -> None:
    """The group; each command below does its own work."""


@sessions.command("list", help="The sessions of this project, or of all; the last used first.")
@click.option("--all", "-a", "everything", is_flag=True, help="Of all projects.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many.", metavar="N")
@_json
@_directory
@_line
def list_(line: CommandLine, everything: bool, limit: int | None, as_json: bool, session_dir: str | None) -> None:
    """Prints a row a session."""
    infos = list_sessions(_root(line, session_dir), None if everything else _cwd(line))[:limit]
    columns = ("id", "updated", "messages", "title", *(("cwd",) if everything else ()), "problem")
    if not any(info.problem for info in infos):
        columns = columns[:-1]
    empty = "no sessions yet" if everything else "no sessions of this project; --all lists those of all projects"
    show_rows([_row(info, as_json) for info in infos], columns, as_json=as_json, empty=empty)


@sessions.command("show", help="The conversation of a session: what people saw of it.")
@click.argument("session", metavar="ID-or-PATH")
@_json
@_directory
@_line
def show(line: CommandLine, session: str, as_json: bool, session_dir: str | None) -> None:
    """Prints the current branch."""
    with _opened(line, session, session_dir) as opened:
        if as_json:
            entries = [entry_json(entry) for entry in opened.branch()]
            show_json(
                {"id": opened.id, "path": opened.path, "cwd": opened.cwd, "name": opened.name, "entries": entries}
            )
        else:
            sys.stdout.write(clean(as_markdown(opened.id, opened.name, opened.cwd, opened.created, opened.branch())))


@sessions.command("export", help="A session as Markdown, or as its own JSON lines.")
@click.argument("session", metavar="ID-or-PATH")
@click.option("--format", "form", type=click.Choice(["markdown", "jsonl"]), default="markdown", show_default=True)
@click.option("--output", "-o", metavar="FILE", help="To this file, not to stdout; one that exists is not overwritten.")
@_directory
@_line
def export(line: CommandLine, session: str, form: str, output: str | None, session_dir: str | None) -> None:
    """Writes the export to stdout or to a new file."""
    with _opened(line, session, session_dir) as opened:
        lines = (json.dumps(entry_json(entry), ensure_ascii=False, default=str) + "\n" for entry in opened.branch())
        text = (
            clean(as_markdown(opened.id, opened.name, opened.cwd, opened.created, opened.branch()))
            if form == "markdown"
            else "".join(lines)
        )
    if output is None:
        sys.stdout.write(text)
        return
    try:
        with Path(output).open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{output} exists and is left as it is; name another file") from None
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from None


@sessions.command("prune", help="Remove old sessions. Without --yes it asks; --dry-run only says which.")
@click.option("--older-than", metavar="AGE", help="Not used for so long: 30d, 8w, 12h.")
@click.option("--keep-last", type=click.IntRange(min=0), metavar="N", help="Keep the N last used of each project.")
@click.option("--all", "-a", "everything", is_flag=True, help="Of all projects.")
@click.option("--named", is_flag=True, help="Those with a name, too.")
@click.option("--dry-run", is_flag=True, help="Remove nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@_directory
@_line
def prune(line: CommandLine, /, session_dir: str | None, **options: Any) -> int:
    """Removes what the plan says; exit 1 if one could not be removed."""
    if options["older_than"] is None and options["keep_last"] is None:
        raise UsageError("say which are old: --older-than 30d, --keep-last 20, or both; see zot sessions prune --help")
    infos = list_sessions(_root(line, session_dir), None if options["everything"] else _cwd(line))
    limits = {"older_than": _age(options["older_than"]), "keep_last": options["keep_last"], "named": options["named"]}
    plan = plan_prune(infos, now=time.time(), **limits)
    show_rows([_row(info, False) for info in plan.remove], ("id", "updated", "messages", "title"), empty="none is old")
    if not plan.remove or options["dry_run"]:
        return 0
    if not options["yes"]:
        if not is_terminal(0):
            raise UsageError("nobody can be asked here: --yes removes them, --dry-run only lists them")
        if not click.confirm(f"Remove {len(plan.remove)} sessions ({plan.size / 1e6:.1f} MB)?", err=True):
            return 0
    return _remove(plan.remove)


def _remove(infos: tuple[SessionInfo, ...]) -> int:
    failed = 0
    for info in infos:
        try:
            remove_session(info.path)
        except RunFailed as error:
            complain(f"zot: {clean(error.failure.message)}")
            failed += 1
    complain(f"removed {len(infos) - failed} of {len(infos)}")
    return 1 if failed else 0


def _root(line: CommandLine, given: str | None) -> Path:
    paths = Paths.find()
    chosen = given or line.get("session_dir") or load_settings(paths).values.session_dir
    return expand_path(chosen) if chosen else paths.sessions


def _cwd(line: CommandLine) -> str:
    given = line.get("cwd")
    path = Path(given).expanduser() if given else current_folder()
    return str(path if path.is_absolute() else current_folder() / path)


def _opened(line: CommandLine, ref: str, session_dir: str | None) -> Session:
    return Session.open(find_session(_root(line, session_dir), ref, cwd=_cwd(line)), readonly=True)


def _row(info: SessionInfo, as_json: bool) -> dict[str, Any]:
    when = codec.rfc3339(info.updated) if as_json else time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
    row: dict[str, Any] = {
        "id": info.id,
        "updated": when,
        "messages": info.messages if as_json or not info.estimated else f"~{info.messages}",
        "title": info.title,
        "cwd": info.cwd,
        "problem": info.problem,
    }
    if as_json:
        row |= {"path": info.path, "name": info.name, "created": codec.rfc3339(info.created), "size": info.size}
        row |= {"estimated": info.estimated, "parent_session": info.parent_session}
    return row


def _age(text: str | None) -> float | None:
    if text is None:
        return None
    match = _AGE.fullmatch(text)
    if match is None:
        raise UsageError(f"--older-than {text}: a number with d, w or h, such as 30d; see zot sessions prune --help")
    return int(match[1]) * _SECONDS[match[2]]
