"""Which events the code sends, found by reading it: a module that builds an event has a call site for it.

Building is what counts: what is built is handed to the pipeline.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from zot_core.events import LANE_OF, class_name

ROOT = Path(__file__).parents[2]
PACKAGES = ("zot_core", "zot_plugins", "zot_cli")
NOT_SENDERS = ("zot_core/events/", "zot_core/testing/")
"""Rooms that build events without sending them: the declarations, and the kit for tests."""


@cache
def call_sites() -> dict[str, tuple[str, ...]]:
    """Hook -> the modules that build its event, sorted; empty for events that nothing sends yet."""
    found: dict[str, set[str]] = {hook: set() for hook in LANE_OF}
    hooks = {class_name(hook): hook for hook in LANE_OF}
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(NOT_SENDERS):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and (hook := _built(node, hooks)):
                found[hook].add(name.removesuffix(".py").replace("/", "."))
    return {hook: tuple(sorted(modules)) for hook, modules in found.items()}


def sources() -> list[Path]:
    """Every Python file of the three packages."""
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def _built(node: ast.Call, hooks: dict[str, str]) -> str:
    """The hook whose event this call builds, or looks up to build it; "" for any other call."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "event_class" and isinstance(node.args[0], ast.Constant):
        return str(node.args[0].value)
    return hooks.get(name, "")
