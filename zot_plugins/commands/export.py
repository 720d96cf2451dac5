"""`/export`: the session as Markdown or JSON lines in a new file of the person's choice."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

from zot_core.session.export import as_markdown, entry_json
from zot_core.types.failure import UsageError


async def export(args: str, ctx: Any) -> str:
    """Writes the file; without a name it is the session's id in the project. An existing file is left as it is."""
    return await asyncio.to_thread(_written, args, ctx)


def _written(args: str, ctx: Any) -> str:
    view = ctx.session
    name = args.strip().strip("\"'") or f"zot-{view.id}.md"
    path = Path(ctx.cwd, Path(name).expanduser())
    if path.suffix not in (".md", ".jsonl"):
        raise UsageError(f"{name}: end it in .md or .jsonl, which says what to write")
    entries = view.branch()
    if path.suffix == ".jsonl":
        text = "".join(json.dumps(entry_json(entry), ensure_ascii=False, default=str) + "\n" for entry in entries)
    else:
        began = entries[0].time if entries else time.time()
        text = as_markdown(view.id, view.name, str(ctx.cwd), began, entries)
    try:
        with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} exists and is left as it is; name another file") from None
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    return f"Written: {path}"
