"""Themes as files: what is read, what is said of a mistake, what a colour becomes on a lesser terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zot_core.ui.color import ANSI, Color, color_of, contrast, depth_of, rgb_of
from zot_core.ui.theme import BUILT_IN, Theme, ThemeError, built_in, load_theme
from zot_core.ui.theme_list import find_themes
from zot_core.ui.tokens import INSTEAD, KNOWN, OTHER_NAMES, TOKENS, is_background

DARK = [(0, 0, 0), (30, 30, 30), (40, 44, 52)]
LIGHT = [(255, 255, 255), (250, 250, 250), (253, 246, 227)]
NOT_TEXT = {"border", "borderAccent", "borderMuted", "mdQuoteBorder", "mdHr", "mdCodeBlockBorder", "bashMode"}
Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """`put(colors={...}, vars={...})` writes a theme, `put("text")` what is none; `name` is the file's."""

    def put(text: str | None = None, *, file: str = "mine.json", **data: Any) -> Path:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, indent=1) if text is None else text, encoding="utf-8")
        return path

    return put


def whole(**changes: Any) -> dict[str, Any]:
    return {token: "" for token in TOKENS} | changes


def wrong(path: Path) -> list[str]:
    with pytest.raises(ThemeError) as raised:
        load_theme(path)
    said = str(raised.value).splitlines()
    assert all(line.startswith(f"{path}") for line in said)
    return [line.removeprefix(f"{path}").removeprefix(":").strip() for line in said if "taken from" not in line]


# --- the built-in ones --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", BUILT_IN, ids=["dark", "light"])
def test_a_built_in_theme_is_whole_and_without_a_fault(path: str) -> None:
    theme = load_theme(path, terminal="light" if "dark" in path else "dark")
    assert (theme.problems, theme.missing) == ((), ())
    assert theme.name == theme.appearance == Path(path).stem
    assert theme.colors.keys() == set(TOKENS)
    assert built_in(theme.appearance) == theme


@pytest.mark.parametrize("appearance", ["dark", "light"])
def test_text_is_read_well_on_what_terminals_have(appearance: Any) -> None:
    theme, behind = built_in(appearance), DARK if appearance == "dark" else LIGHT
    for token in KNOWN:
        color = theme.style(token).as_rgb()
        if (
            color is None
            or is_background(token)
            or token in NOT_TEXT
            or (token.startswith("thinking") and token != "thinkingText")
        ):
            continue
        assert min(contrast(color, one) for one in behind) >= 4.5, token


@pytest.mark.parametrize("depth", ["16", "256"])
@pytest.mark.parametrize("appearance", ["dark", "light"])
def test_text_is_read_well_with_few_colours(appearance: Any, depth: Any) -> None:
    theme, behind = built_in(appearance).at(depth), DARK if appearance == "dark" else LIGHT
    for token in KNOWN:
        color = theme.style(token).as_rgb()
        if color is None or is_background(token):
            continue
        standing_back = token in NOT_TEXT or token.startswith("thinking") or len(set(color)) == 1
        if depth == "16":  # the terminal's own sixteen are made for its background: the plain one
            assert contrast(color, behind[0]) >= (3 if standing_back else 4.2), token
        elif not standing_back:
            assert min(contrast(color, one) for one in behind) >= 4.5, token


def test_a_colour_that_a_theme_takes_from_the_sixteen_stays() -> None:
    theme = Theme(name="x", appearance="light", colors={"accent": Color(11)}, depth="16")
    assert theme.style("accent") == Color(11)


@pytest.mark.parametrize("appearance", ["dark", "light"])
def test_text_is_read_well_on_what_themes_put_behind_it(appearance: Any) -> None:
    theme = built_in(appearance)
    pairs = {
        "userMessageBg": ["userMessageText", "muted", "dim", "mdHeading", "mdLink", "mdCode", "userLabel"],
        "customMessageBg": ["customMessageText", "customMessageLabel"],
        "toolPendingBg": ["toolTitle", "toolOutput", "dim"],
        "toolSuccessBg": [
            "toolTitle",
            "toolOutput",
            "toolDiffAdded",
            "toolDiffRemoved",
            "toolDiffContext",
            "syntaxString",
        ],
        "toolErrorBg": ["toolTitle", "toolOutput", "error"],
        "selectedBg": ["accent", "userMessageText"],
    }
    for behind, texts in pairs.items():
        ground = theme.style(behind).as_rgb()
        assert ground is not None
        for text in texts:
            color = theme.style(text).as_rgb()
            assert color is not None and contrast(color, ground) >= 4.5, (text, behind)


