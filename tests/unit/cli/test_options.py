"""The command line as cli.md has it: where flags may stand, what their values are, what is said of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from zot_cli.flags import FLAGS
from zot_cli.options import CommandLine, parse
from zot_core.types.failure import UsageError
from zot_core.types.specs import FlagSpec


def strict(*argv: str, flags: tuple[FlagSpec, ...] = ()) -> CommandLine:
    line = parse(argv)
    line.reparse(flags)
    return line


def refused(*argv: str, flags: tuple[FlagSpec, ...] = ()) -> str:
    with pytest.raises(UsageError) as caught:
        strict(*argv, flags=flags)
    return str(caught.value)


def test_words_are_joined_by_blanks_and_flags_may_stand_among_them() -> None:
    line = strict("fix", "-p", "the", "--model", "gpt", "bug")
    assert line.prompt == "fix the bug"
    assert line.mode == "print"
    assert line.get("model") == "gpt"


def test_a_value_may_follow_or_be_joined_by_an_equals_sign() -> None:
    assert strict("--model=a=b").get("model") == "a=b"
    assert strict("--model", "a=b").get("model") == "a=b"


def test_two_dashes_end_the_flags() -> None:
    line = strict("-p", "--", "--model", "-c")
    assert line.words == ["--model", "-c"]
    assert line.get("continue_session") is None


@pytest.mark.parametrize("word", ["-", "-5 degrees?", "-5", "- a list", "--what is this?"])
def test_what_only_looks_like_a_flag_is_a_word(word: str) -> None:
    assert strict("-p", word).words == [word]


def test_short_flags_may_be_bundled() -> None:
    line = strict("-pc", "hello")
    assert line.get("print") and line.get("continue_session")
    assert refused("-px").startswith("unknown flag -px")


def test_plugins_and_extensions_keep_their_one_order() -> None:
    line = strict("--ext", "a", "--plugin", "b.py", "-e", "c", "hello", "--extension=d", "--plugin=e")
    assert line.explicit == [("ext", "a"), ("plugin", "b.py"), ("ext", "c"), ("ext", "d"), ("plugin", "e")]


def test_repeatable_values_keep_their_order_and_others_take_the_last() -> None:
    line = strict("--append-system-prompt", "a", "--append-system-prompt=b", "--model", "x", "--model", "y")
    assert line.get("append_system_prompt") == ("a", "b")
    assert line.get("model") == "y"


def test_a_file_is_read_for_a_system_prompt(tmp_path: Path) -> None:
    (tmp_path / "s.md").write_text("Be brief.\n", encoding="utf-8")
    assert strict("--system-prompt", f"@{tmp_path}/s.md").get("system_prompt") == "Be brief.\n"
    assert "no.md" in refused("--append-system-prompt", f"@{tmp_path}/no.md")
    assert strict("--system-prompt=").get("system_prompt") == ""


@pytest.mark.parametrize(
    ("argv", "value", "words"),
    [
        (["-r"], "", []),
        (["-r", "a1b2c3"], "a1b2c3", []),
        (["--resume=a1b2c3", "go", "on"], "a1b2c3", ["go", "on"]),
        (["-r", "a1b2c3", "go", "on"], "a1b2c3", ["go", "on"]),
        (["-r", "go on, please"], "", ["go on, please"]),
        (["-r", "-p", "go"], "", ["go"]),
        (["-r", "--", "go"], "", ["go"]),
    ],
)
def test_resume_takes_an_id_if_one_follows(argv: list[str], value: str, words: list[str]) -> None:
    line = strict(*argv)
    assert line.get("resume") == value
    assert line.words == words


def test_trust_has_two_words() -> None:
    assert strict("--trust").get("trust") is True
    assert strict("--no-trust").get("trust") is False
    assert strict().get("trust") is None


def test_lists_are_split_at_commas() -> None:
    assert strict("--tools", "read, bash,").get("tools") == ("read", "bash")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--modle", "x"], ["unknown flag --modle", "did you mean --mode or --model?", "zot --help"]),
        (["--reasoning", "hihg"], ["--reasoning hihg", "medium", "did you mean high?"]),
        (["--api", "openai"], ["anthropic-messages"]),
        (["--max-steps", "0"], ["--max-steps 0", "whole number from 1"]),
        (["--max-steps", "many"], ["whole number from 1"]),
        (["--model"], ["--model needs a value"]),
        (["--model", "--print"], ["--model needs a value", "--model=--print"]),
        (["--model="], ["--model needs a value"]),
        (["--print=yes"], ["--print takes no value"]),
        (["--mode", "prnt"], ["did you mean print?"]),
        (["--skill", "x"], ["unknown flag --skill"]),
    ],
)
def test_a_wrong_line_says_what_is_right(argv: list[str], said: list[str]) -> None:
    message = refused(*argv)
    for text in said:
        assert text in message


def test_modes_have_two_spellings() -> None:
    assert parse(["--mode", "json"]).mode == "json"
    assert parse(["--json"]).mode == "json"
    assert parse(["--mode=print"]).mode == "print"
    assert parse(["hello"]).mode == ""


PLUGIN_FLAGS = (
    FlagSpec(name="deploy-to", type="str", default="nowhere"),
    FlagSpec(name="dry", type="bool", default=False),
    FlagSpec(name="times", type="int", default=1),
    FlagSpec(name="tag", type="str", repeatable=True),
)


def test_the_first_parse_keeps_unknown_flags_and_the_second_gives_them_their_values() -> None:
    argv = ["-p", "--deploy-to", "mars", "ship", "--dry", "it", "--times=3", "--tag", "a", "--tag", "b"]
    line = parse(argv)
    assert line.unknown == ["--deploy-to", "--dry", "--times=3", "--tag", "--tag"]
    values = line.reparse(PLUGIN_FLAGS)
    assert values == {"deploy-to": "mars", "dry": True, "times": 3, "tag": ("a", "b")}
    assert line.prompt == "ship it"
    assert line.unknown == []


def test_flags_of_plugins_that_are_not_given_have_their_default() -> None:
    assert parse(["hello"]).reparse(PLUGIN_FLAGS) == {"deploy-to": "nowhere", "dry": False, "times": 1, "tag": None}


def test_a_plugins_flag_is_checked_and_offered_as_the_nearest_spelling() -> None:
    assert "did you mean --deploy-to?" in refused("--deply-to", "x", flags=PLUGIN_FLAGS)
    assert "not a number" in refused("--times", "x", flags=PLUGIN_FLAGS)


def test_a_plugin_cannot_take_a_core_flag() -> None:
    line = parse(["--model", "gpt"])
    line.reparse([FlagSpec(name="model", type="bool")])
    assert line.get("model") == "gpt"


def test_a_first_word_that_names_a_command_ends_the_flags() -> None:
    line = parse(["--cwd", "/x", "sessions", "show", "--json", "--odd"], {"sessions"})
    assert (line.command, line.rest) == ("sessions", ("show", "--json", "--odd"))
    assert line.get("cwd") == "/x"


@pytest.mark.parametrize(
    "argv", [["-p", "sessions", "are", "fun"], ["how", "do", "sessions", "work"], ["--", "sessions"]]
)
def test_a_prompt_may_hold_a_commands_name(argv: list[str]) -> None:
    assert parse(argv, {"sessions"}).command == ""


def test_no_flag_is_spelt_twice_and_each_has_a_line_of_help() -> None:
    names = [name for flag in FLAGS for name in flag.names]
    assert len(names) == len(set(names))
    assert all(flag.help.endswith(".") for flag in FLAGS)
