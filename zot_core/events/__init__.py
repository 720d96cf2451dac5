"""Every event of zot, one frozen dataclass each, a module a lane; imported a lane at a time.

A hook's name is its event's name; the class is that name in capitals plus `Event`. Zot's own code writes
`events.TurnStartEvent(...)` where it sends one, so that an event that nobody wants costs no import. Knows no plugin
and no front end.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

LANES: dict[str, tuple[str, ...]] = {
    "input": ("input", "user_bash"),
    "agent": (
        "prepare_system_prompt",
        "before_agent_start",
        "agent_start",
        "agent_end",
        "agent_before_settle",
        "agent_settled",
    ),
    "turn": ("turn_start", "turn_end", "context", "context_with_system"),
    "message": ("message_start", "message_update", "message_end", "assistant_message"),
    "tool": (
        "tool_execution_start",
        "tool_execution_update",
        "tool_execution_end",
        "tool_call",
        "tool_confirmation_requested",
        "tool_result",
        "tool_activated",
        "tool_barrier_expired",
        "shell_spawn",
    ),
    "provider": (
        "before_provider_headers",
        "before_provider_request",
        "after_provider_response",
        "provider_stream_event",
    ),
    "model": ("model_select", "thinking_level_select"),
    "session": (
        "project_trust",
        "session_start",
        "resources_discover",
        "session_shutdown",
        "session_before_switch",
        "session_before_fork",
        "session_before_reload",
        "session_before_compact",
        "session_compact",
        "session_compact_failed",
        "session_before_tree",
        "session_tree",
        "session_info_changed",
        "session_hold_changed",
        "held_wakes_released",
        "session_parked",
        "session_resumed",
        "session_control_wake",
        "session_paused",
        "session_unpaused",
        "session_move_export",
        "session_move_import",
    ),
    "ui": ("ui_prompt_start", "ui_prompt_end"),
    "plugin": ("plugin_error", "process_stop"),
}
"""Lane -> its hooks, so that a name can be checked without importing a lane. A test holds it to the classes."""

LANE_OF: dict[str, str] = {hook: lane for lane, hooks in LANES.items() for hook in hooks}


def event_class(hook: str) -> Any:
    """The class of the event `hook`; imports its lane. Raises KeyError for a name that is no event."""
    module = import_module(f"zot_core.events.{LANE_OF[hook]}")
    return getattr(module, class_name(hook))


def class_name(hook: str) -> str:
    """`tool_call` -> `ToolCallEvent`."""
    return "".join(part.capitalize() for part in hook.split("_")) + "Event"


_CLASS_HOOKS = {class_name(hook): hook for hook in LANE_OF}


def __getattr__(name: str) -> Any:
    if name in _CLASS_HOOKS:
        value = event_class(_CLASS_HOOKS[name])
    elif name in {"Block", "Event", "Fact", "Gate", "Handled", "OnError", "Question"}:
        value = getattr(import_module("zot_core.events.base"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value  # asked once: `events.MessageUpdateEvent` stands where every delta passes
    return value


if TYPE_CHECKING:
    from zot_core.events.agent import *
    from zot_core.events.base import Block as Block
    from zot_core.events.base import Event as Event
    from zot_core.events.base import Fact as Fact
    from zot_core.events.base import Gate as Gate
    from zot_core.events.base import Handled as Handled
    from zot_core.events.base import OnError as OnError
    from zot_core.events.base import Question as Question
    from zot_core.events.input import *
    from zot_core.events.message import *
    from zot_core.events.model import *
    from zot_core.events.plugin import *
    from zot_core.events.provider import *
    from zot_core.events.session import *
    from zot_core.events.tool import *
    from zot_core.events.turn import *
    from zot_core.events.ui import *
