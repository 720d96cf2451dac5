"""`grep` in files that are not UTF-8: characters are found as `read` shows them, or the result says what was not looked
at; a search for ASCII costs nothing more."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.tool_context import FakeToolContext, call, run, said

from zot_core.toolkit import ripgrep
from zot_core.toolkit.process import ProcessGroups
from zot_core.types.specs import FilesystemPolicy
from zot_plugins.tool_grep import encodings, hits, search

RUSSIAN = "Привет, это обычный русский текст, в котором достаточно слов для проверки кодировки.\nещё строка\n"
JAPANESE = "これは日本語のテキストです。検索できるはずです。\n次の行には漢字が含まれています。\n"


@pytest.fixture(params=("rg", "python"))
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "python":
        monkeypatch.setattr(ripgrep, "programs", lambda path: [])
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "utf8.txt").write_text("un café ici\nplain\n")
    (tmp_path / "latin.txt").write_bytes("# comment\nun café noir\nÉTÉ\n".encode("latin-1"))
    (tmp_path / "euro.txt").write_bytes("café à 5 €\r\n".encode("cp1252"))
    (tmp_path / "wide.txt").write_bytes("un café long\n".encode("utf-16"))
    (tmp_path / "russian.txt").write_bytes(RUSSIAN.encode("cp1251"))
    (tmp_path / "japanese.txt").write_bytes(JAPANESE.encode("cp932"))
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR caf\xe9 \xff\xfe" * 9)
    (tmp_path / "damaged.txt").write_bytes("é è à ü ö\n".encode() * 9 + b"caf\xe9\n")
    return tmp_path


def grep(folder: Path, pattern: str, **args: Any) -> str:
    result = run("grep", FakeToolContext(folder, **args.pop("context_of", {})), pattern=pattern, **args)
    assert not result.is_error, said(result)
    return said(result)


def test_a_word_with_an_accent_is_found_in_every_encoding(folder: Path, engine: str) -> None:
    assert grep(folder, "café") == (
        "euro.txt\n1: café à 5 €\n\nlatin.txt\n2: un café noir\n\nutf8.txt\n1: un café ici\n\nwide.txt\n1: un café long"
        "\n\n[Not UTF-8, taken as Windows-1252: euro.txt]\n\n[Not UTF-8, taken as Latin-1: latin.txt]"
    )


@pytest.mark.parametrize(
    ("pattern", "args", "file", "line"),
    [
        ("été", {"ignore_case": True}, "latin.txt", "3: ÉTÉ"),
        ("обычный\\s+русский", {}, "russian.txt", "1: Привет"),
        ("漢字", {"literal": True}, "japanese.txt", "2: 次の行"),
        ("caf\\x{e9} noir", {}, "latin.txt", "2: un café noir"),
        ("строка", {"path": "russian.txt"}, "russian.txt", "2: ещё строка"),
        ("€", {"glob": "eur*"}, "euro.txt", "1: café à 5 €"),
        ("noir\nÉ", {}, "latin.txt", "2: un café noir\n3: ÉTÉ"),
    ],
)
def test_all_ways_of_searching(
    folder: Path, engine: str, pattern: str, args: dict[str, Any], file: str, line: str
) -> None:
    if engine == "python" and "{" in pattern:
        pattern = pattern.replace("{", "").replace("}", "")  # Python's spelling
    text = grep(folder, pattern, **args)
    assert f"{file}\n{line}" in text
    assert "]" in text and f": {file}]" in text


def test_anything_beyond_ascii(folder: Path, engine: str) -> None:
    text = grep(folder, r"[^\x00-\x7F]")
    for name in ("damaged", "euro", "japanese", "latin", "russian", "utf8", "wide"):
        assert f"{name}.txt\n" in text, name


def test_context_and_limit_are_of_all_files_together(folder: Path, engine: str) -> None:
    assert grep(folder, "café", path="latin.txt", context=1).startswith(
        "latin.txt\n1- # comment\n2: un café noir\n3- ÉTÉ"
    )
    text = grep(folder, "café", limit=2)
    assert text.startswith("euro.txt\n1: café à 5 €\n\nlatin.txt\n2: un café noir\n\n[2 of 4 matching lines, in 2 of 4")


def test_too_much_output_is_searched_in_order(folder: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        (folder / f"many{number:02}.txt").write_bytes("é wie Café\n".encode("latin-1" if number % 2 else "utf-8") * 99)
    monkeypatch.setattr(hits, "OUTPUT_BYTES", 20_000)
    text = grep(folder, "é", limit=150, glob="many*")
    assert text.count(": é wie Café\n") == 150
    assert text.startswith("many00.txt\n1: é") and "\n\nmany01.txt\n1: é" in text
    assert "[The first 150 matching lines; there are very many more" in text


def test_too_many_files_to_judge_are_said(folder: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings, "MOST", 2)
    text = grep(folder, "café")
    assert "[Not UTF-8, so only ASCII is found in them: " in text and "latin.txt" in text.rpartition("only ASCII")[2]


def test_too_little_time_to_find_them_is_said(folder: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "LOOKING_S", 0.0)
    text = grep(folder, "café")
    assert "utf8.txt\n1: un café ici" in text
    assert "[In files that are not UTF-8 only ASCII is found: there was too much to tell." in text
    assert "latin.txt\n2: un café noir" in grep(folder, "café", path="latin.txt")


def test_a_policy_holds_for_them_too(folder: Path, engine: str) -> None:
    guard = FilesystemPolicy(name="g", check=lambda request: "closed" if "latin" in request.path else None)
    text = grep(folder, "café", context_of={"policies": (guard,)})
    assert "euro.txt\n1: café" in text and "latin.txt" not in text


@pytest.mark.parametrize(
    ("pattern", "literal", "programs"), [("needle.*x|[a-z]", False, 1), ("é", False, 2), ("\\xE9", True, 1)]
)
def test_a_search_for_ascii_runs_one_program(
    tmp_path: Path, pattern: str, literal: bool, programs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("é\n")
    ran: list[str] = []
    spawn = ProcessGroups.spawn

    async def noted(self: ProcessGroups, argv: Any, **options: Any) -> Any:
        ran.append(argv[0])
        return await spawn(self, argv, **options)

    monkeypatch.setattr(ProcessGroups, "spawn", noted)
    grep(tmp_path, pattern, literal=literal)
    assert len(ran) == programs


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=60))
def test_what_is_no_utf8_is_told_by_the_pattern_as_by_python(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data.replace(b"\0", b" "))
    try:
        data.decode()
        valid = True
    except UnicodeDecodeError:
        valid = False

    async def main() -> list[str]:
        from zot_core.toolkit.filesystem import Guard
        from zot_core.toolkit.ripgrep import Runner, search_environment
        from zot_core.toolkit.shell import shell_environment
        from zot_plugins.tool_grep.search import Query, Search

        runner = Runner(env=search_environment(shell_environment()))
        looking = Search(
            query=Query(pattern="", not_utf8=True), root=str(tmp_path), file="", runner=runner, guard=Guard(), limit=9
        )
        outcome = await looking._once(hits.Hits(9, lambda name: True), None)
        return outcome.hits.names()

    found = asyncio.run(main())
    if valid:
        assert found == []
    elif not any(short in data for short in (b"\xe0", b"\xed", b"\xf0", b"\xf4")):  # short forms and surrogates
        assert found == ["x"]


def test_two_searches_at_a_time(folder: Path) -> None:
    async def main() -> None:
        ctx = FakeToolContext(folder)
        results = await asyncio.gather(*(call("grep", {"pattern": "café"}, ctx) for _ in range(5)))
        assert len({said(result) for result in results}) == 1

    asyncio.run(main())
