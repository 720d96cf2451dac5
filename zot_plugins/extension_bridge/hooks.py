"""The events of the protocol as hooks of zot: what is told goes out and is forgotten, what is asked waits for a word.

A time-out, a crash and a malformed answer are "no answer", as the protocol promises: what was asked about goes on
unchanged, and the log and the person know why.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

from zot_core.events.base import Block
from zot_core.wire import frames
from zot_plugins.extension_bridge.requests import INTERCEPT_S, NoAnswer

if TYPE_CHECKING:
    from zot_plugins.extension_bridge.remote import Remote

Off = Callable[[], None]


def subscribe(remote: Remote, ctx: Any, events: Iterable[str], intercepts: Iterable[str]) -> list[Off]:
    """Adds the handlers for what an extension subscribed to; the answers take them away. `session_start` is told by
    the plugin itself, since it is over when an extension is ready."""
    offs = [ctx.on(name, _observer(remote, name), observe=True) for name in events if name in _FIELDS]
    for name in intercepts:
        hook = "prepare_system_prompt" if name == "before_agent_start" else name
        offs.append(ctx.on(hook, _ASKING[name](remote)))
    return offs


def _observer(remote: Remote, name: str) -> Callable[[Any], None]:
    fields = _FIELDS[name]

    def told(event: Any) -> None:
        remote.send(frames.Event(event=name, **fields(event)))

    return told


def _tool(event: Any) -> dict[str, Any]:
    return {"tool_id": event.call_id, "tool_name": event.tool_name, "tool_args": dict(event.args)}


def _turn_end(event: Any) -> dict[str, Any]:
    return {"stop": event.stop, "error": None if event.failure is None else event.failure.message}


_FIELDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "turn_start": lambda event: {"step": event.step},
    "turn_end": _turn_end,
    "tool_call": _tool,
    "tool_confirmation_requested": lambda event: {
        "tool_id": event.call_id,
        "tool_name": event.tool_name,
        "tool_preview": event.preview,
    },
    "assistant_message": lambda event: {"text": event.text},
}


async def _ask(remote: Remote, name: str, **fields: Any) -> frames.InterceptResponse | None:
    """The extension's word on an event, or None."""
    try:
        answer = await remote.requests.ask(
            frames.EventIntercept,
            frames.InterceptResponse,
            INTERCEPT_S,
            with_write=name == "before_agent_start",
            event=name,
            **fields,
        )
    except NoAnswer as error:
        remote.no_answer(name, error)
        return None
    if answer.reason and not answer.block:
        remote.log.say(f"{name}: {answer.reason}")
    return answer


def _refusal(remote: Remote, answer: frames.InterceptResponse) -> Block:
    return Block(answer.reason or f"refused by the extension {remote.name}")


def _tool_call(remote: Remote) -> Callable[[Any], Awaitable[Any]]:
    async def asked(event: Any) -> Any:
        answer = await _ask(remote, "tool_call", **_tool(event))
        if answer is None:
            return None
        if answer.block:
            return _refusal(remote, answer)
        if answer.modified_args is None:
            return None
        if not isinstance(answer.modified_args, dict):
            remote.misuse("tool_call", f"`modified_args` is {_kind(answer.modified_args)}, not an object")
            return None
        return event.replace(args=answer.modified_args)

    return asked


def _turn_start(remote: Remote) -> Callable[[Any], Awaitable[Any]]:
    async def asked(event: Any) -> Any:
        answer = await _ask(remote, "turn_start", step=event.step)
        return _refusal(remote, answer) if answer is not None and answer.block else None

    return asked


def _assistant_message(remote: Remote) -> Callable[[Any], Awaitable[Any]]:
    async def asked(event: Any) -> Any:
        answer = await _ask(remote, "assistant_message", text=event.text)
        if answer is None:
            return None
        if answer.block:
            return _refusal(remote, answer)
        return None if answer.replace_text is None else event.replace(text=answer.replace_text)

    return asked


def _before_agent_start(remote: Remote) -> Callable[[Any], Awaitable[Any]]:
    name = "before_agent_start"

    async def asked(event: Any) -> Any:
        answer = await _ask(
            remote,
            name,
            session_id=event.session_id,
            agent_run_id=event.agent_run_id,
            cwd=event.cwd,
            provider=event.provider,
            model=event.model,
            system_prompt=event.system_prompt,
        )
        if answer is None:
            return None
        if answer.block:
            remote.misuse(name, "`block` does not stop it")
        if answer.oversized_prompt:
            remote.misuse(name, f"its encoded `system_prompt` is over {frames.MAX_PROMPT >> 20} MiB")
            return None
        if not answer.has_prompt:
            return None
        if not isinstance(answer.system_prompt, str):
            remote.misuse(name, f"`system_prompt` is {_kind(answer.system_prompt)}, not text")
            return None
        return event.replace(system_prompt=answer.system_prompt)

    return asked


_ASKING: dict[str, Callable[[Remote], Callable[[Any], Awaitable[Any]]]] = {
    "tool_call": _tool_call,
    "turn_start": _turn_start,
    "assistant_message": _assistant_message,
    "before_agent_start": _before_agent_start,
}


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return names.get(type(value), "null")
