"""`@tool`: the schema that models see, the model that checks, and the function that runs."""

from __future__ import annotations

import asyncio
import enum
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import pydantic
import pytest

from zot_core.types.specs import ToolResult, ToolSpec
from zot_core.types.tool_decorator import Tool, tool
from zot_core.types.tool_schema import ToolError

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(pydantic.BaseModel):
    x: int


@tool
async def paint(
    what: str,
    ctx: ToolContext,
    colour: Colour = Colour.RED,
    coats: int = 1,
    *,
    area: Optional[float] = None,  # noqa: UP045
    mode: Literal["fast", "slow"] = "fast",
    tags: list[str] = [],  # noqa: B006
    sizes: dict[str, int] | None = None,
    dry: bool = False,
    copy: Annotated[Any, "which copy"] = None,
) -> str:
    """Paint something
    in a colour.

    Takes a while.

    Args:
        what: the thing,
            whole
        coats (int): how many
            of them
        ctx: not for models

    Returns:
        dry: nothing to do with the parameter
    """
    return f"{what} {colour.name} {coats} {area} {mode} {tags} {sizes} {dry} {copy} {ctx}"


def test_the_schema_is_made_from_annotations_and_docstring():
    assert isinstance(paint, ToolSpec) and isinstance(paint, Tool)
    assert (paint.name, paint.description) == ("paint", "Paint something in a colour.")
    assert paint.parameters == {
        "type": "object",
        "properties": {
            "what": {"type": "string", "description": "the thing, whole"},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "coats": {"type": "integer", "description": "how many of them", "default": 1},
            "area": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
            "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
            "tags": {"type": "array", "items": {"type": "string"}, "default": []},
            "sizes": {
                "anyOf": [{"type": "object", "additionalProperties": {"type": "integer"}}, {"type": "null"}],
                "default": None,
            },
            "dry": {"type": "boolean", "default": False},
            "copy": {"description": "which copy", "default": None},
        },
        "additionalProperties": False,
        "required": ["what"],
    }


def test_the_model_checks_what_the_schema_says():
    model = paint.arguments
    assert model is paint.arguments
    args = model.model_validate({"what": "door", "colour": "blue", "copy": 3, "tags": ["a"]})
    answer = asyncio.run(paint.execute(args, "CTX"))
    assert answer == "door BLUE 1 None fast ['a'] None False 3 CTX"
    for wrong in ({}, {"what": "x", "coats": "many"}, {"what": "x", "other": 1}, {"what": "x", "mode": "odd"}):
        with pytest.raises(pydantic.ValidationError):
            model.model_validate(wrong)


def test_a_plain_function_runs_in_a_thread_and_data_becomes_json():
    @tool(name="where_am_i", description="Says where.", timeout=3.0)
    def where():
        return {"main": threading.current_thread() is threading.main_thread()}

    assert (where.name, where.description, where.timeout) == ("where_am_i", "Says where.", 3.0)
    assert asyncio.run(where.execute({}, None)) == '{"main": false}'
    assert where() == {"main": True}, "called by hand it is the function"


def test_text_results_and_nothing_are_handed_on():
    for value in ("text", None, ToolResult(is_error=True)):

        @tool
        async def same():
            """Same."""
            return value  # noqa: B023

        assert asyncio.run(same.execute({}, None)) is value


def test_what_cannot_be_a_tool_is_refused_with_its_place():
    def untyped(a):
        """Doc."""

    def star(*a: str):
        """Doc."""

    def silent(a: str): ...

    def unknown(a: Nowhere):  # noqa: F821
        """Doc."""

    for function, message in (
        (untyped, "the parameter a needs a type"),
        (star, r"cannot have \*args"),
        (silent, "needs a docstring"),
        (unknown, "cannot be evaluated"),
    ):
        with pytest.raises(ToolError, match=message) as caught:
            tool(function)
        assert f"test_tool_decorator.py:{function.__code__.co_firstlineno}: {function.__name__}" in str(caught.value)


def test_what_is_not_plain_is_left_to_pydantic():
    @tool
    async def go(to: Point):
        """Go."""
        return str(to.x)

    assert go.parameters["properties"]["to"]["properties"] == {"x": {"title": "X", "type": "integer"}}
    assert asyncio.run(go.execute(go.arguments.model_validate({"to": {"x": 3}}), None)) == "3"


def test_declaring_a_tool_imports_no_pydantic():
    code = (
        "import sys\nfrom zot_core.types.tool_decorator import tool\n"
        "@tool\ndef f(a: str, b: list[int] | None = None):\n    'Doc.'\n"
        "print('pydantic' in sys.modules); f.arguments; print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
