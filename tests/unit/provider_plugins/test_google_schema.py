"""Any JSON Schema becomes one that Gemini takes, and says as much as can be said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mock_provider.strict_google import _check_schema

from zot_plugins.api_google.schema import sanitize


def one(inner: Any, **more: Any) -> Any:
    """What a property of that schema becomes."""
    clean = sanitize({"type": "object", "properties": {"x": inner}, **more})
    _check_schema(clean, "x")
    return clean["properties"]["x"]


@pytest.mark.parametrize(
    ("given_schema", "clean"),
    [
        (
            {"type": "string", "description": "A.", "default": "d"},
            {"type": "string", "description": "A.", "default": "d"},
        ),
        ({"type": "string", "format": "uri", "examples": ["x"]}, {"type": "string"}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": "integer", "exclusiveMinimum": 0, "minimum": 1}, {"type": "integer", "minimum": 1}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, {"type": "string", "enum": ["a", "b"]}),
        ({"oneOf": [{"const": "a"}, {"enum": ["b", "c"]}]}, {"type": "string", "enum": ["a", "b", "c"]}),
        ({"anyOf": [{"const": "a"}, {"type": "null"}]}, {"type": "string", "enum": ["a"], "nullable": True}),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "title": "T"},
            {"type": "integer", "nullable": True, "title": "T"},
        ),
        (
            {"type": ["string", "integer"], "description": "D"},
            {"description": "D", "anyOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        ({"enum": [1, 2], "description": "N."}, {"type": "integer", "description": "N. One of: 1, 2."}),
        ({"enum": ["a", None, ""]}, {"type": "string", "enum": ["a"], "nullable": True}),
        ({"enum": ["a", 1]}, {"type": "string", "description": 'One of: "a", 1.'}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        ({"items": {"type": "number"}, "uniqueItems": True}, {"type": "array", "items": {"type": "number"}}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "object"}),
        (
            {"properties": {"a": True}, "required": ["a", "b"]},
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        ),
        ({"allOf": [{"type": "string"}, {"minLength": 2}]}, {"type": "string", "minLength": 2}),
        ({}, {"type": "string"}),
        (True, {"type": "string"}),
    ],
)
def test_what_becomes_of_a_property(given_schema: Any, clean: Any) -> None:
    assert one(given_schema) == clean


def test_references_are_written_out_and_a_loop_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "v": {"$ref": "#/$defs/V"}}}
    defs = {"Node": node, "V": {"type": "string", "enum": ["a"]}}
    clean = one({"$ref": "#/$defs/Node", "description": "First."}, **{"$defs": defs})
    assert clean["description"] == "First."
    assert clean["properties"]["v"] == {"type": "string", "enum": ["a"]}
    assert one({"$ref": "#/nowhere"}) == {"type": "string"}
    assert one({"$ref": "#/$defs/A"}, **{"$defs": {"A": {"$ref": "#/$defs/A"}}}) == {"type": "string"}


def test_a_type_that_holds_itself_many_times_stays_small() -> None:
    node = {"type": "object", "properties": {name: {"$ref": "#/$defs/Node"} for name in "abcdefgh"}}
    clean = one({"$ref": "#/$defs/Node"}, **{"$defs": {"Node": node}})
    assert set(clean["properties"]) == set("abcdefgh")
    assert len(str(clean)) < 2_000


def test_a_function_without_parameters_declares_none() -> None:
    for schema in ({}, {"type": "object"}, {"type": "object", "properties": {}, "additionalProperties": False}):
        assert sanitize(schema) == {}


_KEYS = st.sampled_from(
    ["type", "enum", "const", "items", "properties", "required", "anyOf", "oneOf", "allOf", "format", "$ref"]
)
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["string", "null", "array", "object", "uri", "#/properties/x", ""])
)
_SCHEMAS = st.recursive(
    _LEAVES,
    lambda inner: st.dictionaries(
        _KEYS, inner | st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_size=4
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(_SCHEMAS)
def test_whatever_comes_in_what_comes_out_is_taken(schema: Any) -> None:
    one(schema)
