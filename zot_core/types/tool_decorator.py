"""`@tool`: a typed function with a docstring becomes a tool.

The schema that models see is made from the annotations when the function is decorated; the pydantic model that checks
a call's arguments is made when it is first needed, so that listing a tool imports nothing.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, overload

from zot_core.types.specs import ToolResult, ToolSpec
from zot_core.types.tool_schema import (
    Parameter,
    ToolError,
    description_of,
    field_name,
    model_of,
    parameters_of,
    schema_of,
)

_GIVEN = ToolSpec.__dict__["arguments"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Tool(ToolSpec):
    """A ToolSpec made from a function, which it still can be called as: `greet("Ann")` is the function's own answer.

    `arguments`, the pydantic model of a call's arguments, is made when it is first read.
    """

    function: Callable[..., Any]
    signature: tuple[Parameter, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function itself, without any check."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"

    __hash__ = object.__hash__


def _arguments(tool: Tool) -> Any:
    if _GIVEN.__get__(tool) is None:
        _GIVEN.__set__(tool, model_of(tool.name, tool.signature))
    return _GIVEN.__get__(tool)


# Over the slot of ToolSpec, which keeps the value; the dataclass's own __init__ sets it through here.
Tool.arguments = property(_arguments, _GIVEN.__set__)  # type: ignore[assignment]


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(*, name: str = "", description: str = "", **options: Any) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None, /, *, name: str = "", description: str = "", **options: Any
) -> Any:
    """Makes a tool of a function.

    Its name is the tool's, the docstring's first paragraph the description, lines under `Args:` describe parameters,
    and every parameter has a type. A parameter `ctx` receives the ToolContext and is not shown to models. The function
    may be async; a plain one runs in a thread. It answers text, a ToolResult, None, or data that becomes JSON. Other
    `options` are fields of ToolSpec, such as `prompt_snippet` or `timeout`. Raises ToolError for what cannot be a tool.
    """
    if function is None:
        return lambda decorated: tool_of(decorated, name, description, options)
    return tool_of(function, name, description, options)


def tool_of(function: Callable[..., Any], name: str, description: str, options: Mapping[str, Any]) -> Tool:
    """The tool that `tool` makes; empty `name` and `description` are taken from the function."""
    signature = parameters_of(function)
    described = description or description_of(function)
    if not described:
        code = function.__code__
        raise ToolError(
            f"{code.co_filename}:{code.co_firstlineno}: {function.__name__} needs a docstring: "
            "its first paragraph tells models what the tool is for"
        )
    return Tool(
        name=name or function.__name__,
        description=described,
        execute=_executor(function, signature),
        function=function,
        signature=signature,
        **{"parameters": schema_of(signature), **options},
    )


def _executor(function: Callable[..., Any], signature: tuple[Parameter, ...]) -> Callable[..., Any]:
    code = function.__code__
    takes_ctx = "ctx" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    is_async = bool(code.co_flags & inspect.CO_COROUTINE)

    async def execute(args: Any, ctx: Any = None) -> Any:
        values = _values(args, signature)
        if takes_ctx:
            values["ctx"] = ctx
        answer = await function(**values) if is_async else await asyncio.to_thread(function, **values)
        return _result(answer)

    return execute


def _values(args: Any, signature: tuple[Parameter, ...]) -> dict[str, Any]:
    if isinstance(args, Mapping):
        return dict(args)
    fields = type(args).model_fields
    return {
        parameter.name: getattr(args, field_name(parameter.name, parameter.name not in fields))
        for parameter in signature
    }


def _result(answer: Any) -> Any:
    if answer is None or isinstance(answer, str | ToolResult):
        return answer
    return json.dumps(answer, ensure_ascii=False, default=str)
