"""A person's own shell command: plugins are asked first, then it runs here, and its output joins the conversation.

The same runner as the tool's; nothing of it is a tool call. Must not know how a person gave the command.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from zot_core import events
from zot_core.agent.cancel import Signal
from zot_core.agent.sink import Stored
from zot_core.ctx.context import ToolCtx
from zot_core.events.base import Block
from zot_core.events.input import BashResult, ShellOperations
from zot_core.toolkit.command import MAX_TIMEOUT_S, gated, run_command
from zot_core.toolkit.errors import ToolError
from zot_core.toolkit.shell import local_shell, shell_environment, user_shell
from zot_core.types.content import Text, text_of
from zot_core.types.failure import Failure, RunFailed
from zot_core.types.messages import CustomMessage, new_id
from zot_core.types.specs import ToolResult

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext
    from zot_core.runtime.runtime import Runtime

CUSTOM_TYPE = "user_bash"
"""The type of the message that a command leaves in the conversation."""


async def user_bash(
    runtime: Runtime, command: str, *, keep: bool, signal: Signal, update: Callable[[str], None]
) -> ToolResult:
    """Runs `command`; with `keep` the model reads it and its output with the next request. `update` gets the end of the
    output as it comes. Raises RunFailed when a plugin refused it or broke."""
    result = await _asked(runtime, command, keep)
    if result is None:
        result = await _run(runtime, command, signal, update)
    if keep:
        await _kept(runtime, command, result)
    return result


async def _asked(runtime: Runtime, command: str, keep: bool) -> ToolResult | None:
    """What a plugin made of it; None: it runs here."""
    pipeline = runtime.host.pipeline
    if not pipeline.wants("user_bash"):
        return None
    answer = await pipeline.ask(events.UserBashEvent(command=command, cwd=runtime.cwd, exclude_from_context=not keep))
    if answer is None:
        return None
    if isinstance(answer.stop, Block):
        reason = answer.stop.reason or f"refused by {answer.plugin}"
        raise RunFailed(Failure(kind="blocked", message=f"not run: {reason}"))
    value = answer.value
    if isinstance(value, ShellOperations):
        try:
            found: Any = value.exec(command, runtime.cwd)  # type: ignore[attr-defined]
            value = await found if inspect.isawaitable(found) else found
        except Exception as error:  # the plugin's own; the command must not run here instead
            runtime.host.pipeline.broken(answer.plugin, "user_bash", error)
            raise RunFailed(Failure(kind="internal", message=f"{answer.plugin} could not run it: {error}")) from error
    if not isinstance(value, BashResult):
        message = f"not run: {answer.plugin} answered {type(value).__name__}, which is no BashResult"
        raise RunFailed(Failure(kind="internal", message=message))
    return ToolResult(content=value.output, is_error=bool(value.exit_code), details={"exit_code": value.exit_code})


async def _run(runtime: Runtime, command: str, signal: Signal, update: Callable[[str], None]) -> ToolResult:
    made = ToolCtx(runtime, "core", f"user-{new_id()}", signal, lambda content, details: update(text_of(content)))
    ctx = cast("ToolContext", made)
    try:
        allowed = await gated(ctx, command, shell_environment(runtime.secret_env()))
        return await run_command(
            ctx, local_shell(runtime.processes, user_shell()), allowed, timeout=MAX_TIMEOUT_S, name="user"
        )
    except (ToolError, OSError) as error:
        return ToolResult(content=str(error), is_error=True)


async def _kept(runtime: Runtime, command: str, result: ToolResult) -> None:
    output = result.content if isinstance(result.content, str) else text_of(result.content)
    message = CustomMessage(
        custom_type=CUSTOM_TYPE,
        content=(Text(f"The user ran a command.\n$ {command}\n{output}"),),
        display=False,
        details={"command": command, "is_error": result.is_error},
    )
    if runtime.runs.idle:
        runtime.state.messages.append(message)
        await runtime.sink.store(Stored(message=message, display=None))
    else:
        runtime.runs.deliver(message, "steer", trigger_turn=False)
