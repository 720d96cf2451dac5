"""Several questions, one after another: options to choose from, one or many, words of one's own, or a comment in the
place of all answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zot_cli.plain import clean, one_line
from zot_cli.repl.custom.lines import spans_of
from zot_cli.repl.look import Look
from zot_cli.repl.spans import Line, cut, wrap
from zot_core.types.record import record
from zot_core.ui.controls import Input

_OWN, _COMMENT = "Something else …", "Comment in the place of an answer …"


@record(kw_only=True)
class Question:
    """One question, read from what a plugin gave."""

    id: str
    text: str
    header: str = ""
    options: tuple[tuple[str, str], ...] = ()
    many: bool = False

    @classmethod
    def of(cls, number: int, data: Mapping[str, Any]) -> Question:
        """Reads a mapping; `multiSelect` will do for `multi_select`."""
        options = tuple(
            (one_line(str(one.get("label", "")), 200), one_line(str(one.get("description", "")), 200))
            if isinstance(one, Mapping)
            else (one_line(str(one), 200), "")
            for one in data.get("options") or ()
        )
        return cls(
            id=str(data.get("id") or number),
            text=clean(str(data.get("question", ""))),
            header=one_line(str(data.get("header", "")), 60),
            options=options,
            many=bool(data.get("multi_select", data.get("multiSelect", False))),
        )


class QuestionDialog:
    """Asks; `done` is given the outcome, None when it was dismissed."""

    def __init__(
        self, look: Look, questions: Sequence[Mapping[str, Any]], done: Callable[[Mapping[str, Any] | None], None]
    ) -> None:
        self._look, self._done = look, done
        self._questions = [Question.of(number, one) for number, one in enumerate(questions, 1)]
        self._number = 0
        self._at = 0
        self._picked: dict[str, list[str]] = {}
        self._answers: dict[str, Any] = {}
        self._input: Input | None = None
        self.countdown = ""
        self._begin()

    def render(self, width: int) -> list[Line]:
        look, question = self._look, self._question
        count = f"{self._number + 1} of {len(self._questions)}" if len(self._questions) > 1 else ""
        head = " · ".join(filter(None, (question.header, count)))
        lines: list[Line] = [[(look.style("dim"), head)]] if head else []
        lines += wrap(question.text, width, look.style("accent"))
        if self._input is not None:
            lines += [list(spans_of(text)) for text in self._input.render(width)]
            return [*lines, [(look.style("dim"), f"enter done · esc back{self.countdown}")]]
        for number, (label, description) in enumerate(self._rows()):
            lines.append(cut(self._line(number, label, description), width))
        keys = "space mark · enter done" if question.many else "enter take"
        more = " · ← back" if self._number else ""
        return [*lines, [(look.style("dim"), f"↑↓ move · {keys}{more} · esc cancel{self.countdown}")]]

    def handle_key(self, key: str) -> None:
        rows = self._rows()
        if self._input is not None:
            self._input.handle_key(key)
        elif key in ("esc", "ctrl+c"):
            self._done(None)
        elif key in ("up", "ctrl+p", "down", "ctrl+n"):
            self._at = (self._at + (1 if key in ("down", "ctrl+n") else -1)) % len(rows)
        elif key == "left" and self._number:
            self._number -= 1
            self._begin()
        elif key == " " and self._question.many:
            self._mark(self._at)
        elif key == "enter":
            self._take(self._at)
        elif key.isdecimal() and 0 < int(key) <= len(rows):
            self._at = int(key) - 1
            if self._question.many and self._at < len(self._question.options):
                self._mark(self._at)
            else:
                self._take(self._at)

    @property
    def _question(self) -> Question:
        return self._questions[self._number]

    def _rows(self) -> list[tuple[str, str]]:
        return [*self._question.options, (_OWN, ""), (_COMMENT, "")]

    def _line(self, number: int, label: str, description: str) -> Line:
        look, here, question = self._look, number == self._at, self._question
        picked = label in self._picked.get(question.id, ())
        box = ("☑ " if picked else "☐ ") if question.many and number < len(question.options) else ""
        style = look.style("selectedText") if here else look.style("muted") if number >= len(question.options) else ""
        line: Line = [(look.style("accent"), "› " if here else "  "), (style, box + label)]
        return [*line, (look.style("dim"), f"  {description}")] if description else line

    def _mark(self, number: int) -> None:
        question = self._question
        if number >= len(question.options):
            return
        label, picked = question.options[number][0], self._picked.setdefault(question.id, [])
        if label in picked:
            picked.remove(label)
        else:
            picked.append(label)

    def _take(self, number: int) -> None:
        question = self._question
        if number == len(question.options):
            self._write(self._wrote)
        elif number > len(question.options):
            self._write(self._commented)
        elif question.many:
            picked = self._picked.get(question.id, [])
            if not picked:
                self._mark(number)
                picked = self._picked[question.id]
            self._answer([label for label, _ in question.options if label in picked])
        else:
            self._answer(question.options[number][0])

    def _write(self, then: Callable[[str], None]) -> None:
        def back() -> None:
            self._input = None
            if not self._question.options:
                self._done(None)

        self._input = Input(then, back, theme=self._look.theme)

    def _wrote(self, text: str) -> None:
        if text.strip():
            self._input = None
            picked = self._picked.get(self._question.id, [])
            self._answer([*picked, text.strip()] if self._question.many else text.strip())

    def _commented(self, text: str) -> None:
        if text.strip():
            answers = dict(self._answers)
            self._done({"outcome": "comment-submitted", "answers": answers, "comment": text.strip()})

    def _answer(self, value: Any) -> None:
        self._answers[self._question.id] = value
        if self._number + 1 < len(self._questions):
            self._number += 1
            self._begin()
        else:
            self._done({"outcome": "answered", "answers": self._answers})

    def _begin(self) -> None:
        self._at, self._input = 0, None
        if not self._question.options:
            self._write(self._wrote)
