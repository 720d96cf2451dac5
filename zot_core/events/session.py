"""Events of sessions: trust, start and end, replacement, compaction, the tree, holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from zot_core.events.base import Block, Fact, Gate, OnError, Question
from zot_core.types.record import record
from zot_core.types.specs import ResourcePath
from zot_core.types.usage import Usage

__all__ = [
    "BranchSummary",
    "Compaction",
    "HeldWakesReleasedEvent",
    "ProjectTrustEvent",
    "Resources",
    "ResourcesDiscoverEvent",
    "SessionBeforeCompactEvent",
    "SessionBeforeForkEvent",
    "SessionBeforeReloadEvent",
    "SessionBeforeSwitchEvent",
    "SessionBeforeTreeEvent",
    "SessionCompactEvent",
    "SessionCompactFailedEvent",
    "SessionControlWakeEvent",
    "SessionHoldChangedEvent",
    "SessionInfoChangedEvent",
    "SessionMoveExportEvent",
    "SessionMoveImportEvent",
    "SessionParkedEvent",
    "SessionPausedEvent",
    "SessionResumedEvent",
    "SessionShutdownEvent",
    "SessionStartEvent",
    "SessionTreeEvent",
    "SessionUnpausedEvent",
    "Trust",
]

StartReason = Literal["startup", "reload", "new", "resume", "fork"]


@record
class Trust:
    """A plugin's decision on a project; `remember` keeps it in trust.json, else it lasts for this process."""

    trusted: bool
    remember: bool = False


@record(kw_only=True)
class ProjectTrustEvent(Question):
    """Sent before a project with configuration of its own is used, to user, installed and explicit plugins, unless the
    command line decided. Their ctx is limited: cwd, mode, has_ui, ui. None is undecided: then trust.json, then the
    person."""

    cwd: str
    found: tuple[str, ...] = ()
    """What there is to trust: paths below the project."""
    answer = (Trust,)


@record(kw_only=True)
class SessionStartEvent(Fact):
    """Sent first in a session, once its plugins are loaded. `attended` false: nobody is there, automatic turns wait."""

    reason: StartReason
    previous_session_file: str | None = None
    attended: bool = True


@record
class Resources:
    """What a plugin brings at run time: paths (text) or `ResourcePath`s with a scope of their own."""

    skills: tuple[str | ResourcePath, ...] = ()
    prompts: tuple[str | ResourcePath, ...] = ()
    themes: tuple[str | ResourcePath, ...] = ()
    hooks: tuple[str | ResourcePath, ...] = ()


@record(kw_only=True)
class ResourcesDiscoverEvent(Question):
    """Sent after `session_start`; every handler's `Resources` is taken, with its owner."""

    cwd: str
    reason: Literal["startup", "reload"] = "startup"
    scoped_entries: bool = True
    answer = (Resources,)


@record(kw_only=True)
class SessionShutdownEvent(Fact):
    """Sent last in a session, before it is replaced or zot ends. A handler over its budget is reported, then
    cancelled."""

    reason: Literal["quit", "reload", "new", "resume", "fork"]
    target_session_file: str | None = None
    signal: Any = None
    budget = (2.0, 10.0)


@record(kw_only=True)
class SessionBeforeSwitchEvent(Gate):
    """Sent before another session takes this one's place; Block keeps this one."""

    reason: Literal["new", "resume"]
    target_session_file: str | None = None
    stops = frozenset({Block})


@record(kw_only=True)
class SessionBeforeForkEvent(Gate):
    """Sent before a session is forked at an entry (`before`: without it, `at`: with it); Block keeps this one."""

    entry_id: str
    position: Literal["before", "at"] = "before"
    stops = frozenset({Block})
    modes = "R I"


@record(kw_only=True)
class SessionBeforeReloadEvent(Gate):
    """Sent before a reload; Block stops it with its reason as a warning. May be asked twice: be quick, change
    nothing."""

    stops = frozenset({Block})
    modes = "R I"


@record(kw_only=True)
class Compaction:
    """A summary that takes the place of everything before `first_kept_entry_id`."""

    summary: str
    first_kept_entry_id: str
    tokens_before: int
    usage: Usage | None = None
    details: Mapping[str, Any] | None = None


