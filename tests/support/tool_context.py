"""A small context for running a tool directly, without an agent: it records progress and lets a test abort."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from zot_core.agent.cancel import Signal
from zot_core.toolkit.process import ProcessGroups
from zot_core.types.content import as_content, text_of
from zot_core.types.specs import FilesystemPolicy, ToolResult, ToolSpec, resolve


@dataclass
class FakeToolContext:
    """What a tool receives; `updates` are what it reported, `shell_spawn` may be set to a gate."""

    cwd: Path
    call_id: str = "call-1"
    signal: Signal = field(default_factory=Signal)
    settings: Mapping[str, Any] = field(default_factory=dict)
    policies: tuple[FilesystemPolicy, ...] = ()
    secret_env: frozenset[str] = frozenset()
    processes: ProcessGroups = field(default_factory=ProcessGroups)
    supplied: Mapping[str, Any] = field(default_factory=dict)
    updates: list[tuple[str, Any]] = field(default_factory=list)
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("test"))
    session: Any = None
    models: Any = None

    def update(self, content: Any = "", details: Mapping[str, Any] | None = None) -> None:
        self.updates.append((text_of(as_content(content)), details))

    def operations(self, tool: str) -> Any:
        return self.supplied.get(tool)

    async def shell_spawn(self, command: str, cwd: str, env: Mapping[str, str]) -> Any:
        return SimpleNamespace(command=command, cwd=cwd, env=env)


def spec_of(name: str) -> ToolSpec:
    """The built-in tool of this name, as its plugin contributes it."""
    tools = import_module(f"zot_plugins.tool_{name.partition('_')[0]}.plugin").tools()
    return next(spec for spec in tools if spec.name == name)


async def call(name: str, args: Mapping[str, Any], ctx: Any) -> ToolResult:
    """Runs a built-in tool as the agent does: prepared, validated, executed."""
    spec = spec_of(name)
    if spec.prepare_arguments is not None:
        args = resolve(spec.prepare_arguments)(args)
    result: ToolResult = await resolve(spec.execute)(resolve(spec.arguments).model_validate(dict(args)), ctx)
    return result


def run(name: str, ctx: Any, **args: Any) -> ToolResult:
    """`call` in an event loop of its own; what it left running is ended."""

    async def main() -> ToolResult:
        try:
            return await call(name, args, ctx)
        finally:
            await ctx.processes.close(grace=0.2)

    return asyncio.run(main())


def said(result: ToolResult) -> str:
    """The result's text."""
    return text_of(as_content(result.content))


def schema_of(model: Any) -> Any:
    """A model's JSON Schema as literals in plugins are written: without titles and references."""
    schema = model.model_json_schema()
    parts = schema.pop("$defs", {})

    def clean(value: Any, *, names: bool = False) -> Any:
        if isinstance(value, Mapping):
            if "$ref" in value:
                return clean(parts[value["$ref"].rpartition("/")[2]])
            dropped = () if names else ("title", "description") if "properties" in value else ("title",)
            return {key: clean(item, names=key == "properties") for key, item in value.items() if key not in dropped}
        return [clean(item) for item in value] if isinstance(value, list) else value

    return clean(schema)


def descriptors() -> int:
    """How many file descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


Wait = Callable[[], bool]


async def until(condition: Wait, seconds: float = 5.0) -> None:
    """Waits for something that another process does; fails after `seconds`."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def names(paths: Iterable[Path]) -> list[str]:
    """The names of paths, sorted."""
    return sorted(path.name for path in paths)
