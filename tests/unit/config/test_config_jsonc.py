"""The tolerant reader says where text is wrong; the editor changes one key and leaves the rest to the letter."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zot_core.config.jsonc import JsoncError, loads, parse
from zot_core.config.jsonc_edit import remove_key, set_key

WRITTEN = """\
{
  // which model
  "provider": "anthropic", // the good one
  /* two
     lines */
  "retry": { "attempts": 5 },
  "list": [1, 2,],
  "mine": {"a": 1e3}
}
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        (" \n", {}),
        ("// nothing yet\n", {}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ("[1, 2, ]", [1, 2]),
        ('{"url": "http://x//y" /* c */}', {"url": "http://x//y"}),
        (r'{"a": "\"//\\", "b": "/*"}', {"a": '"//\\', "b": "/*"}),
        ('{"a": "\\ud83d\\ude00 \u2028"}', {"a": "😀 \u2028"}),
        ("{}\r\n// end", {}),
        ('{"a": [true, false, null, -1.5e-2]}', {"a": [True, False, None, -0.015]}),
    ],
)
def test_what_people_write_is_read(text: str, value: Any) -> None:
    assert loads(text) == value
    assert parse(text).value == value


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma"),
        ('{\n  "a": tru\n}', 2, 8, "'tru'"),
        ('{"a": "x\n"}', 1, 7, "not closed"),
        ('{"a": 1', 1, 8, "ends"),
        ("{a: 1}", 1, 2, "double quotes"),
        ('{"a" 1}', 1, 6, "colon"),
        ("/* never", 1, 1, "not closed"),
        ('{"a": 01}', 1, 7, "'01'"),
        ('{"a": NaN}', 1, 7, "'NaN'"),
        ('{"a": 1}}', 1, 9, "more text"),
        ('{"a":,}', 1, 6, "a value"),
        ('{"a": "\\x"}', 1, 8, "escape"),
        ("[" * 5000, 1, 102, "nested"),
        ("9" * 5000, 1, 1, "too long"),
        (",", 1, 1, "a value"),
    ],
)
def test_what_is_wrong_has_a_place(text: str, line: int, column: int, says: str) -> None:
    with pytest.raises(JsoncError, match=says) as caught:
        loads(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_keys_know_their_lines_and_doubles_are_found() -> None:
    document = parse('{\n"a": 1,\n"b": {\n"c": 1,\n"c": 2}}')
    assert document.line_of(("b", "c")) == 5
    assert document.line_of(("b", "nothing")) == 3
    assert document.duplicates() == [("c", 5)]
    assert document.value == {"a": 1, "b": {"c": 2}}


def test_changing_a_value_changes_nothing_else() -> None:
    assert set_key(WRITTEN, ("provider",), "openai") == WRITTEN.replace('"anthropic"', '"openai"')
    assert set_key(WRITTEN, ("retry", "attempts"), 2) == WRITTEN.replace("5", "2")


def test_a_new_key_follows_the_last_one() -> None:
    assert set_key(WRITTEN, ("theme",), "dark") == WRITTEN.replace(
        '"mine": {"a": 1e3}\n', '"mine": {"a": 1e3},\n  "theme": "dark"\n'
    )
    assert '"retry": { "attempts": 5, "base_delay_s": 1 },' in set_key(WRITTEN, ("retry", "base_delay_s"), 1)


def test_a_comment_after_the_last_value_stays_with_it() -> None:
    assert set_key('{\n  "a": 1 // one\n}', ("b",), 2) == '{\n  "a": 1, // one\n  "b": 2\n}'
    assert set_key('{\n  "a": 1, // one\n}', ("b",), 2) == '{\n  "a": 1, // one\n  "b": 2,\n}'


def test_objects_on_the_way_are_made() -> None:
    assert set_key("{}", ("plugins", "x", "on"), True) == (
        '{\n  "plugins": {\n    "x": {\n      "on": true\n    }\n  }\n}'
    )
    assert set_key("", ("a",), 1) == '{\n  "a": 1\n}\n'
    assert set_key("// mine", ("a",), 1) == '// mine\n{\n  "a": 1\n}\n'


def test_line_ends_tabs_and_the_mark_are_kept() -> None:
    text = '\ufeff{\r\n\t"a": 1\r\n}\r\n'
    assert set_key(text, ("b",), {"c": 2}) == '\ufeff{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": 2\r\n\t}\r\n}\r\n'


def test_removing_a_key_takes_its_line_and_no_other() -> None:
    assert remove_key(WRITTEN, ("provider",)) == WRITTEN.replace('  "provider": "anthropic", // the good one\n', "")
    assert remove_key(WRITTEN, ("nothing",)) == WRITTEN
    assert remove_key('{"a": 1, "b": 2}', ("b",)) == '{"a": 1}'
    assert remove_key('{"a": 1, "b": 2}', ("a",)) == '{"b": 2}'
    assert json.loads(remove_key('{\n  "a": 1,\n  "b": 2\n}', ("b",))) == {"a": 1}


def test_of_equal_keys_the_one_that_counts_is_changed_and_both_are_removed() -> None:
    assert set_key('{"a": 1, "a": 2}', ("a",), 3) == '{"a": 1, "a": 3}'
    assert loads(remove_key('{"a": 1, "a": 2, "b": 0}', ("a",))) == {"b": 0}


def test_a_key_below_something_that_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="retry"):
        set_key('{"retry": 3}', ("retry", "attempts"), 1)
    with pytest.raises(ValueError, match="object"):
        set_key("[1]", ("a",), 1)


_keys = st.text(min_size=1, max_size=4)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=8,
)


@given(
    data=st.dictionaries(_keys, _values, max_size=4),
    key=_keys,
    value=_values,
    indent=st.sampled_from([None, 0, 2, "\t"]),
    trailing=st.booleans(),
)
def test_any_edit_of_any_object_is_exactly_that_edit(
    data: dict[str, Any], key: str, value: Any, indent: Any, trailing: bool
) -> None:
    text = json.dumps(data, indent=indent)
    if trailing and data:
        text = text[:-1].rstrip() + ",\n}"
    changed = set_key(text, (key,), value)
    assert loads(changed) == {**data, key: value}
    assert loads(remove_key(changed, (key,))) == {k: v for k, v in data.items() if k != key}
