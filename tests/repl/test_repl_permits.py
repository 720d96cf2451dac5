"""What tools may do, from the keyboard: the jail switched in a session, presets from a list, a long call seen whole."""

from __future__ import annotations

from typing import Any


def call(name: str, **args: Any) -> list[Any]:
    return [{"tool_call": {"name": name, "args": args}}]


def test_the_jail_is_switched_in_a_session(desk: Any) -> None:
    (desk.project.parent / "outside.txt").write_text("beyond the wall\n")
    reading = call("read", path="../outside.txt")
    desk.script(reading, ["First."], reading, ["Second."], reading, ["Third."])
    zot = desk.zot()
    zot.type("one")
    zot.press("enter")
    zot.wait("First.")
    assert "beyond the wall" in zot.text
    zot.type("/jail")
    zot.press("enter")
    zot.wait("The jail is on from the next tool call.")
    zot.wait(lambda screen: screen.lines[-1].strip() == "jail" or screen.text.rstrip().endswith("jail"))
    zot.type("two")
    zot.press("enter")
    zot.wait("Second.")
    said = zot.text.split("The jail is on")[-1]
    assert "outside of the project" in " ".join(said.split()) and "beyond the wall" not in said
    zot.type("/unjail")
    zot.press("enter")
    zot.wait("The jail is off from the next tool call")
    zot.wait(lambda screen: not screen.text.rstrip().endswith("jail"))
    zot.type("three")
    zot.press("enter")
    zot.wait("Third.")
    assert "beyond the wall" in zot.text.split("The jail is off")[-1]


def test_a_long_call_is_cut_in_its_middle_and_seen_whole_by_a_key(desk: Any) -> None:
    command = "\n".join(["touch begin", *(f"true line{number}" for number in range(60)), "touch end"])
    desk.script(call("bash", command=command), ["Over."])
    zot = desk.zot("--no-yolo")
    zot.type("go")
    zot.press("enter")
    zot.wait("Run bash?")
    zot.wait("ctrl+o shows all")
    assert "touch begin" in zot.text and "touch end" in zot.text and "No, and say why" in zot.text
    assert "true line30" not in zot.text
    zot.press("ctrl+o")
    zot.wait("lines 1 to")
    zot.press("pagedown")
    zot.wait("true line30")
    zot.type("q")
    zot.wait("Run bash?")
    zot.press("enter")
    zot.wait("Over.")
    assert (desk.project / "begin").exists() and (desk.project / "end").exists()


def test_an_edit_is_asked_about_with_its_lines_in_colour(desk: Any) -> None:
    (desk.project / "a.txt").write_text("old words\n")
    edit = call("edit", path="a.txt", edits=[{"old_text": "old words", "new_text": "new words"}])
    desk.script(edit, ["Over."])
    zot = desk.zot("--no-yolo")
    zot.type("go")
    zot.press("enter")
    zot.wait("+new words")
    rows = [number for number, row in enumerate(zot.lines) if row[:4] in ("-old", "+new")]
    colours = {zot.screen.buffer[number][0].fg for number in rows}
    assert len(colours) == 2 and "default" not in colours
    zot.press("enter")
    zot.wait("Over.")
    assert (desk.project / "a.txt").read_text() == "new words\n"


def test_permissions_are_picked_from_a_list(desk: Any) -> None:
    desk.script(call("bash", command="touch one"), ["Over."])
    zot = desk.zot()
    zot.type("/permissions")
    zot.press("enter")
    zot.wait("What may tools do?")
    zot.wait("full-access (in use)")
    zot.press("up", "up", "enter")
    zot.wait("Preset: read-only")
    zot.wait("permissions: read-only")
    zot.type("go")
    zot.press("enter")
    zot.wait("Over.")
    assert not (desk.project / "one").exists()
    zot.type("/new")
    zot.press("enter")
    zot.type("/permissions")
    zot.press("enter")
    zot.wait("read-only (in use)")
    zot.press("esc")