def test_a_built_in_theme_comes_without_pydantic() -> None:
    use = "import sys; from zot_core.ui.theme import built_in; built_in('dark').fg('accent', 'x')"
    code = f"{use}; print('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


# --- what is read -------------------------------------------------------------------------------------------------


def test_every_form_of_a_colour(put: Put) -> None:
    names = {"sky": "#0af", "grey": 242, "own": "", "again": "more", "more": "sky"}
    colors = {"accent": "#00AAff", "border": 7, "error": "grey", "text": "own", "muted": "again", "dim": 255}
    theme = load_theme(put(name="mine", vars=names, colors=whole(**colors)))
    shown = {token: theme.style(token).name for token in colors}
    assert shown == {
        "accent": "#00aaff",
        "border": "ansigray",
        "error": "#6c6c6c",
        "text": "",
        "muted": "#00aaff",
        "dim": "#eeeeee",
    }
    assert theme.problems == () and theme.missing == ()


def test_a_file_of_pi_is_read_as_it_is(put: Put) -> None:
    data = {
        "$schema": "https://example.org/theme-schema.json",
        "name": "pi",
        "vars": {"a": 39},
        "colors": whole(accent="a"),
    }
    theme = load_theme(put(**data, export={"pageBg": "#18181e", "cardBg": "nonsense"}))
    assert theme.problems == ()
    assert theme.style("accent") == Color(39)


def test_a_file_of_the_go_zot_is_read_as_it_is(put: Put) -> None:
    colors = {"fg": 250, "tool_out": 245, "selection_bg": 24, "dark": {"accent": 204}, "light": {"accent": 161}}
    path = put(
        name="go", colors=colors, spinner_frames=["a", "b"], spinner_messages=["working"], spinner_interval_ms=120
    )
    dark, light = load_theme(path), load_theme(path, terminal="light")
    assert (dark.appearance, light.appearance) == ("dark", "light")
    assert (dark.style("accent"), light.style("accent")) == (Color(204), Color(161))
    assert dark.style("text") == Color(250) and dark.style("toolOutput") == Color(245)
    assert light.style("selectedBg") == Color(24)
    assert light.style("muted") == built_in("light").style("muted")
    assert (dark.spinner.frames, dark.spinner.messages, dark.spinner.interval_ms) == (("a", "b"), ("working",), 120)


def test_the_only_mode_there_is_counts_for_both(put: Put) -> None:
    path = put(colors={"dark": {"accent": 204}}, syntax={"keyword": 1})
    theme = load_theme(path, terminal="light")
    assert theme.appearance == "light"
    assert (theme.style("accent"), theme.style("syntaxKeyword")) == (Color(204), Color(1))
    assert theme.style("muted") == built_in("light").style("muted")


def test_what_is_missing_is_the_built_in_ones_and_said(put: Put) -> None:
    colors = whole(text="#101010")
    del colors["mdCode"], colors["accent"]
    theme = load_theme(put(name="mine", colors=colors))
    assert theme.appearance == "light" and theme.missing == ("accent", "mdCode")
    assert theme.style("mdCode") == built_in("light").style("mdCode")
    (said,) = theme.problems
    assert said.level == "info"
    assert said.message == "accent, mdCode are not given: taken from the built-in theme light"


@pytest.mark.parametrize(
    ("given", "appearance"),
    [
        ({"appearance": "light"}, "light"),
        ({"colors": {"text": "#eeeeee"}}, "dark"),
        ({"colors": {"userMessageBg": "#fff", "selectedBg": "#eee"}}, "light"),
        ({"colors": {"userMessageBg": 235}}, "dark"),
        ({"colors": {"accent": "#ff0000"}}, "dark"),
        ({}, "dark"),
    ],
)
def test_what_a_theme_is_for(put: Put, given: dict[str, Any], appearance: str) -> None:
    assert load_theme(put(**given)).appearance == appearance


