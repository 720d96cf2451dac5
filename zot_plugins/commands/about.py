"""Commands that say what there is, and `/reload`: tools, plugins, trust, changelog."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from zot_core._version import __version__
from zot_core.config.paths import Paths
from zot_core.config.trust import TrustStore
from zot_core.plugins.rank import TIER_NAMES
from zot_core.types.failure import UsageError


def tool_words(text: str) -> list[str]:
    """Completions of `/tools`."""
    return [word for word in ("on ", "off ") if word.startswith(text.lower())]


def trust_words(text: str) -> list[str]:
    """Completions of `/trust`."""
    return [word for word in ("yes", "no", "forget") if word.startswith(text.strip().lower())]


async def tools(args: str, ctx: Any) -> str:
    """Lists the tools, or offers some to the model (`on NAME`) or no more (`off NAME`)."""
    word, *names = args.split() or [""]
    active = set(ctx.tools.active())
    if word in ("on", "off") and names:
        ctx.tools.set_active(sorted(active | set(names) if word == "on" else active - set(names)))
        active = set(ctx.tools.active())
    elif word:
        raise UsageError("/tools lists; /tools on NAME... and /tools off NAME... choose")
    rows = [
        f"| {'●' if spec.name in active else '○'} `{spec.name}` | {_first_sentence(spec.description)} |"
        for spec in ctx.tools.all()
        if spec.exposure != "hidden"
    ]
    return "\n".join(["| tool | what it is for |", "|---|---|", *rows])


async def plugins(args: str, ctx: Any) -> str:
    """What is loaded, in order, and what is wrong with it."""
    rows = [f"| `{row.name}` | {TIER_NAMES[row.tier]} | {row.origin} |" for row in ctx.plugins()]
    wrong = [f"- {row.plugin}: {row.message}" for row in ctx.diagnostics.rows if row.level != "info"]
    return "\n".join(["| plugin | from | where |", "|---|---|---|", *rows, *(["", *wrong] if wrong else [])])


async def trust(args: str, ctx: Any) -> str:
    """Says whether the project is trusted, or keeps a decision; it holds from the next start or `/reload` on."""
    word = args.strip().lower()
    if word not in ("", "yes", "no", "forget"):
        raise UsageError("/trust takes yes, no or forget")
    store = TrustStore(Paths.find())
    if word:
        store.set(ctx.cwd, {"yes": True, "no": False, "forget": None}[word])
        kept = {"yes": "is trusted", "no": "is not trusted", "forget": "will be asked about"}[word]
        return f"{ctx.cwd} {kept}. `/reload` makes it hold in this session."
    now = "trusted" if ctx.is_project_trusted() else "not trusted"
    kept_one = store.get(ctx.cwd)
    stored = "nothing is kept about it" if kept_one is None else f"kept: {'yes' if kept_one else 'no'}"
    return f"{ctx.cwd} is {now} ({stored})."


async def changelog(args: str, ctx: Any) -> str:
    """What is new, from the CHANGELOG of this installation where there is one."""
    return await asyncio.to_thread(_news)


def _news() -> str:
    for folder in Path(__file__).resolve().parents[2:4]:
        file = folder / "CHANGELOG.md"
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            return "\n## ".join(text.split("\n## ")[:3])
    return f"zot {__version__}"


async def reload(args: str, ctx: Any) -> str | None:
    """Settings, plugins and extensions anew; what failed is told."""
    shown = ctx.ui.theme is not None  # a screen says it by itself
    report = await ctx.reload()
    return None if shown else _reloaded(report, "plugins")


async def reload_ext(args: str, ctx: Any) -> str | None:
    """Extensions anew, each beside its old self until it runs."""
    shown = ctx.ui.theme is not None
    report = await ctx.reload("extensions")
    return None if shown else _reloaded(report, "extensions")


def _reloaded(report: Any, what: str) -> str | None:
    if not report.done:
        return None  # the person was told who refused it
    loaded = [name for name in report.loaded if what == "plugins" or name.startswith("ext:")]
    failed = [f"- {name.removeprefix('ext:')}: {reason}" for name, reason in report.failed]
    return "\n".join([f"Loaded anew: {len(loaded)} {what}.", *failed])


def _first_sentence(text: str) -> str:
    return _cell(" ".join(text.split()).partition(". ")[0].rstrip("."))


def _cell(text: str) -> str:
    """Text for a cell of a table."""
    return text.replace("|", "\\|")
