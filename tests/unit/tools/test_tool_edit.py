"""`edit`: exact, unique, all or nothing, and not a byte beside. FT-01 to FT-07 and FT-13."""

from __future__ import annotations

import stat
import time
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import FakeToolContext, run, said

from zot_core.types.specs import ToolResult


def edit(path: Path, *edits: tuple[str, str] | tuple[str, str, bool]) -> ToolResult:
    wanted = [{"old_text": e[0], "new_text": e[1], "replace_all": len(e) > 2} for e in edits]
    return run("edit", FakeToolContext(path.parent), path=path.name, edits=wanted)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.txt"


def refused(file: Path, *edits: Any) -> str:
    """The words of an edit that must be refused, with the file as it was, to the byte and the inode."""
    before, inode = file.read_bytes(), file.stat().st_ino
    result = edit(file, *edits)
    assert result.is_error
    assert file.read_bytes() == before
    assert file.stat().st_ino == inode
    return said(result)


# --- FT-01: loose matching ------------------------------------------------------------------------------------------

LOOSE = "first   \n\u201cquoted\u201d \u2014 dash\nname = x\nno\u00a0break\n"


@pytest.mark.parametrize(
    ("old", "why"),
    [
        ("name = x ", "blanks at the ends of lines"),
        ("name  = x", "indentation or other blanks"),
        ("name =\u00a0x", "look alike"),
        ("Name = x", "letter case"),
    ],
)
def test_a_near_miss_is_refused_and_explained(file: Path, old: str, why: str) -> None:
    file.write_text(LOOSE)
    words = refused(file, (old, "name = y"))
    assert "Line 3 comes close and differs only in" in words
    assert why in words
    assert '"name = x"' in words


def test_only_the_span_changes(file: Path) -> None:
    file.write_text(LOOSE)
    result = edit(file, ("name = x", "name = y"))
    assert file.read_text() == LOOSE.replace("name = x", "name = y")
    assert said(result) == "Edited a.txt: 1 replacement, +1 -1 lines, at line 3"
    assert result.details is not None
    assert result.details["diff"] == (
        "--- a.txt\n+++ a.txt\n@@ -1,4 +1,4 @@\n first   \n \u201cquoted\u201d \u2014 dash\n"
        "-name = x\n+name = y\n no\u00a0break\n"
    )


def test_lookalikes_are_spelled_out(file: Path) -> None:
    file.write_text("say \u201chello\u201d\n")
    assert "\\u201chello\\u201d" in refused(file, ('say "hello"', "x"))


def test_indentation_is_explained_and_kept(file: Path) -> None:
    file.write_text("if x:\n\treturn 1\n")
    words = refused(file, ("if x:\n    return 1", "y"))
    assert "tabs and spaces" in words
    assert '"if x:\\n\\treturn 1"' in words


def test_far_misses_name_the_closest_line_or_say_that_there_is_none(file: Path) -> None:
    file.write_text("def compute_total(items):\n    return sum(items)\n")
    assert "closest line is 1" in refused(file, ("def compute_totals(item):\n    pass", "x"))
    assert "Nothing in the file comes close" in refused(file, ("zzzzqqqq", "x"))
    assert "line 1 of the file, but the lines around it differ" in refused(
        file, ("def compute_total(items):\n    pass", "x")
    )


@pytest.mark.parametrize(
    ("content", "old", "why"),
    [
        ("say \u201chello\u201d now\n", 'say "hello"', 'the file has "\u201c" (U+201C), old_text has "\\""'),
        ("if x:\n\treturn 1\n", "if x:\n    return 1", "in line 2: the file has 1 tab, old_text has 4 spaces"),
        ("a  \nb\n", "a\nb", "in line 1: the file has 2 spaces, old_text has nothing"),
        ("one\ntwo", "two\n", "no newline there"),
        ("one\rtwo\rthree", "one\ntwo", "end in CR alone"),
        ("cafe\u0301 x\n", "caf\u00e9 x", "(U+0065 U+0301)"),
        ("def f():\n    a = 1\n    b = 2\n    return a\n", "def f():\n    a = 1\n    b = 3\n    return a\n",
         'Lines 1 to 4 come close; line 3 differs. The file has: "    b = 2", old_text has: "    b = 3"'),
        ("x\n" * 3 + "the quick brown fox jumps over\n", "quick brwn fox", "The closest line is 4"),
    ],
)  # fmt: skip
def test_what_differs_is_spelled_out(file: Path, content: str, old: str, why: str) -> None:
    file.write_bytes(content.encode())
    assert why in refused(file, (old, "x"))


def test_a_near_miss_in_a_large_file_is_explained_in_bounded_time(file: Path) -> None:
    file.write_text("".join(f"line {n} of a file with some text in it\n" for n in range(300_000)))
    began = time.perf_counter()
    assert "closest line is 6" in refused(file, ("line 5 of a fle", "x"))
    assert "Nothing in the file comes close" in refused(file, ("zzz\nyyy\nxxx\nuuu", "x"))
    assert time.perf_counter() - began < 10


