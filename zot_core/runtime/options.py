"""What a command line (or an embedding program) asks of the App. Data only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from zot_core.types.record import record
from zot_core.types.specs import FlagSpec, Mode, ThinkingLevel


@record(kw_only=True)
class Options:
    """What a command line (or an embedding program) asks for; see docs/reference/command-line.md for each flag.

    `explicit` are the plugins and extensions of the line, in its order. `reparse` reads the line again once the
    flags of plugins are known, and raises UsageError for what is still unknown; without it `flags` are taken as they
    are.
    """

    cwd: str
    cwd_given: bool = False
    mode: Mode = "print"
    provider: str = ""
    model: str = ""
    models: tuple[str, ...] = ()
    api_key: str = ""
    base_url: str = ""
    api: str = ""
    system_prompt: str | None = None
    append_system_prompt: tuple[str, ...] = ()
    reasoning: ThinkingLevel | None = None
    continue_session: bool = False
    resume: str | None = None
    session: str | None = None
    fork: str | None = None
    no_session: bool = False
    session_dir: str | None = None
    tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    no_tools: bool = False
    no_builtin_tools: bool = False
    max_steps: int | None = None
    explicit: tuple[tuple[Literal["ext", "plugin"], str], ...] = ()
    no_ext: bool = False
    no_plugins: bool = False
    no_builtins: bool = False
    trust: bool | None = None
    offline: bool = False
    flags: Mapping[str, Any] = field(default_factory=dict)
    unparsed: tuple[str, ...] = ()
    reparse: Callable[[Sequence[FlagSpec]], Mapping[str, Any]] | None = None
