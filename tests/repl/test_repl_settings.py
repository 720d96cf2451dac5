"""`/settings` on the screen: what is chosen is kept whole, said, and holds; and what the footer keeps saying."""

from __future__ import annotations

import json
from typing import Any

SETTINGS = '{\n  // mine\n  "retry": {"attempts": 4},\n  "unknown_thing": 1\n}\n'
GUARD = "from zot_core import hookimpl\n\n\n@hookimpl\ndef tools():\n    return []\n"


def opened(desk: Any, **options: Any) -> Any:
    zot = desk.zot(**options)
    zot.type("/settings")
    zot.press("esc", "enter")
    return zot.wait("enter changes")


def narrowed(zot: Any, word: str) -> Any:
    zot.type(word)
    return zot.wait(f"filter: {word}")


def test_a_number_is_checked_kept_and_holds_after_a_reload(desk: Any) -> None:
    path = desk.home / "settings.json"
    path.write_text(SETTINGS)
    zot = narrowed(opened(desk), "attempts")
    assert "settings.json" in next(line for line in zot.lines if "› retry.attempts" in line)
    zot.press("enter")
    zot.wait("takes it")
    zot.press("backspace")
    zot.type("0")
    zot.press("enter")
    zot.wait("must be greater than or equal to 1")
    assert path.read_text() == SETTINGS
    zot.press("enter")
    zot.wait("takes it")
    zot.press("backspace")
    zot.type("7")
    zot.press("enter")
    zot.wait("it holds from the next /reload on")
    assert path.read_text() == SETTINGS.replace("4", "7")
    zot.press("esc")
    zot.wait("retry.attempts is 7 now")
    zot.wait("settings changed: /reload")
    zot.type("/reload")
    zot.press("esc", "enter")
    zot.wait("Loaded anew").wait(lambda screen: "settings changed" not in screen.text)
    zot.type("/settings attempts")
    zot.press("enter")
    zot.wait(lambda screen: any(line.split()[:2] == ["retry.attempts", "7"] for line in screen.lines))


def test_a_theme_is_used_at_once(desk: Any) -> None:
    folder = desk.home / "themes"
    folder.mkdir()
    (folder / "poppy.json").write_text(
        json.dumps({"name": "poppy", "appearance": "dark", "colors": {"accent": "#ff0102"}})
    )
    zot = narrowed(opened(desk, COLORTERM="truecolor"), "colours")
    zot.press("enter")
    zot.wait("takes it")
    zot.type("poppy")
    zot.wait("filter: poppy")
    zot.press("enter")
    zot.wait(lambda screen: b"38;2;255;1;2" in screen.raw)
    zot.press("esc")
    zot.wait("theme is poppy now")
    assert "/reload" not in zot.text
    assert json.loads((desk.home / "settings.json").read_text()) == {"theme": "poppy"}


def test_a_file_that_does_not_parse_is_left_alone(desk: Any) -> None:
    zot = narrowed(opened(desk), "verify")
    (desk.home / "settings.json").write_text("{broken")
    zot.press("enter")
    zot.wait(lambda screen: "nothing was saved" in " ".join(screen.text.split()))
    assert (desk.home / "settings.json").read_text() == "{broken"


def test_the_projects_own_value_counts_and_that_is_said(desk: Any) -> None:
    (desk.project / ".zot").mkdir()
    (desk.project / ".zot" / "settings.json").write_text('{"queue": {"enter": "follow_up"}}')
    (desk.home / "settings.json").write_text('{"default_project_trust": "always"}')
    zot = narrowed(opened(desk, columns=140), "queue.enter")
    zot.wait("the project's settings.json")
    zot.press("enter")
    zot.wait(lambda screen: "says follow_up, and that counts here" in " ".join(screen.text.split()))
    assert json.loads((desk.home / "settings.json").read_text())["queue"] == {"enter": "steer"}


def test_a_reload_says_what_it_loaded_for_a_while_and_what_failed_until_it_is_mended(desk: Any) -> None:
    guard = desk.home / "plugins" / "guard.py"
    guard.parent.mkdir()
    guard.write_text("import nothing_there\n")
    zot = desk.zot()
    zot.wait("'nothing_there'")
    zot.wait("! 1 plugin failed: /plugins")
    for again in (2, 3):  # each reload says it anew
        zot.type("/reload")
        zot.press("esc", "enter")
        zot.wait(lambda screen, n=again: screen.everything.count("'nothing_there'") == n + 1)  # and in the list
        zot.wait("[reload] 1 not loaded:\n  guard: ")
        zot.wait("! 1 plugin failed: /plugins")
    zot.type("still there")
    zot.press("enter")
    zot.wait("› still there").wait("[reload] 1 not loaded:")  # a prompt does not take it away
    guard.write_text(GUARD)
    zot.type("/reload")
    zot.press("esc", "enter")
    zot.wait(lambda screen: "1 plugin failed" not in screen.text and "not loaded" not in screen.text)
    zot.wait("Loaded anew")
    assert "Loaded anew" not in zot.wait(lambda screen: "Loaded anew" not in screen.text).everything


def test_what_a_tool_may_do_stands_in_the_footer_from_the_start(desk: Any) -> None:
    (desk.home / "settings.json").write_text('{"plugins": {"permissions": {"preset": "read-only"}}}')
    zot = desk.zot()
    zot.wait("permissions: read-only")
    zot.type("/reload")
    zot.press("esc", "enter")
    zot.wait("Loaded anew").wait("permissions: read-only")
