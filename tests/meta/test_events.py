"""The declared events are those that were promised, and their classes say all that the pipeline needs."""

from __future__ import annotations

import dataclasses
import inspect
from importlib import import_module
from typing import Any

import pytest

from zot_core import events
from zot_core.events import LANE_OF, LANES, class_name, event_class
from zot_core.events.base import Event, Fact, Gate, Question
from zot_core.hooks.contributions import CONTRIBUTIONS

PROMISED_EVENTS = """
project_trust session_start resources_discover session_shutdown session_before_switch session_before_fork
session_before_reload session_before_compact session_compact session_compact_failed session_before_tree session_tree
session_info_changed session_hold_changed held_wakes_released session_parked session_resumed session_control_wake
session_paused session_unpaused session_move_export session_move_import input user_bash prepare_system_prompt
before_agent_start agent_start agent_end agent_before_settle agent_settled turn_start turn_end context
context_with_system before_provider_headers before_provider_request after_provider_response provider_stream_event
message_start message_update message_end assistant_message tool_execution_start tool_execution_update
tool_execution_end tool_call tool_confirmation_requested tool_result tool_activated tool_barrier_expired model_select
thinking_level_select ui_prompt_start ui_prompt_end shell_spawn plugin_error process_stop
""".split()
PROMISED_CONTRIBUTIONS = """
flags sources cli settings tools commands shortcuts providers virtual_models api_formats mcp_servers
filesystem_policies message_renderers entry_renderers markdown_transformers themes prompts skills memory_reporters
session_importers tool_operations
""".split()
KINDS = {
    "project_trust": Question,
    "resources_discover": Question,
    "user_bash": Question,
    **dict.fromkeys(
        "session_before_switch session_before_fork session_before_reload session_before_compact session_before_tree "
        "session_move_export input prepare_system_prompt before_agent_start agent_before_settle turn_start turn_end "
        "context context_with_system before_provider_headers before_provider_request message_end assistant_message "
        "tool_call tool_result shell_spawn".split(),
        Gate,
    ),
}
"""What is no Fact."""


def test_every_promised_hook_is_declared() -> None:
    assert sorted(LANE_OF) == sorted(PROMISED_EVENTS)
    assert set(PROMISED_CONTRIBUTIONS) <= set(CONTRIBUTIONS)
    assert not set(CONTRIBUTIONS) & set(LANE_OF)


@pytest.mark.parametrize("hook", PROMISED_EVENTS)
def test_an_event_is_of_its_kind(hook: str) -> None:
    assert issubclass(event_class(hook), KINDS.get(hook, Fact))


@pytest.mark.parametrize("lane", LANES)
def test_lanes_list_exactly_their_classes(lane: str) -> None:
    module = import_module(f"zot_core.events.{lane}")
    declared = [
        name
        for name, thing in vars(module).items()
        if isinstance(thing, type) and issubclass(thing, Event) and thing.__module__ == module.__name__
    ]
    assert sorted(declared) == sorted(map(class_name, LANES[lane]))
    assert set(declared) <= set(module.__all__)


@pytest.mark.parametrize("hook", PROMISED_EVENTS)
def test_an_event_is_whole(hook: str) -> None:
    event: Any = event_class(hook)
    fields = {field.name for field in dataclasses.fields(event)}
    assert event.hook == hook
    assert event.__dataclass_params__.frozen and "__slots__" in vars(event)
    assert inspect.getdoc(event)
    assert getattr(event, "rewritable", frozenset()) <= fields
    if issubclass(event, Question):
        assert event.answer


@pytest.mark.parametrize("hook", PROMISED_EVENTS)
def test_a_class_is_reached_by_its_name(hook: str) -> None:
    assert getattr(events, class_name(hook)) is event_class(hook)
