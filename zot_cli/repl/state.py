"""What there is to show, as data, and how events change it. Pure: a state and an event give the next state.

`settled` says which blocks are finished and move up into the terminal's own scrollback, where they stay as printed.
Must not know a width, a style or a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Literal, TypeAlias

from zot_core.types.content import Image
from zot_core.types.record import record
from zot_core.types.usage import Usage

Level: TypeAlias = Literal["info", "success", "warning", "error"]
Status: TypeAlias = Literal["writing", "waiting", "running", "done", "failed", "blocked", "aborted"]


@record(kw_only=True)
class Said:
    """What a person sent. `pictures` came with it."""

    text: str
    pictures: tuple[Image, ...] = ()


@record(kw_only=True)
class Thought:
    """What the model thought, as it comes."""

    text: str
    done: bool = False


@record(kw_only=True)
class Answer:
    """Markdown of the model, as it comes. `withheld` says that a plugin kept the text back, `reason` why."""

    text: str
    done: bool = False
    withheld: bool = False
    reason: str = ""


@record(kw_only=True)
class ToolRow:
    """One tool call, from its first letter to its result. Times are `time.monotonic()` seconds."""

    call_id: str
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    status: Status = "writing"
    progress: str = ""
    result: tuple[Any, ...] = ()
    details: Mapping[str, Any] | None = None
    since: float = 0.0
    took: float | None = None

    @property
    def done(self) -> bool:
        """Whether nothing of it changes any more."""
        return self.status in ("done", "failed", "blocked", "aborted")


@record(kw_only=True)
class Told:
    """Something for the person that is no part of the conversation and stays: an error, a warning, an answer of a
    command. `source` is the plugin's name, empty for zot's own word."""

    text: str
    source: str = ""
    level: Level = "info"
    markdown: bool = False


@record(kw_only=True)
class Custom:
    """A plugin's message in the conversation."""

    custom_type: str
    content: tuple[Any, ...]
    details: Mapping[str, Any] | None = None


@record(kw_only=True)
class Card:
    """An entry that a plugin keeps and draws. Not `done` while the next one may take its place."""

    id: str
    custom_type: str
    data: Mapping[str, Any] = field(default_factory=dict)
    done: bool = True


Block: TypeAlias = Said | Thought | Answer | ToolRow | Told | Custom | Card


@record(kw_only=True)
class Flash:
    """A one-shot note below the transcript; the next prompt, Esc and `/clear` take it away. A `sticky` one is for its
    source to take."""

    source: str
    text: str
    level: Level = "info"
    display: bool = False
    sticky: bool = False


@record(kw_only=True)
class Waiting:
    """Something typed while a run goes on."""

    kind: Literal["steer", "follow_up"]
    text: str