@pytest.mark.parametrize(
    ("file", "name"),
    [("a.json", "a"), ("sun/theme.json", "sun"), ("sun/themes/theme.json", "sun"), ("themes/b.json", "b")],
)
def test_a_theme_without_a_name_has_its_place_s(put: Put, file: str, name: str) -> None:
    assert load_theme(put(file=file)).name == name


def test_tokens_by_any_spelling(put: Put) -> None:
    theme = load_theme(put(colors={"tool_title": 1, "md-heading": 2, "THINKINGMAX": 3}))
    assert [theme.style(token) for token in ("toolTitle", "mdHeading", "thinkingMax")] == [Color(1), Color(2), Color(3)]
    assert theme.style("tool_title") == Color(1)
    with pytest.raises(ThemeError, match="no colour token 'toolTitel'; did you mean toolTitle"):
        theme.style("toolTitel")


def test_what_stands_in_for_a_token_follows_the_theme() -> None:
    assert set(INSTEAD.values()) <= set(TOKENS) and not INSTEAD.keys() & set(TOKENS)
    assert set(OTHER_NAMES.values()) <= KNOWN
    theme = Theme(name="x", appearance="dark", colors=dict.fromkeys(TOKENS, Color()) | {"selectedBg": Color(9)})
    assert theme.style("scrollbarThumb") == theme.style("searchMatchBg") == Color(9)


# --- what is wrong ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("colors", "said"),
    [
        ({"accent": "#12345"}, "4: colors.accent: '#12345' is no colour; give \"#rrggbb\", a number from 0 to 255"),
        ({"accent": "#gggggg"}, "4: colors.accent: '#gggggg' is no colour"),
        ({"accent": 256}, "4: colors.accent: 256 is no colour"),
        ({"accent": -1}, "4: colors.accent: -1 is no colour"),
        ({"accent": True}, "4: colors.accent: True is no colour"),
        ({"accent": 1.5}, "4: colors.accent: 1.5 is no colour"),
        ({"accent": None}, "4: colors.accent: None is no colour"),
        ({"accent": "bleu"}, "4: colors.accent: vars has no 'bleu'; a colour is"),
        ({"dark": {"accent": "bleu"}}, "5: colors.dark.accent: vars has no 'bleu'"),
        ({"dark": {"accent": 1}, "light": {"accent": "bleu"}}, "8: colors.light.accent: vars has no 'bleu'"),
        ({"dark": 7}, "4: colors.dark: must be an object"),
    ],
)
def test_a_wrong_colour_names_file_line_and_token(put: Put, colors: dict[str, Any], said: str) -> None:
    (line,) = wrong(put(name="mine", colors=colors))
    assert line.startswith(said)


def test_all_that_is_wrong_is_said_at_once(put: Put) -> None:
    path = put(vars={"a": "b", "b": "c", "c": "a", "d": "x"}, colors={"accent": "a", "error": "#zzz", "acent": 1})
    said = wrong(path)
    assert len(said) == 7
    assert "vars.d: vars has no 'x'" in said[3] and "vars.a: b -> c -> a -> b goes round in vars" in said[0]
    assert said[6].endswith("colors.acent: there is no such token; did you mean accent?")


def test_a_misspelt_token_does_not_break_a_theme(put: Put) -> None:
    theme = load_theme(put(colors=whole(mdHeadign=1, of_tomorrow=2)))
    assert [problem.message for problem in theme.problems] == [
        "colors.mdHeadign: there is no such token; did you mean mdHeading?",
        "colors.of_tomorrow: there is no such token",
    ]
    assert {problem.level for problem in theme.problems} == {"warning"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", None),
        ('{"colors": {"accent": 1,},} // as people write', None),
        ("{", "1: "),
        ("[]", "1: must be an object {...}, not a list"),
        ('{"colors": []}', "1: colors: should be a valid dictionary"),
        ('{"name": 7}', "1: name: should be a valid string"),
        ('{"name": "a/b"}', "1: name: 'a/b' cannot be the name of a theme"),
        ('{"appearance": "dim"}', "1: appearance: should be 'dark' or 'light'"),
        ('{"spinner": {"interval_ms": -5}}', "1: spinner.interval_ms: should be greater than or equal to 0"),
        ('{"spinner_frames": [1]}', "1: spinner_frames.0: should be a valid string"),
    ],
)
def test_a_file_without_the_right_shape(put: Put, text: str, said: str | None) -> None:
    path = put(text)
    if said is None:
        assert load_theme(path).name == "mine"
    else:
        (line,) = wrong(path)
        assert line.startswith(said)


