"""Variables inside a longer text, as headers of models.json have them."""

from __future__ import annotations

import pytest

from zot_core.config.secrets import read_text

ENV = {"TOKEN": "t-1", "OTHER": " o-2 ", "BLANK": "  "}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("$TOKEN", "t-1"),
        ("${TOKEN}", "t-1"),
        ("Bearer $TOKEN", "Bearer t-1"),
        ("Bearer ${TOKEN}", "Bearer t-1"),
        ("${TOKEN}-${OTHER}/x", "t-1-o-2/x"),
        ("a$TOKEN.b", "at-1.b"),
        ("costs 5$", "costs 5$"),
        ("a $ b", "a $ b"),
        ("$5", "$5"),
        ("$$TOKEN", "$TOKEN"),
        ("a $$TOKEN $TOKEN", "a $TOKEN t-1"),
        ("$!no", "!no"),
        ("!echo out", "out"),
    ],
)
def test_what_a_text_stands_for(text: str, value: str) -> None:
    found = read_text(text, "a header", ENV if not text.startswith("!") else None)
    assert (found.value, found.problem) == (value, "")


def test_what_is_not_set_is_named_and_the_way_to_write_a_dollar() -> None:
    found = read_text("Bearer $GONE and ${BLANK}", "a header", ENV)
    assert found.value == ""
    assert found.problem == (
        "a header names $GONE, which is not set and $BLANK, which is blank; a $ itself is written as $$"
    )
