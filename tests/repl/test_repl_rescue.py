"""When a model cannot answer, the person may try again or let another one answer; what was asked is not asked anew."""

from __future__ import annotations

import json
from typing import Any

BUSY = {"error": {"kind": "overloaded", "message": "too many people"}}


def test_another_try_answers_the_same_prompt(desk: Any) -> None:
    (desk.home / "settings.json").write_text('{"retry": {"attempts": 1}}')
    desk.script([BUSY], ["Now it works."])
    zot = desk.zot()
    zot.type("hello")
    zot.press("enter")
    zot.wait("The model could not answer. What now?")
    assert "too many people" in zot.everything
    zot.press("down", "enter")
    zot.wait("Now it works.")
    assert zot.everything.count("› hello") == 1


def test_another_model_may_answer(desk: Any) -> None:
    (desk.home / "settings.json").write_text('{"retry": {"attempts": 1}}')
    model = {"id": "second", "name": "Second"}
    (desk.home / "models.json").write_text(json.dumps({"providers": {"scripted": {"models": [model]}}}))
    desk.script([BUSY], ["The other one speaks."])
    zot = desk.zot()
    zot.type("hello")
    zot.press("enter")
    zot.wait("Let scripted/second answer")
    zot.press("down", "down", "enter")
    zot.wait("The other one speaks.")
    zot.wait("scripted/second")


def test_no_is_the_first_answer_and_a_wrong_request_is_not_offered_again(desk: Any) -> None:
    (desk.home / "settings.json").write_text('{"retry": {"attempts": 1}}')
    desk.script([BUSY], [{"error": {"kind": "bad_request", "message": "never"}}], ["Third."])
    zot = desk.zot()
    zot.type("one")
    zot.press("enter")
    zot.wait("What now?")
    zot.press("enter")
    zot.wait(lambda screen: "What now?" not in screen.text)
    zot.type("two")
    zot.press("enter")
    zot.wait("never")
    zot.type("three")
    zot.press("enter")
    zot.wait("Third.")
