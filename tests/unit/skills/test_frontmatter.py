"""Frontmatter: lenient where the meaning is clear, else an error with its line; text only, nothing made or run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zot_core.toolkit.frontmatter import FrontmatterError, split


def fields(head: str) -> dict[str, object]:
    return dict(split(f"---\n{head}\n---\nbody").fields())


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("a: Do x: then y", {"a": "Do x: then y"}),
        ("a: Do x: then y\n  and: more\nb: z", {"a": "Do x: then y and: more", "b": "z"}),
        ("a:\tx\nm:\n\tk: v", {"a": "x", "m": {"k": "v"}}),
        ("a: `code` first\nb: *bold* first\nc: @me\nd: 50% off: today", {
            "a": "`code` first", "b": "*bold* first", "c": "@me", "d": "50% off: today",
        }),
        ("a: ends with:", {"a": "ends with:"}),
        ("a: 1.10\nb: yes\nc: 2026-01-01\ne:", {"a": "1.10", "b": "yes", "c": "2026-01-01", "e": ""}),
        ("a: 'x: y'\nb: \"z: 1\"\nc: p: q", {"a": "x: y", "b": "z: 1", "c": "p: q"}),
        ("a: |\n  one: 1\n  two\nb: p: q", {"a": "one: 1\ntwo\n", "b": "p: q"}),
        ("a: >-\n  folded\n  text", {"a": "folded text"}),
        ("a: [x, y]\nb:\n  - z", {"a": ["x", "y"], "b": ["z"]}),
        ("# only a comment", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_what_is_clear_is_read(head: str, wanted: dict[str, object]) -> None:
    assert fields(head) == wanted


@pytest.mark.parametrize(
    ("head", "line", "word"),
    [
        ("a: 1\na: 2", 3, "a is there twice"),
        ("m:\n  k: 1\n  k: 2", 4, "k is there twice"),
        ("a: 1\nb: [1,", 3, "no YAML"),
        ("just words", 2, "fields"),
        ("- a\n- b", 2, "fields"),
        ("a: " + "[" * 5000, 2, "no YAML"),
        ("a: \x00", 2, "no YAML"),
    ],
)
def test_what_is_not_clear_has_its_line(head: str, line: int, word: str) -> None:
    with pytest.raises(FrontmatterError, match=word) as caught:
        fields(head)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "value",
    [
        "!!python/object/apply:os.system ['touch ran']",
        "!!python/object/apply:os.system [touch ran: now]",
        "!!python/name:os.system",
        "!!python/object/new:subprocess.Popen [['touch', 'ran']]",
        "!own x",
    ],
)
def test_no_tag_makes_an_object(value: str, project: Path) -> None:
    with pytest.raises(FrontmatterError):
        fields(f"a: {value}")
    assert not (project / "ran").exists()


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\na: b\n---\nbody\n---\nmore", "body\n---\nmore"),
        ("\ufeff---\r\na: b\r\n---\r\nbody\r\nmore\r\n", "body\nmore"),
        ("\n\n---\na: b\n---  \nbody", "body"),
        ("---\na: b\n---", ""),
    ],
)
def test_where_it_ends(text: str, body: str) -> None:
    document = split(text)
    assert dict(document.fields()) == {"a": "b"}
    assert document.body == body


@pytest.mark.parametrize("text", ["", "body", "body\n---\na: b\n---", "----\na: b\n----"])
def test_none(text: str) -> None:
    document = split(text)
    assert (document.line, dict(document.fields()), document.body) == (0, {}, text)


def test_no_end() -> None:
    with pytest.raises(FrontmatterError) as caught:
        split("\n---\na: b\n\nbody")
    assert caught.value.line == 2


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from("-ab: \t\n'\"[]{}|>!&*#%@`,?\ufeff\r\x00é"), max_size=60))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        document = split(f"---\n{text}")
        assert all(isinstance(key, str) for key in document.fields())
    except FrontmatterError as error:
        assert 1 <= error.line <= text.count("\n") + text.count("\r") + 2
