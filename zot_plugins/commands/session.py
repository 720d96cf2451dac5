"""`/session`: what the conversation holds and what it cost, and what can be done with it.

Counts all branches of the session's file, as its cost does.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from zot_core.session.codec import decode_usage
from zot_core.types.content import Image
from zot_core.types.failure import UsageError
from zot_core.types.messages import AssistantMessage, CustomMessage, Message, ToolResultMessage, UserMessage
from zot_core.types.usage import Usage
from zot_core.ui import Picker, SelectItem
from zot_plugins.commands import export, sessions

_WORDS = {
    "name": ("give it a name", sessions.name),
    "fork": ("go on from an earlier prompt, in a copy", sessions.fork),
    "export": ("write it to a file", export.export),
}
MOST_TOOLS = 6
"""Tools that are counted by name."""


async def session(args: str, ctx: Any) -> str | None:
    """Says what the session holds and offers what can be done with it; `name`, `fork` and `export` do it at once."""
    word, _, rest = args.strip().partition(" ")
    if word:
        if word not in _WORDS:
            raise UsageError(f"/session {word}: there are {', '.join(_WORDS)}; /session alone says what it holds")
        return await _WORDS[word][1](rest, ctx)
    told = facts(ctx)
    if ctx.mode != "repl":
        return told

    def operations(tui: Any, theme: Any, keybindings: Any, done: Callable[[Any], None]) -> Picker:
        ctx.ui.display(told)  # to be seen while one chooses
        return Picker(
            "This session",
            [SelectItem(value="", label="Go on"), *(SelectItem(value=word, label=_WORDS[word][0]) for word in _WORDS)],
            lambda item: done(item.value),
            lambda: done(""),
            theme=theme,
            keybindings=keybindings,
            tui=tui,
        )

    chosen = await ctx.ui.custom(operations, title="This session")
    if chosen is None:  # there is no screen
        return told
    ctx.ui.clear_notes()
    return await _done(chosen, ctx) if chosen else told


def words(text: str) -> list[str]:
    """Completions of `/session`."""
    return [word for word in _WORDS if word.startswith(text.strip().lower())]


async def _done(word: str, ctx: Any) -> str | None:
    if word == "name":
        text = await ctx.ui.input("Name of this session", ctx.session.name or "")
        return None if not (text or "").strip() else await sessions.name(text, ctx)
    return await _WORDS[word][1]("", ctx)


def facts(ctx: Any) -> str:
    """What the session holds and what it cost, as Markdown."""
    entries = list(ctx.session.entries())
    messages = [message for entry in entries if (message := entry.message) is not None]
    answers = [message for message in messages if isinstance(message, AssistantMessage)]
    window = ctx.context_usage()
    rows = [
        ("Id", ctx.session.id),
        ("Name", ctx.session.name or "none"),
        ("File", _file(ctx.session.file)),
        ("Project", str(ctx.cwd)),
        *([("Begun", time.strftime("%Y-%m-%d %H:%M", time.localtime(entries[0].time)))] if entries else []),
        ("Prompts", sum(isinstance(message, UserMessage) for message in messages)),
        ("Tool calls", _tools(answers, messages)),
        ("Answers", len(answers)),
        *_some("Messages of plugins", sum(isinstance(message, CustomMessage) for message in messages)),
        *_some("Images", sum(isinstance(block, Image) for message in messages for block in message.content)),
        *_some("Compactions", sum(entry.kind == "compaction" for entry in entries)),
        *_costs(messages, entries),
        (
            "Window",
            f"{window.tokens:,} of {window.window:,} tokens ({window.percent:.0f}%)" if window.window else "unknown",
        ),
    ]
    return "\n".join(f"- {label}: {value}" for label, value in rows)


def _some(label: str, number: int) -> list[tuple[str, int]]:
    return [(label, number)] if number else []


def _file(path: str | None) -> str:
    if path is None:
        return "not kept"
    try:
        return f"{path} ({size(Path(path).stat().st_size)})"
    except OSError:
        return f"{path} (not written yet)"


def size(number: int) -> str:
    """Bytes, in words."""
    for unit, one in (("MB", 1_000_000), ("kB", 1_000)):
        if number >= one:
            return f"{number / one:.1f} {unit}"
    return f"{number} bytes"


def _tools(answers: Iterable[AssistantMessage], messages: Iterable[Message]) -> str:
    calls = Counter(call.name for message in answers for call in message.tool_calls)
    failed = sum(message.is_error for message in messages if isinstance(message, ToolResultMessage))
    named = [f"{name} {number}" for name, number in calls.most_common(MOST_TOOLS)]
    others = calls.total() - sum(number for _, number in calls.most_common(MOST_TOOLS))
    named += [f"others {others}"] if others else []
    words = [", ".join(named)] if named else []
    words += [f"{failed} failed"] if failed else []
    return f"{calls.total()}" + (f" ({'; '.join(words)})" if words else "")


def _costs(messages: Sequence[Message], entries: Sequence[Any]) -> list[tuple[str, str]]:
    by_model: dict[str, Usage] = {}
    for message in messages:
        if isinstance(message, AssistantMessage) and message.usage is not None:
            name = f"{message.provider}/{message.model}"
            by_model[name] = by_model.get(name, Usage()) + message.usage
    by_model |= {"tools": sum((m.usage for m in messages if isinstance(m, ToolResultMessage) and m.usage), Usage())}
    by_model |= {"summaries": sum((_usage_of(entry) for entry in entries if entry.kind == "compaction"), Usage())}
    by_model = {name: usage for name, usage in by_model.items() if usage.total}
    used = sum(by_model.values(), Usage())
    each = [(f"Of it {name}", f"{_tokens(usage)}, ${usage.cost:.4f}") for name, usage in by_model.items()]
    return [("Tokens", _tokens(used)), ("Cost", f"${used.cost:.4f}"), *(each if len(each) > 1 else [])]


def _usage_of(entry: Any) -> Usage:
    return decode_usage(entry.data.get("usage")) or Usage()


def _tokens(used: Usage) -> str:
    kept = f", {used.cache_write:,} into it" if used.cache_write else ""
    return f"{used.input:,} in, {used.cache_read:,} from the cache{kept}, {used.output:,} out"