def test_too_much_escaping_is_named(file: Path) -> None:
    file.write_text('print("a")\nprint("b")\n')
    assert "without the backslashes" in refused(file, ('print(\\"a\\")\\nprint', "x"))


# --- FT-03: marks, encodings, line ends -----------------------------------------------------------------------------


def test_the_mark_stays(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfhello\n\xc3\xa9\n")
    assert not edit(file, ("hello", "hello2")).is_error
    assert file.read_bytes() == b"\xef\xbb\xbfhello2\n\xc3\xa9\n"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-be"])
def test_wide_encodings_stay(file: Path, codec: str) -> None:
    file.write_bytes("\ufeffhällo 😀\r\nzwei\r\n".encode(codec))
    result = edit(file, ("hällo", "grüß"), ("zwei", "drei\nvier"))
    assert not result.is_error
    assert file.read_bytes() == "\ufeffgrüß 😀\r\ndrei\r\nvier\r\n".encode(codec)


def test_bytes_that_are_no_text_stay(file: Path) -> None:
    file.write_bytes(b"\xc3\xa9\xc3\xa8\xc3\xb6\xc3\xbc \xff\xfe\xc3 name = x\n")
    result = edit(file, ("name = x", "name = ü"))
    assert not result.is_error, said(result)
    assert file.read_bytes() == b"\xc3\xa9\xc3\xa8\xc3\xb6\xc3\xbc \xff\xfe\xc3 name = \xc3\xbc\n"


def test_latin_1_stays_and_refuses_what_it_cannot_write(file: Path) -> None:
    file.write_bytes(b"gr\xfc\xdfe\n")
    assert "Latin-1" in said(edit(file, ("grüße", "größe")))
    assert file.read_bytes() == b"gr\xf6\xdfe\n"
    assert "cannot write" in refused(file, ("größe", "5 €"))


def test_an_utf_16_file_of_odd_length_is_refused(file: Path) -> None:
    file.write_bytes("\ufeffab".encode("utf-16-le") + b"x")
    assert "shell command" in refused(file, ("a", "b"))


def test_crlf_matches_and_stays(file: Path) -> None:
    file.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    assert not edit(file, ("one\ntwo", "eins\nzwei\nzweieinhalb")).is_error
    assert file.read_bytes() == b"eins\r\nzwei\r\nzweieinhalb\r\nthree\r\n"
    assert not edit(file, ("three", "drei\nvier")).is_error
    assert file.read_bytes() == b"eins\r\nzwei\r\nzweieinhalb\r\ndrei\r\nvier\r\n"


def test_mixed_line_ends_stay_where_they_are(file: Path) -> None:
    file.write_bytes(b"a\nb\r\nc\nd\r\n")
    assert not edit(file, ("a\nb\nc\nd", "a\nB\nc\nd")).is_error
    assert file.read_bytes() == b"a\nB\nc\nd\r\n"
    file.write_bytes(b"a\nb\r\nc\nd\r\n")
    assert not edit(file, ("b\nc", "b\nx\nc")).is_error
    assert file.read_bytes() == b"a\nb\r\nx\r\nc\nd\r\n"


def test_a_newline_alone_is_found_once_a_line(file: Path) -> None:
    file.write_bytes(b"a\r\nb")
    assert not edit(file, ("\nb", "\nc")).is_error
    assert file.read_bytes() == b"a\r\nc"


def test_the_final_newline_is_what_it_was(file: Path) -> None:
    file.write_bytes(b"one\ntwo")
    result = edit(file, ("one", "1"))
    assert file.read_bytes() == b"1\ntwo"
    assert result.details is not None
    assert "\\ No newline at end of file" in result.details["diff"]


# --- FT-05: literal -------------------------------------------------------------------------------------------------


def test_new_text_is_inserted_and_old_text_is_literal(file: Path) -> None:
    new = r"$& $1 $$ \1 \g<0> \d \n %s {0}"
    file.write_text("log(done)\naXb(c)[d]*\na.b(c)[d]*\n")
    assert not edit(file, ("log(done)", new), ("a.b(c)[d]*", "hit")).is_error
    assert file.read_text() == new + "\naXb(c)[d]*\nhit\n"
    file.write_bytes(b"a.b\r\n(c)\r\n")
    assert not edit(file, ("a.b\n(c)", new + "\n" + new)).is_error
    assert file.read_bytes() == f"{new}\r\n{new}\r\n".encode()


# --- FT-07: others at the same file; eight edits at once are in test_files_safety.py -------------------------------


def test_a_change_by_another_program_meanwhile_is_not_overwritten(file: Path) -> None:
    from zot_core.toolkit.operations import LocalFiles

    class Disturbed(LocalFiles):
        async def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
            data = await LocalFiles.read(self, path, offset, length)
            Path(path).write_text("somebody else's\n")
            return data

    file.write_text("x\n")
    ctx = FakeToolContext(file.parent, supplied={"edit": Disturbed(operation="write")})
    result = run("edit", ctx, path="a.txt", edits=[{"old_text": "x", "new_text": "y"}])
    assert result.is_error
    assert "changed by another program" in said(result)
    assert file.read_text() == "somebody else's\n"


# --- FT-13: empty, ambiguous, partly failing ------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["abc", ""])
def test_empty_old_text_is_refused(file: Path, content: str) -> None:
    file.write_text(content)
    assert "old_text is empty" in refused(file, ("", "x"))
    assert "old_text is empty" in refused(file, ("", "x", True))


def test_a_missing_file_is_not_created(file: Path) -> None:
    for old in ("", "x"):
        result = edit(file, (old, "y"))
        assert result.is_error
        assert "use write" in said(result)
    assert not file.exists()


def test_an_ambiguous_text_is_refused_with_its_lines(file: Path) -> None:
    file.write_text("x\ny\nx\n")
    assert "occurs 2 times (lines 1, 3)" in refused(file, ("x", "z"))
    file.write_text("aaa")
    assert "occurs 2 times" in refused(file, ("aa", "b"))
    file.write_bytes(b"a\nb\na\r\nb\n")
    assert "occurs 2 times" in refused(file, ("a\nb", "c"))


def test_replace_all(file: Path) -> None:
    file.write_text("x y x\nx\n")
    result = edit(file, ("x", "zz", True))
    assert file.read_text() == "zz y zz\nzz\n"
    assert "3 replacements, +2 -2 lines, at line 1, 2" in said(result)


def test_very_many_places_are_counted_and_changed_in_bounds(file: Path) -> None:
    file.write_text("a" * 300_000 + "\n")
    assert "occurs more than 1000 times" in refused(file, ("a", "b"))
    assert "occurs more than 200000 times" in refused(file, ("a", "b", True))
    file.write_text("a\n" * 100_000)
    result = edit(file, ("a", "b", True))
    assert "100000 replacements" in said(result)
    assert file.read_text() == "b\n" * 100_000
    assert result.details is not None
    assert result.details["diff_truncated"]
    assert len(result.details["diff"]) <= 256 * 1024


def test_same_old_and_new_is_refused(file: Path) -> None:
    file.write_text("x")
    assert "are the same" in refused(file, ("x", "x"))


def test_of_three_edits_with_one_miss_none_is_applied(file: Path) -> None:
    file.write_text("a\nb\nc\n")
    assert "Edit 2 of 3: old_text was not found" in refused(file, ("a", "1"), ("nope", "2"), ("c", "3"))


def test_overlapping_edits_are_refused(file: Path) -> None:
    file.write_text("abcdef\n")
    assert "Edits 1 and 2 overlap" in refused(file, ("abc", "1"), ("cde", "2"))
    assert "Edits 1 and 2 overlap" in refused(file, ("abcd", "1"), ("bc", "2"))
    assert not edit(file, ("abc", "1"), ("def", "2")).is_error
    assert file.read_text() == "12\n"


def test_an_edit_of_what_another_one_makes_is_refused_with_the_reason(file: Path) -> None:
    file.write_text("a\n")
    assert "only in the new_text of edit 1" in refused(file, ("a", "made"), ("made", "x"))


def test_edits_come_in_any_order(file: Path) -> None:
    file.write_text("".join(f"line {n}\n" for n in range(1, 31)))
    result = edit(file, ("line 25\n", ""), ("line 2\n", "line 2\nnew\n"))
    text = [f"line {n}" for n in range(1, 31) if n != 25]
    text.insert(2, "new")
    assert file.read_text().splitlines() == text
    assert result.details is not None
    assert result.details["diff"].count("@@ -") == 2
    assert result.details["first_changed_line"] == 3


def test_mode_stays(file: Path) -> None:
    file.write_text("x")
    file.chmod(0o750)
    edit(file, ("x", "y"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o750


def test_binaries_folders_and_lookalike_names_are_refused(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"\x00\x01\x02" * 10)
    (tmp_path / "folder").mkdir()
    (tmp_path / "a\u202fb").write_text("x")
    assert "binary" in refused(tmp_path / "b", ("x", "y"))
    assert "is a folder" in said(edit(tmp_path / "folder", ("x", "y")))
    words = said(edit(tmp_path / "a b", ("x", "y")))
    assert "look like it" in words
    assert "a\\u202fb" in words
    assert (tmp_path / "a\u202fb").read_text() == "x"


# --- older and foreign arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        {"edits": [{"old_text": "x", "new_text": "y"}]},
        {"old_text": "x", "new_text": "y"},
        {"oldText": "x", "newText": "y"},
        {"old_string": "x", "new_string": "y", "replace_all": False},
        {"edits": [{"oldText": "x", "newText": "y"}]},
        {"edits": '[{"old_text": "x", "new_text": "y"}]'},
        {"edits": {"old_text": "x", "new_text": "y"}},
        {"edits": [], "oldText": "x", "newText": "y"},
        {"edits": [{"old_text": "x", "new_text": "y", "replace_all": None}]},
    ],
)
def test_known_shapes_of_arguments_are_understood(file: Path, args: dict[str, Any]) -> None:
    file.write_text("x")
    assert not run("edit", FakeToolContext(file.parent), path="a.txt", **args).is_error
    assert file.read_text() == "y"
