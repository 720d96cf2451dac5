"""`/ext`: what became of the extensions in this session, in the words of `zot ext`; switches them and shows their logs.

Reads manifests and asks the processes that run; starts none itself.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zot_core.config.paths import read_bytes, reason
from zot_core.plugins.rank import EXPLICIT, PROJECT, USER
from zot_core.types.failure import UsageError, ZotError
from zot_core.types.record import record
from zot_core.types.specs import SessionFacts
from zot_plugins.extension_bridge.finding import Found, find_extensions, off_in
from zot_plugins.extension_bridge.logs import log_path
from zot_plugins.extension_bridge.manifest import check_name
from zot_plugins.extension_bridge.status import Status

WORDS = {"list": False, "enable": True, "disable": True, "logs": True, "reload": False}
"""What can be said, and whether a name follows."""
IN_SHELL = ("doctor", "install", "remove", "new")
"""What `zot ext` has beside these."""
LINES = 40
"""Of a log, the last ones."""
_SCOPES = {EXPLICIT: "--ext", PROJECT: "project", USER: "home"}


@record(kw_only=True)
class _Row:
    """An extension as it was found, as it runs, or both."""

    name: str
    found: Found | None
    plugin: Any
    status: Status | None
    state: str
    error: str = ""


async def run(args: str, ctx: Any, session: SessionFacts) -> str | None:
    """Does what the words say; without any it lists."""
    word, *names = args.split() or ["list"]
    if word in IN_SHELL:
        raise UsageError(f"/ext {word}: `!zot ext {word}` does that, and /reload-ext takes what it brought")
    if word not in WORDS:
        if names:
            raise UsageError(f"/ext {word}: there are {', '.join(WORDS)}, or a name alone")
        return _about(_row_named(word, ctx, session))
    if len(names) != WORDS[word]:
        needs = "needs the name of one extension" if WORDS[word] else "takes no name"
        raise UsageError(f"/ext {word} {needs}; /ext lists them")
    if word == "reload":
        return _reloaded(await ctx.reload("extensions"))
    if word == "list":
        return _listed(ctx, session)
    if word == "logs":
        return await asyncio.to_thread(_log, names[0], ctx, session)
    return await asyncio.to_thread(_switched, names[0], word == "enable", ctx, session)


def complete(text: str, session: SessionFacts) -> list[str]:
    """Completions: a word, or the name that follows it."""
    word, space, start = text.partition(" ")
    if not space:
        return [f"{one} " if named else one for one, named in WORDS.items() if one.startswith(word.lower())]
    if not WORDS.get(word):
        return []
    names = {
        one.name for one in _find(session) if word == "logs" or (one.manifest and one.enabled != (word == "enable"))
    }
    return [f"{word} {name}" for name in sorted(names) if name.startswith(start.strip())]


def _find(session: SessionFacts) -> list[Found]:
    places = session.extension_places
    return find_extensions(session.extensions, session.cwd, session.trusted, session.home, more=places)


def _rows(ctx: Any, session: SessionFacts) -> Iterator[_Row]:
    running = {row.name.removeprefix("ext:"): row for row in ctx.plugins() if row.name.startswith("ext:")}
    errors = {
        row.plugin.removeprefix("ext:"): row.message for row in ctx.diagnostics.rows if row.plugin.startswith("ext:")
    }
    for found in _find(session):
        loaded = running.get(found.name)
        mine = loaded is not None and loaded.origin == str(found.folder)
        if mine:
            running.pop(found.name)
        yield _row(found.name, found, loaded if mine else None, errors, session)
    for name, loaded in running.items():  # still at work, and no longer in its folder
        yield _row(name, None, loaded, errors, session)


def _row(name: str, found: Found | None, loaded: Any, errors: Mapping[str, str], session: SessionFacts) -> _Row:
    plugin: Any = None if loaded is None else loaded.plugin
    status: Status | None = plugin.status() if hasattr(plugin, "status") else None
    error = ""
    if plugin is not None:
        state = status.state if status is not None else "ready"
        error = status.error if status is not None else ""
        if found is None:
            state += ", gone from disk"
        elif found.skipped:
            state += f", {found.skipped} from /reload-ext on"
    elif found is None or found.skipped:
        state = "" if found is None else found.skipped
        error = f"{found.shadowed_by} has its name" if found is not None and found.shadowed_by else ""
    elif found.error is not None:
        state, error = "failed", str(found.error)
    elif session.no_extensions and found.tier != EXPLICIT:
        state = "off (--no-ext)"
    elif name in errors:
        state, error = "failed", errors[name]
    else:
        state = "new: /reload-ext starts it"
    return _Row(name=name, found=found, plugin=plugin, status=status, state=state, error=error)


def _listed(ctx: Any, session: SessionFacts) -> str:
    rows = list(_rows(ctx, session))
    if not rows:
        how = "`!zot ext new NAME` makes one, `!zot ext install` brings one"
        return f"There is no extension in {session.home}/extensions; {how}."
    lines = ["| extension | state | brings | from |", "|---|---|---|---|"]
    for row in rows:
        place = _SCOPES.get(row.found.tier, "") if row.found else ""
        lines.append(f"| `{row.name}` | {row.state} | {_cell(_brings(row))} | {place} |")
    wrong = [f"- {row.name}: {' '.join(row.error.split())}" for row in rows if row.error]
    return "\n".join([*lines, *(["", *wrong] if wrong else [])])


def _brings(row: _Row) -> str:
    found: list[str] = []
    if row.status is not None:
        found += [f"/{name}" for name in row.status.commands] + list(row.status.tools)
        found += ["sees events"] if row.status.events or row.status.intercepts else []
    if row.found is not None and row.found.manifest is not None:
        found += ["a theme"] if row.found.manifest.theme else []
        found += ["skills"] if row.found.manifest.skills else []
    return ", ".join(found)


def _about(row: _Row) -> str:
    manifest, status = row.found.manifest if row.found else None, row.status
    lines = [("State", row.state)]
    if manifest is not None:
        lines += [("Version", manifest.version), ("What for", manifest.description)]
    if row.found is not None:
        lines.append(("Folder", str(row.found.folder)))
    if status is not None:
        lines += [
            ("Process", str(status.pid or "")),
            ("Commands", ", ".join(f"/{name}" for name in status.commands)),
            ("Tools", ", ".join(status.tools)),
            ("Sees", ", ".join(status.events)),
            ("Is asked at", ", ".join(status.intercepts)),
            ("Log", f"{status.log} (`/ext logs {row.name}`)"),
            ("Conflicts", "; ".join(status.conflicts)),
            ("Warnings", "; ".join(status.warnings)),
        ]
    lines.append(("Problem", row.error))
    told = [f"- {label}: {' '.join(said.split())}" for label, said in lines if said]
    return "\n".join([f"**{row.name}**", "", *told])


def _row_named(name: str, ctx: Any, session: SessionFacts) -> _Row:
    rows = list(_rows(ctx, session))
    for row in rows:
        if row.name == name:
            return row
    raise UsageError(_unknown(name, [row.name for row in rows], tuple(WORDS)))


def _unknown(name: str, known: list[str], words: tuple[str, ...] = ()) -> str:
    from difflib import get_close_matches  # only on the way to a message

    near = get_close_matches(name, [*known, *words], n=2, cutoff=0.5)
    there = ", ".join(dict.fromkeys(known)) or "none yet"
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {there}"
    return f"there is no extension {name!r}; {hint}"


def _switched(name: str, on: bool, ctx: Any, session: SessionFacts) -> str:
    from zot_plugins.extension_bridge.cli.switch import set_enabled

    mine = [one for one in _find(session) if one.name == name]
    one = next((one for one in mine if one.tier != EXPLICIT and one.skipped != "untrusted"), None)
    state = "enabled" if on else "disabled"
    if one is None:
        if mine:
            why = "the project is not trusted" if mine[0].skipped == "untrusted" else "it was named by --ext"
            raise UsageError(f"{name} cannot be {state} here: {why}")
        raise UsageError(_unknown(name, [one.name for one in _find(session)]))
    if one.manifest is None:
        raise ZotError(f"{name} cannot be {state}: {one.error}")
    if on and one.off_in:
        raise ZotError(f"{name} cannot be enabled here: {off_in(one)}")
    if one.manifest.enabled == on:
        return f"{name} is {state} already. `/reload-ext` makes what is on disk hold in this session."
    set_enabled(one, on)
    does = "starts it" if on else "ends it in this session"
    return f"{name} is {state}, in {one.folder}; `/reload-ext` {does}."


def _log(name: str, ctx: Any, session: SessionFacts) -> str:
    known = [row.name for row in _rows(ctx, session)]
    path = log_path(session.home, name)
    if check_name(name) is not None or (name not in known and not path.exists()):
        raise UsageError(_unknown(name, known))
    try:
        text = b"".join(read_bytes(part) for part in (Path(f"{path}.1"), path) if part.exists())
    except OSError as error:
        raise ZotError(f"{path}: {reason(error)}") from error
    lines = text.decode("utf-8", "replace").splitlines()
    if not lines:
        return f"{name} has no log yet ({path})."
    fence = "`" * max([3, *(len(run) + 1 for line in lines[-LINES:] for run in re.findall("`{3,}", line))])
    more = f" (the last {LINES} of {len(lines):,} lines)" if len(lines) > LINES else ""
    return "\n".join([f"{path}{more}", "", f"{fence}text", *lines[-LINES:], fence])


def _reloaded(report: Any) -> str | None:
    if not report.done:
        return None  # the person was told who refused it
    loaded = [name.removeprefix("ext:") for name in report.loaded if name.startswith("ext:")]
    failed = [f"- {name.removeprefix('ext:')}: {why}" for name, why in report.failed]
    return "\n".join([f"Started anew: {', '.join(loaded) or 'none'}.", *failed])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
