"""`zot doctor`: what zot found on this machine and what is wrong with it. Shows no secret, changes nothing.

Opens an App as a run would and reads what it holds; exit 1 when something is broken, 0 when there are only warnings.
"""

from __future__ import annotations

import inspect
import os
import platform
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zot_cli import running
from zot_cli.commands.tables import heading, show_json, show_rows

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.app import App
    from zot_core.frontend import Note

_FILES = ("settings", "auth", "models", "trust", "sessions", "plugins", "extensions", "system_prompt", "logs")


@dataclass(slots=True)
class Report:
    """What was found; `problems` are rows of level, source and text."""

    system: dict[str, str] = field(default_factory=dict)
    paths: list[dict[str, Any]] = field(default_factory=list)
    settings: list[dict[str, Any]] = field(default_factory=list)
    plugins: list[dict[str, Any]] = field(default_factory=list)
    project: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)
    problems: list[dict[str, str]] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is broken; warnings are no breakage."""
        return not any(row["level"] == "error" for row in self.problems)

    def problem(self, level: str, source: str, text: str) -> None:
        """Adds a row, each thing once."""
        row = {"level": level, "source": source, "text": text}
        if row not in self.problems:
            self.problems.append(row)


@click.command(
    context_settings={"ignore_unknown_options": True},
    help="Settings with their origin, paths, plugins, and what is wrong. Takes the flags of a run too.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.argument("run_flags", nargs=-1, type=click.UNPROCESSED, metavar="[FLAGS OF A RUN]...")
@click.pass_obj
def doctor(line: CommandLine, as_json: bool, run_flags: tuple[str, ...]) -> int:
    """Prints the report."""
    from zot_cli.commands.opening import with_run_flags

    report = running.run(_examine(with_run_flags(line, run_flags)))
    if as_json:
        names = ("system", "project", "paths", "settings", "plugins", "model", "problems")
        show_json({name: getattr(report, name) for name in names} | {"ok": report.ok})
    else:
        _show(report)
    return 0 if report.ok else 1


async def _examine(line: CommandLine) -> Report:
    from zot_cli import exits
    from zot_cli.commands.opening import opened
    from zot_core._version import __version__
    from zot_core.config.paths import Paths
    from zot_core.ctx.quiet import QuietFront
    from zot_core.types.failure import UsageError

    report = Report(system={"zot": __version__, "python": platform.python_version(), "platform": platform.platform()})
    report.system["executable"] = sys.executable
    front = QuietFront()
    paths = Paths.find()
    report.paths = [_path("home", paths.home), *(_path(name, getattr(paths, name)) for name in _FILES)]
    if paths.home.exists() and not os.access(paths.home, os.W_OK):
        report.problem("error", "zot", f"{paths.home} cannot be written")
    try:
        async with opened(line, front) as app:
            await _look(app, report)
    except UsageError:
        raise
    except Exception as error:  # what would end a run is a finding here
        failure = exits.failure_of(error)
        report.problem("error", "zot", getattr(failure, "message", str(failure)))
    for note in front.notes:
        _noted(report, note)
    return report


async def _look(app: App, report: Report) -> None:
    from zot_core.plugins.rank import TIER_NAMES

    runtime = app.runtime
    report.settings = [{"key": key, "value": value, "origin": origin} for key, value, origin in runtime.settings.rows()]
    report.project = {"cwd": runtime.cwd, "trusted": runtime.trusted}
    for plugin in sorted(runtime.host.plugins.values(), key=lambda row: (row.tier, row.position)):
        report.plugins.append({"name": plugin.name, "tier": TIER_NAMES[plugin.tier], "origin": plugin.origin})
    for problem in app.auth.problems:
        report.problem(problem.level, "zot", str(problem))
    for diagnostic in app.diagnostics.rows:
        report.problem(diagnostic.level, diagnostic.plugin, diagnostic.message)
    await _look_at_model(app, report)


async def _look_at_model(app: App, report: Report) -> None:
    from zot_core.types.failure import RunFailed

    choice = app.runtime.choice
    try:
        model = choice.require()
        report.model = {"provider": model.provider, "model": model.id, "api": model.api, "base_url": model.base_url}
        report.model["reasoning"] = choice.thinking
        provider = choice.provider
        if provider is None:
            return
        found = app.credential(provider)
        credential = await found if inspect.isawaitable(found) else found
    except RunFailed as error:
        report.problem("warning", "model", error.failure.message)
        return
    if credential is not None:
        report.model["credential"] = credential.source
    elif provider.keyless:
        report.model["credential"] = "none needed"
    elif provider.authorize is not None:
        report.model["credential"] = "looked for with the first request"
    else:
        report.problem("warning", "model", app.auth_missing(provider))


def _noted(report: Report, note: Note) -> None:
    if note.kind in ("diagnostic", "plugin_error") and note.level in ("warning", "error"):
        report.problem(note.level, note.source or "zot", note.text)


def _path(name: str, path: Path) -> dict[str, Any]:
    return {"name": name, "path": str(path), "exists": path.exists()}


def _show(report: Report) -> None:
    rows = [{"name": name, "value": value} for part in (report.system, report.project) for name, value in part.items()]
    rows += [{"name": name, "value": value} for name, value in report.model.items() if value]
    show_rows(rows, ("name", "value"))
    for title, found, columns in (
        ("Paths", report.paths, ("name", "exists", "path")),
        ("Settings", report.settings, ("key", "value", "origin")),
        ("Plugins", report.plugins, ("name", "tier", "origin")),
        ("Problems", report.problems, ("level", "source", "text")),
    ):
        if found:
            heading(f"\n{title}")
            show_rows(found, columns)
    errors = sum(row["level"] == "error" for row in report.problems)
    broken = f"{errors} {'thing is' if errors == 1 else 'things are'} broken; see the errors above."
    heading("\n" + (broken if errors else "Nothing is broken." if report.problems else "All is well."))
