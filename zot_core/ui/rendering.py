"""What renderers of plugins are told: how a message, an entry or a tool's row is to be drawn. Data; knows no screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from zot_core.types.record import record
from zot_core.ui.keys import Keybindings


@record(kw_only=True)
class RenderOptions:
    """`expanded`: everything is to be shown. `is_partial`: what is shown still grows. `output_pad` is the columns that
    zot's own texts stand in from the left."""

    expanded: bool = False
    is_partial: bool = False
    output_pad: int = 2


@record(kw_only=True)
class MarkdownContext:
    """Where a Markdown text is to be shown. An answer comes top-level block by block, as it moves into the scrollback;
    `is_streaming` is set while a block may still grow."""

    message_type: Literal["user", "assistant", "assistant-thinking"]
    is_streaming: bool = False
    available_width: int = 80


@dataclass(slots=True, kw_only=True)
class RenderContext:
    """A tool's row. `state` is the row's own, shared by `render_call` and `render_result`; `last_component` is what the
    slot answered last; `invalidate()` has the row drawn again."""

    tool_call_id: str
    args: Mapping[str, Any]
    state: dict[str, Any] = field(default_factory=dict)
    cwd: str = ""
    last_component: Any = None
    expanded: bool = False
    is_partial: bool = False
    is_error: bool = False
    execution_started: bool = False
    args_complete: bool = True
    show_images: bool = False
    keybindings: Keybindings = field(default_factory=Keybindings)
    invalidate: Callable[[], None]
