"""What a search ranks first."""

from __future__ import annotations

from zot_core import ToolSpec
from zot_plugins.tool_search.index import words
from zot_plugins.tool_search.search import ranked


def tool(name: str, description: str = "", **more: object) -> tuple[str, ToolSpec]:
    given = {"parameters": {"type": "object"}, "execute": "x:y", **more}
    return "g", ToolSpec(name=name, description=description, **given)  # type: ignore[arg-type]


def order(query: str, *rows: tuple[str, ToolSpec]) -> list[str]:
    return [spec.name for _, spec in ranked(rows, query)]


def test_names_are_read_word_by_word_and_plurals_as_one() -> None:
    assert words("searchIssues") == ["search", "issue"]
    assert words("list_HTTP_queries") == ["list", "http", "query"]
    assert words("status of 3 classes") == ["status", "of", "3", "classe"]
    assert words("天気") == ["天気"]


def test_only_what_shares_a_word_is_found() -> None:
    rows = (tool("lookup_weather", "The weather at a place."), tool("search_issues", "Finds issues."))
    assert order("what is the weather like", *rows) == ["lookup_weather"]
    assert order("issue", *rows) == ["search_issues"]
    assert order("stocks", *rows) == []
    assert order("", *rows) == []


def test_a_word_of_the_name_weighs_more_than_one_of_the_description() -> None:
    rows = (tool("notes", "Writes a ticket about the deploy."), tool("ticket", "Opens one."))
    assert order("ticket", *rows) == ["ticket", "notes"]


def test_keywords_weigh_as_much_as_the_name_and_more_than_search_text() -> None:
    rows = (tool("b", "One thing.", search_text="invoice"), tool("a", "One thing.", search_keywords=("invoice",)))
    assert order("invoice", *rows) == ["a", "b"]
    same = (tool("x_invoice", "One thing."), tool("x_other", "One thing.", search_keywords=("invoice",)))
    assert set(order("invoice", *same)) == {"x_invoice", "x_other"}


def test_rare_words_count_more_than_common_ones() -> None:
    rows = (*(tool(f"list_{n}", "Lists things of a project.") for n in range(8)), tool("burn", "Burns a project down."))
    assert order("list what may burn in the project", *rows)[0] == "burn"


def test_a_tool_that_is_named_comes_first() -> None:
    rows = (tool("get", "Get get get."), tool("get_all", "Gets everything."), tool("other", "Nothing."))
    assert order("get_all", *rows)[0] == "get_all"
    assert order("please `other`, it gets all", *rows)[0] == "other"
