"""Each kind of block at three widths: what stands there, and that no line is too wide whatever was written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from zot_cli.repl.blocks import THOUGHT_LINES, render
from zot_cli.repl.blocks.tool import FOLDED, diff_lines, summary
from zot_cli.repl.look import default_look
from zot_cli.repl.spans import line_width, plain
from zot_cli.repl.state import Answer, Card, Custom, Said, Thought, Told, ToolRow
from zot_core.types.content import Image, Text

LOOK = default_look("dark")
WIDTHS = [20, 80, 140]
PICTURE = Image("image/png", "aGk=")
HOSTILE = "\x1b[2J\x1b]0;owned\x07\x1b[31mred\x1b[0m\u202eevil\x9b1A\x08\rover\x00 日本 👩‍👩‍👧 e\u0301"


def shown(block: Any, width: int = 80, **look: Any) -> list[str]:
    lines = render(block, width, LOOK.with_(**look), now=10.0)
    assert all(line_width(line) <= width for line in lines), [plain(line) for line in lines]
    return [plain(line).rstrip() for line in lines]


def tokens(block: Any, text: str) -> set[str]:
    """The tokens of the theme that may have given a text its style."""
    (style,) = {style for line in render(block, 80, LOOK) for style, said in line if text in said}
    return {token for token, known in LOOK.styles.items() if known == style}


def result(text: str, **more: Any) -> ToolRow:
    return ToolRow(**{"call_id": "1", "name": "bash", "status": "done", "result": (Text(text),), **more})


BLOCKS: dict[str, Any] = {
    "said": Said(text=f"{HOSTILE}\n\n  indented " + "word " * 40, pictures=(PICTURE, PICTURE)),
    "thought": Thought(text="hm " * 300),
    "answer": Answer(
        text=f"# {HOSTILE}\n\n- a\n  - b\n\n| a | b |\n|---|---|\n| 日本語 | {'x' * 60} |\n\n```py\nx = 1\n```\n"
    ),
    "row": result(HOSTILE + "\n" + "日" * 200, args={"command": HOSTILE * 4, "timeout": 3}),
    "writing": ToolRow(call_id="1", name=HOSTILE),
    "told": Told(text=HOSTILE * 3, source=HOSTILE, level="error"),
    "told markdown": Told(text=f"**{HOSTILE}**", source="x", markdown=True),
    "custom": Custom(custom_type=HOSTILE, content=(Text(HOSTILE * 9),)),
    "card": Card(id="1", custom_type=HOSTILE, data={HOSTILE: HOSTILE * 9}),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", BLOCKS)
def test_nothing_is_too_wide_and_nothing_moves_the_cursor(kind: str, width: int) -> None:
    for expanded in (False, True):
        text = "\n".join(shown(BLOCKS[kind], width, expanded=expanded))
        assert text.strip()
        assert not set("\x1b\x07\x08\r\x00\x9b\u202e") & set(text)


@given(some.text(max_size=200), some.integers(20, 60), some.sampled_from([Said, Thought, Answer, Told]))
def test_any_text_in_any_width(text: str, width: int, kind: Any) -> None:
    shown(kind(text=text), width)


# --- what people and models say ---------------------------------------------------------------------------------------


def test_what_a_person_said() -> None:
    assert shown(Said(text="one\ntwo\n")) == ["› one", "  two"]
    look, picture = shown(Said(text="look", pictures=(PICTURE,)))
    assert look == "› look" and picture.startswith("  [picture image/png, 2 B")
    assert shown(Said(text="one two three four five"), 12) == ["› one two", "  three four", "  five"]
    assert tokens(Said(text="one"), "›") == {token for token, s in LOOK.styles.items() if s == LOOK.style("accent")}


def test_thinking_shows_its_end_and_all_of_it_expanded() -> None:
    lines = "\n".join(f"thought {n}" for n in range(20))
    folded = shown(Thought(text=lines))
    assert folded == [f"  … {20 - THOUGHT_LINES} lines of thinking", *(f"  thought {n}" for n in range(14, 20))]
    assert len(shown(Thought(text=lines), expanded=True)) == 20
    assert shown(Thought(text="short")) == ["  short"]
    assert "thinkingText" in tokens(Thought(text="short"), "short")


def test_thinking_that_is_hidden_says_that_it_goes_on() -> None:
    assert shown(Thought(text="secret"), thinking=False) == ["Thinking …"]
    assert shown(Thought(text="secret", done=True), thinking=False) == ["Thought."]


@pytest.mark.parametrize("width", WIDTHS)
def test_an_answer_is_its_markdown(width: int) -> None:
    text = "# Title\n\nA *short* paragraph with `code`.\n\n- one\n- two\n\n```python\nprint(1)\n```\n"
    assert shown(Answer(text=text), width) == {
        20: ["Title", "", "A short paragraph", "with code.", "", " • one", " • two", "", "  print(1)"],
    }.get(width, ["Title", "", "A short paragraph with code.", "", " • one", " • two", "", "  print(1)"])


def test_an_answer_that_was_withheld() -> None:
    assert shown(Answer(text="", done=True, withheld=True)) == ["(a plugin withheld this answer)"]
    said = shown(Answer(text="", done=True, withheld=True, reason="it names\na key"))
    assert said == ["(a plugin withheld this answer: it names a key)"]


def test_what_is_told_has_a_sign_by_its_level() -> None:
    said = {level: shown(Told(text="x", level=level)) for level in ("info", "success", "warning", "error")}  # type: ignore[arg-type]
    assert said == {"info": ["x"], "success": ["✓ x"], "warning": ["! x"], "error": ["✗ x"]}
    assert shown(Told(text="one\ntwo", source="guard", level="error")) == ["✗ [guard] one", "  two"]
    assert shown(Told(text="# A\n\nb", markdown=True)) == ["A", "", "b"]
    assert shown(Told(text="# A\n\nb", source="x", markdown=True)) == ["[x]", "A", "", "b"]


def test_what_no_renderer_draws_is_shown_plainly() -> None:
    assert shown(Custom(custom_type="note", content=(Text("one\ntwo"),))) == ["[note] one", "  two"]
    assert shown(Card(id="1", custom_type="board", data={"a": 1, "b": "x\ny"})) == ["[board] a=1 b=x y"]


# --- tools ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "more", "head", "token"),
    [
        ("writing", {}, "○ bash  ls -l", "muted"),
        ("waiting", {}, "○ bash  ls -l", "muted"),
        ("running", {"since": 9.9}, "● bash  ls -l", "accent"),
        ("running", {"since": 6.5}, "● bash  ls -l  3.5 s", "accent"),
        ("done", {"took": 0.4}, "● bash  ls -l", "success"),
        ("done", {"took": 61.04}, "● bash  ls -l  1 min 1 s", "success"),
        ("failed", {"took": 2.0}, "● bash  ls -l  failed · 2.0 s", "error"),
        ("blocked", {}, "● bash  ls -l  blocked", "warning"),
        ("aborted", {}, "● bash  ls -l  aborted", "warning"),
    ],
)
def test_a_row_says_how_it_goes(status: Any, more: dict[str, Any], head: str, token: str) -> None:
    row = ToolRow(call_id="1", name="bash", args={"command": "ls -l"}, status=status, **more)
    assert shown(row) == [head]
    (style, _), *_ = render(row, 80, LOOK, now=10.0)[0]
    assert style == LOOK.style(token)


def test_the_end_of_a_long_call_is_cut_and_how_it_went_stays() -> None:
    row = result("", args={"command": "x" * 300}, status="failed", took=3.0)
    for width in WIDTHS:
        (head,) = shown(row, width)
        assert head.endswith("…  failed · 3.0 s" if width > 20 else "…  failed"), head


def test_arguments_in_short() -> None:
    assert summary({"path": "a.py", "limit": 3, "deep": {"x": 1}}) == "a.py  limit=3"
    assert summary({"text": "one\ntwo", "flag": False, "none": None}) == "text=one two  flag=False"
    assert summary({"command": "a\nb"}) == "a b"
    assert summary({}) == ""


def test_a_result_folds_over_twelve_lines() -> None:
    text = "\n".join(f"line {n}" for n in range(30))
    folded = shown(result(text))
    assert folded[1 : FOLDED + 1] == [f"  line {n}" for n in range(FOLDED)]
    assert folded[FOLDED + 1 :] == [f"  … {30 - FOLDED} more lines (ctrl+o)"]
    assert shown(result(text), expanded=True)[-1] == "  line 29"
    # a fold that saves one line would hide as much as it says
    thirteen = "\n".join(f"line {n}" for n in range(FOLDED + 1))
    assert len(shown(result(thirteen))) == 1 + FOLDED + 1


def test_progress_shows_its_end() -> None:
    text = "\n".join(f"line {n}" for n in range(30))
    lines = shown(ToolRow(call_id="1", name="bash", status="running", progress=text))
    assert lines[1:] == [f"  line {n}" for n in range(30 - FOLDED, 30)]


def test_a_picture_is_a_line_of_facts() -> None:
    lines = shown(result("seen", result=(Text("seen"), PICTURE)))
    assert lines[1] == "  seen"
    assert lines[2].startswith("  [picture image/png, 2 B")


DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"


def test_a_diff_is_coloured_and_its_header_left_out() -> None:
    lines = diff_lines(DIFF, 80, LOOK)
    assert [plain(line) for line in lines] == ["  @@ -1,3 +1,3 @@", "   one", "  -two", "  +2", "   three"]
    styles = {plain(line).strip(): line[-1][0] for line in lines}
    assert styles["-two"] == LOOK.style("toolDiffRemoved")
    assert styles["+2"] == LOOK.style("toolDiffAdded")
    assert styles["one"] == LOOK.style("toolDiffContext")
    assert LOOK.style("toolDiffAdded") != LOOK.style("toolDiffRemoved")


def test_an_edit_shows_its_diff_and_a_failed_one_its_reason() -> None:
    row = ToolRow(
        call_id="1", name="edit", args={"path": "x.py"}, status="done", result=(Text("ok"),), details={"diff": DIFF}
    )
    assert shown(row)[:2] == ["● edit  x.py", "  @@ -1,3 +1,3 @@"]
    assert "  ok" not in shown(row)
    failed = ToolRow(
        call_id="1", name="edit", status="failed", result=(Text("no such text"),), details={"diff": DIFF}, took=0.0
    )
    assert shown(failed) == ["● edit  failed", "  no such text"]
    assert "error" in tokens(failed, "no such text")


def test_a_long_diff_folds() -> None:
    diff = "@@ -1,0 +1,40 @@\n" + "\n".join(f"+line {n}" for n in range(40))
    row = ToolRow(call_id="1", name="write", status="done", details={"diff": diff})
    assert shown(row)[-1] == f"  … {41 - FOLDED} more lines of the diff (ctrl+o)"
