"""From the transcript to what a model may be sent: every call paired with its result, nothing empty, nothing foreign.

Pure and repeatable: the same messages give the same result, which is what providers cache by. Knows no wire format.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from zot_core.models.growing import Grown
from zot_core.types.content import AssistantContent, Image, Text, Thinking, ToolCall, UserContent
from zot_core.types.messages import AssistantMessage, CustomMessage, Message, ToolResultMessage, UserMessage
from zot_core.types.specs import ModelSpec

NO_OUTPUT = "(no output)"
NO_RESULT = "No result: the run ended before this tool was finished."


def project(messages: Sequence[Message], model: ModelSpec, grown: Grown | None = None) -> list[Message]:
    """The messages that `model` may be sent, in order.

    Results follow their call at once, in the order of the calls; a missing one is made up as an error, an orphan is
    left out. Thinking and opaque state of another model are left out, and so is thinking of an aborted answer that was
    never signed. Blank text and messages without content are dropped; pictures become a line of text for a model that
    takes none. Custom messages become the user's. `grown` is what an earlier call for the same model left.
    """
    sees = "image" in model.inputs
    done, sent = grown.resume(messages) if grown is not None else (0, [])
    waiting: dict[str, ToolCall] = {}
    results: dict[str, ToolResultMessage] = {}
    held: list[Message] = []  # said between a call and its result: it comes after

    def settle() -> None:
        sent.extend(results.get(call_id) or _missing(call) for call_id, call in waiting.items())
        waiting.clear()
        results.clear()
        sent.extend(held)
        held.clear()

    for message in messages[done:] if done else messages:
        if isinstance(message, ToolResultMessage):
            if message.call_id in waiting and message.call_id not in results:
                results[message.call_id] = _result(message, sees)
                if len(results) == len(waiting):
                    settle()
        elif isinstance(message, AssistantMessage):
            settle()
            if (kept := _assistant(message, model)) is not None:
                sent.append(kept)
                waiting.update((call.id, call) for call in kept.tool_calls)
        elif (said := _user(message, sees)) is not None:
            (held if waiting else sent).append(said)
    if grown is not None and not waiting:
        grown.keep(messages, sent)  # with calls open, what comes next may still change what stands here
    settle()
    return sent


def made_by(message: AssistantMessage, model: ModelSpec) -> bool:
    """Whether `model` itself said this, so that its signatures and opaque state may go back to it."""
    return message.provider == model.provider and message.model == model.id and message.api == model.api


def _assistant(message: AssistantMessage, model: ModelSpec) -> AssistantMessage | None:
    own = made_by(message, model)
    cut = message.stop in {"aborted", "error"}
    blocks: list[AssistantContent] = []
    seen: set[str] = set()
    for block in message.content:
        if isinstance(block, ToolCall):
            if block.id in seen:
                continue  # a second result for one id is refused everywhere
            seen.add(block.id)
            blocks.append(block if own or block.meta is None else replace(block, meta=None))
        elif isinstance(block, Thinking):
            if own and (block.signature or not cut):
                blocks.append(block)
        elif block.text.strip():
            blocks.append(block if own or block.meta is None else replace(block, meta=None))
    if not any(not isinstance(block, Thinking) for block in blocks):
        return None
    return _same_or_new(message, tuple(blocks))


def _same_or_new(message: AssistantMessage, blocks: tuple[AssistantContent, ...]) -> AssistantMessage:
    """The message itself where nothing was left out, so that whoever caches by identity finds it again."""
    same = len(blocks) == len(message.content) and all(a is b for a, b in zip(blocks, message.content, strict=True))
    return message if same else replace(message, content=blocks)


def _user(message: UserMessage | CustomMessage, sees: bool) -> UserMessage | None:
    content = _content(message.content, sees)
    if not content:
        return None
    if isinstance(message, CustomMessage):
        return UserMessage(content=content, id=message.id, time=message.time)
    return message if content == message.content else replace(message, content=content)


def _result(message: ToolResultMessage, sees: bool) -> ToolResultMessage:
    content = _content(message.content, sees) or (Text(NO_OUTPUT),)
    return message if content == message.content else replace(message, content=content)


def _missing(call: ToolCall) -> ToolResultMessage:
    # Id and time are made from the call, so that the same transcript is the same request
    return ToolResultMessage(
        call_id=call.id,
        tool_name=call.name,
        content=(Text(NO_RESULT),),
        is_error=True,
        id=f"missing-{call.id}",
        time=0.0,
    )


def _content(content: Iterable[UserContent], sees: bool) -> tuple[UserContent, ...]:
    blocks: list[UserContent] = []
    for block in content:
        if isinstance(block, Image):
            blocks.append(
                block if sees else Text(f"[{block.mime_type}, {block.size} bytes: this model takes no pictures]")
            )
        elif block.text.strip():
            blocks.append(block)
    return tuple(blocks)