def test_a_file_that_cannot_be_read(tmp_path: Path, put: Put) -> None:
    assert wrong(tmp_path / "none.json") == ["this theme cannot be read: No such file or directory"]
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path, tmp_path / "pipe.json", put(" " * (1 << 20) + "{}")):
        assert wrong(path) == ["a theme is a regular file of at most 1 MiB"]


def test_the_page_names_every_token() -> None:
    page = (Path(__file__).parents[3] / "docs" / "themes.md").read_text(encoding="utf-8")
    assert [token for token in KNOWN if page.count(f"`{token}`") < 1] == []


# --- lesser terminals ---------------------------------------------------------------------------------------------


def test_colours_come_as_near_as_a_terminal_can() -> None:
    orange = color_of("#ff8700")
    assert orange is not None
    assert [orange.at(depth) for depth in ("truecolor", "256", "16", "none")] == [
        orange,
        Color(208),
        Color(11),
        Color(),
    ]
    near = {"#7aa2f7": 12, "#b3261e": 1, "#a4acbd": 7, "#000000": 0, "#ffffff": 15, "#1d7a34": 2, "#767676": 8}
    assert {written: (color_of(written) or Color()).at("16").index for written in near} == near
    assert Color(208).at("256") == Color(208) and Color(3).at("16") == Color(3)
    assert all(
        Color(None, rgb_of(index)).at("256").at("truecolor").as_rgb() == rgb_of(index) for index in range(16, 256)
    )


def test_what_a_terminal_is_sent() -> None:
    theme = Theme(
        name="x", appearance="dark", colors={"accent": Color(None, (1, 2, 3)), "text": Color(), "error": Color(9)}
    )
    assert theme.fg("accent", "a") == "\x1b[38;2;1;2;3ma\x1b[39m"
    assert theme.bg("error", "a") == "\x1b[101ma\x1b[49m"
    assert theme.fg("text", "a") == theme.at("none").fg("accent", "a") == "a"
    assert theme.bold(theme.italic("a")) == "\x1b[1m\x1b[3ma\x1b[23m\x1b[22m"
    assert Color(208).sgr() == "38;5;208" and Color(208).sgr(background=True) == "48;5;208" and Color(1).sgr() == "31"
    assert {name for name, _ in ANSI} >= {"black", "brightblack", "white"}


def test_sixteen_colours_leave_soft_backgrounds_out() -> None:
    theme = built_in("dark").at("16")
    assert theme.style("userMessageBg").is_default and theme.style("accent") == Color(12)
    assert Theme(name="x", appearance="dark", colors={"selectedBg": Color(4)}, depth="16").style("selectedBg") == Color(
        4
    )


@pytest.mark.parametrize(
    ("env", "depth"),
    [
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "truecolor"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, "none"),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, "none"),
        ({"TERM": "xterm-direct"}, "truecolor"),
        ({"TERM": "linux"}, "16"),
    ],
)
def test_how_many_colours_there_are(env: dict[str, str], depth: str) -> None:
    assert depth_of(env) == depth


# --- which there are ----------------------------------------------------------------------------------------------


def test_the_first_of_a_name_wins_and_a_broken_one_is_named(put: Put, tmp_path: Path) -> None:
    first = put(file="a/one.json", name="one", colors=whole())
    put(file="a/bad.json", colors={"accent": "#1"})
    second = put(file="b/other.json", name="one", colors=whole())
    put(file="b/notes.txt")
    (tmp_path / "c").symlink_to(tmp_path / "a")
    found = find_themes([tmp_path / "a", tmp_path / "c", second, tmp_path / "none", *map(Path, BUILT_IN)])
    assert list(found.by_name) == ["one", "dark", "light"]
    assert found.by_name["one"].path == str(first)
    said = [str(problem) for problem in found.problems if problem.level != "info"]
    assert said[0].startswith(f"{tmp_path / 'a' / 'bad.json'}:3: colors.accent: '#1' is no colour")
    assert said[1] == f"{second}: this theme one is not used; {first} comes first"
    assert len(said) == 2