@record(kw_only=True)
class SessionBeforeCompactEvent(Gate):
    """Sent before a compaction; Block cancels it, a `compaction` of the handler's own is used as it is."""

    preparation: Any
    branch_entries: tuple[Any, ...] = ()
    custom_instructions: str = ""
    reason: Literal["manual", "threshold", "overflow"] = "manual"
    will_retry: bool = False
    signal: Any = None
    compaction: Compaction | None = None
    rewritable = frozenset({"compaction"})
    stops = frozenset({Block})


@record(kw_only=True)
class SessionCompactEvent(Fact):
    """Sent after a compaction; look at `accepted` first: a rejected one has `rejection_cause` and no entry."""

    accepted: bool
    reason: Literal["manual", "threshold", "overflow"]
    compaction_entry: Any = None
    from_plugin: bool = False
    will_retry: bool = False
    rejection_cause: str = ""


@record(kw_only=True)
class SessionCompactFailedEvent(Fact):
    """Sent when a compaction failed or was aborted; the session is as it was."""

    reason: Literal["manual", "threshold", "overflow"]
    error_message: str = ""
    aborted: bool = False
    will_retry: bool = False
    from_plugin: bool = False


@record(kw_only=True)
class BranchSummary:
    """What was on a branch that is being left."""

    summary: str
    usage: Usage | None = None
    details: Mapping[str, Any] | None = None


@record(kw_only=True)
class SessionBeforeTreeEvent(Gate):
    """Sent before another place in the session's tree becomes its end; Block cancels, `summary` is kept for the old
    branch."""

    preparation: Any
    signal: Any = None
    summary: BranchSummary | None = None
    rewritable = frozenset({"summary"})
    stops = frozenset({Block})
    modes = "R I, commands"


@record(kw_only=True)
class SessionTreeEvent(Fact):
    """Sent after the session's end moved within its tree."""

    new_leaf_id: str | None
    old_leaf_id: str | None
    summary_entry: Any = None
    from_plugin: bool = False
    modes = "R I, commands"


@record(kw_only=True)
class SessionInfoChangedEvent(Fact):
    """Sent when the session's name changed; None when it was cleared."""

    name: str | None = None


@record(kw_only=True)
class SessionHoldChangedEvent(Fact):
    """Sent when automatic turns are held or may go on; `holds` are kind, key and data of each hold in force."""

    change: Literal["paused", "resumed"]
    pause_seq: int
    holds: tuple[Mapping[str, Any], ...] = ()
    modes = "R I"


@record(kw_only=True)
class HeldWakesReleasedEvent(Fact):
    """Sent after a hold ended, with the number of held wakes per source. Read your state again before you schedule."""

    counts: Mapping[str, int] = field(default_factory=dict)
    modes = "R I"


@record(kw_only=True)
class SessionParkedEvent(Fact):
    """Sent once when the last client of a kept RPC session is gone."""

    modes = "R"


@record(kw_only=True)
class SessionResumedEvent(Fact):
    """Sent once when the first client is back at a parked session."""

    modes = "R"


@record(kw_only=True)
class SessionControlWakeEvent(Fact):
    """Sent when a control endpoint may have work; `reasons` are all edges of this pass, `reason` the weightiest."""

    reason: str
    reasons: tuple[str, ...] = ()
    delivery_ids: tuple[str, ...] = ()
    modes = "I"


@record(kw_only=True)
class SessionPausedEvent(Fact):
    """Sent once when a session stops to start automatic turns."""

    pause_seq: int
    modes = "R I"


@record(kw_only=True)
class SessionUnpausedEvent(Fact):
    """Sent once for each `session_paused` when automatic turns may start again."""

    pause_seq: int
    modes = "R I"


@record(kw_only=True)
class SessionMoveExportEvent(Gate):
    """Sent when a session is exported as a bundle: write what you keep elsewhere into `dir`. Block refuses the
    export."""

    move_id: str
    dir: str
    signal: Any = None
    stops = frozenset({Block})
    on_error = OnError.BLOCK
    budget = (2.0, 10.0)
    modes = "–"


@record(kw_only=True)
class SessionMoveImportEvent(Fact):
    """Sent right after `session_start` of an imported session; may come again with `redelivered`, so be idempotent."""

    dir: str
    redelivered: bool = False
    signal: Any = None
    budget = (2.0, 10.0)
    modes = "–"