@record(kw_only=True)
class State:
    """All that the screen shows but the editor and dialogs. `since` is when the run began, or the `activity` that goes
    on without one, by `time.monotonic()`."""

    blocks: tuple[Block, ...] = ()
    flashes: tuple[Flash, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    running: bool = False
    since: float = 0.0
    activity: str = ""
    run_usage: Usage = field(default_factory=Usage)
    statuses: Mapping[str, str] = field(default_factory=dict)
    over: frozenset[str] = frozenset()
    """Calls of this run that have ended."""


def append(state: State, block: Block) -> State:
    """One more block at the end; what the model was saying is over."""
    return replace(state, blocks=(*_sealed(state.blocks), block))


def replaced_last(state: State, block: Block) -> State:
    """The state with `block` in the place of the last one."""
    return replace(state, blocks=(*state.blocks[:-1], block))


def flash(state: State, note: Flash) -> State:
    """One more one-shot note."""
    return replace(state, flashes=(*state.flashes, note))


def unflash(state: State, source: str | None = None) -> State:
    """Takes the one-shot notes of `source` away, or all."""
    kept = (note for note in state.flashes if (note.sticky if source is None else note.source != source))
    return replace(state, flashes=tuple(kept))


def text_delta(state: State, text: str) -> State:
    """More of the answer."""
    blocks = state.blocks
    if blocks and isinstance(last := blocks[-1], Answer) and not last.done:
        return replace(state, blocks=(*blocks[:-1], replace(last, text=last.text + text)))
    return replace(state, blocks=(*_sealed(blocks), Answer(text=text)))


def thinking_delta(state: State, text: str) -> State:
    """More of what the model thinks."""
    blocks = state.blocks
    if blocks and isinstance(last := blocks[-1], Thought) and not last.done:
        return replace(state, blocks=(*blocks[:-1], replace(last, text=last.text + text)))
    return replace(state, blocks=(*_sealed(blocks), Thought(text=text)))


def answer_over(state: State) -> State:
    """The model's message has ended: nothing of its text changes any more."""
    return replace(state, blocks=_closed(state.blocks))


def voided(state: State) -> State:
    """The request starts over: what is still in the live area of this answer is taken back."""
    kept = tuple(
        block
        for block in state.blocks
        if not (isinstance(block, Answer | Thought) and not block.done)
        and not (isinstance(block, ToolRow) and block.status == "writing")
    )
    return replace(state, blocks=kept)


def tool(state: State, call_id: str, **changes: Any) -> State:
    """The row of a call with other values; a new one if the call begins. What comes late, or of a call that nobody has
    named, changes nothing."""
    rows = [n for n, block in enumerate(state.blocks) if isinstance(block, ToolRow) and block.call_id == call_id]
    if rows and not is_done(row := state.blocks[rows[-1]]):
        changed = replace(row, **changes)
        blocks = (*state.blocks[: rows[-1]], changed, *state.blocks[rows[-1] + 1 :])
        over = state.over | {call_id} if is_done(changed) else state.over
        return replace(state, blocks=blocks, over=over)
    begins = changes.get("status") == "waiting"  # some servers use an id again
    if "name" not in changes or (not begins and (rows or call_id in state.over)):
        return state
    fresh = ToolRow(call_id=call_id, **changes)
    over = state.over | {call_id} if fresh.done else state.over - {call_id}
    return replace(append(state, fresh), over=over)


def started(state: State, now: float) -> State:
    """A run has begun."""
    return replace(state, running=True, since=now, activity="", run_usage=Usage(), over=frozenset())


def busy(state: State, activity: str, now: float) -> State:
    """Something goes on that is no answer of the model, within a run or without one."""
    return replace(state, activity=activity, since=state.since if state.running else now)


def ended(state: State) -> State:
    """The run is over: calls that never ended were cut off."""
    blocks = tuple(
        replace(block, status="aborted") if isinstance(block, ToolRow) and not block.done else block
        for block in _closed(state.blocks)
    )
    over = state.over | {block.call_id for block in blocks if isinstance(block, ToolRow)}
    return replace(state, blocks=blocks, running=False, activity="", over=over)


def requeued(state: State, text: str, now: str) -> State:
    """What was typed waits as `now`, which a template or a plugin made of it; "": it does not wait."""
    waiting = list(state.waiting)
    place = next((place for place, one in reversed(list(enumerate(waiting))) if one.text == text), None)
    if place is None or now == text:
        return state
    waiting[place : place + 1] = [replace(waiting[place], text=now)] if now else []
    return replace(state, waiting=tuple(waiting))


def used(state: State, usage: Usage) -> State:
    """A model call was counted."""
    return replace(state, run_usage=state.run_usage + usage)


def settled(state: State) -> tuple[State, tuple[Block, ...]]:
    """The state without the finished blocks at its beginning, and those blocks: they move up."""
    place = 0
    while place < len(state.blocks) and is_done(state.blocks[place]):
        place += 1
    return (replace(state, blocks=state.blocks[place:]), state.blocks[:place]) if place else (state, ())


def is_done(block: Block) -> bool:
    """Whether a block stays as it is from now on."""
    return getattr(block, "done", True)


def _closed(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    return tuple(
        replace(block, done=True) if isinstance(block, Answer | Thought) and not block.done else block
        for block in blocks
    )


def _sealed(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks when something comes after them: no entry takes the place of the last one any more."""
    return tuple(
        replace(block, done=True) if isinstance(block, Card) and not block.done else block for block in _closed(blocks)
    )
