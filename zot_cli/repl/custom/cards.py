"""Plugins' entries in the transcript: appended as they come, found again when a session is resumed. Pure but for what
the renderers say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from zot_cli.repl.state import Block, Card, State, append, replaced_last

if TYPE_CHECKING:
    from zot_cli.repl.custom.rendering import Rendering


def card_of(entry: Any, rendering: Rendering) -> Card | None:
    """The block of a session's entry; None for one that no renderer draws."""
    if entry.kind != "custom":
        return None
    data = entry.data
    custom_type = str(data.get("custom_type", ""))
    if not rendering.has_entry(custom_type):
        return None
    done = not rendering.replaceable(custom_type)
    return Card(id=entry.id, custom_type=custom_type, data=data.get("data") or {}, done=done)


def with_card(state: State, card: Card, rendering: Rendering) -> State:
    """The state with one more entry, in the place of the one before where its renderer says so."""
    before = state.blocks[-1] if state.blocks else None
    return replaced_last(state, card) if rendering.replaces(before, card) else append(state, card)


def stored_cards(branch: Iterable[Any], rendering: Rendering) -> dict[str, list[Block]]:
    """The entries of a session by the id of the message that they come after, "" for none."""
    found: dict[str, list[Block]] = {}
    after = ""
    for entry in branch:
        if entry.kind in ("message", "custom_message"):
            after = entry.id
        elif (card := card_of(entry, rendering)) is not None:
            found.setdefault(after, []).append(card)
    return found


def merged(blocks: Sequence[Block], rendering: Rendering) -> list[Block]:
    """The blocks without entries that the next one took the place of."""
    kept: list[Block] = []
    for block in blocks:
        if isinstance(block, Card) and kept and rendering.replaces(kept[-1], block):
            kept[-1] = block
        else:
            kept.append(block)
    return kept
