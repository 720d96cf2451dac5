"""Screens as people see them, in files to be read: tests/golden/screens/NAME-COLUMNS-THEME.txt.

`pytest tests/repl/test_repl_goldens.py --zot-update` writes them anew; read the diff as a person who looks at a screen.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.golden_screen import as_text
from support.pty_screen import PtyScreen

from zot_core.testing.golden import compare

GOLDENS = Path(__file__).parents[1] / "golden" / "screens"
EXAMPLES = Path(__file__).parents[2] / "examples"
LOOKS = [(80, "dark"), (140, "dark"), (80, "light")]
GROUND = {"dark": "15;0", "light": "0;15"}
ANSWER = """# Rounding prices

Prices are rounded *up*, to **whole cents**, by `ceil_cents`. See [the notes](https://example.org/notes) on why that is
so, and what it means for refunds.

- orders: each line by itself
- refunds: the sum
  - never below zero

| country | rate | since |
|---|---:|---|
| Österreich | 20 % | 2016 |
| 日本 | 10 % | 2019 |

```python
def ceil_cents(price: float) -> int:
    return math.ceil(price * 100)  # never down
```

> Half a cent is a cent.

1. change the function
2. run the tests
"""
PRICES = "import math\n\n\ndef cents(price):\n    return round(price * 100)\n\n\ndef shown(price):\n    return price\n"
ACME = {
    "api": "openai-completions",
    "baseUrl": "http://127.0.0.1:9",
    "models": [
        {"id": "large", "name": "Acme Large", "contextWindow": 200_000, "priceInput": 2.5, "priceOutput": 10},
        {"id": "small", "name": "Acme Small", "contextWindow": 32_000},
    ],
}
EDIT = {"path": "prices.py", "edits": [{"oldText": "round(price * 100)", "newText": "math.ceil(price * 100)"}]}
"""What the scripted model changes."""


class Gallery:
    """One terminal after another, in a look."""

    def __init__(self, desk: Any, stack: ExitStack, columns: int, theme: str) -> None:
        self.desk, self.columns, self.theme = desk, columns, theme
        self._stack = stack
        desk.env |= {"HOME": str(desk.project.parent), "COLORFGBG": GROUND[theme], "COLORTERM": "truecolor"}
        (desk.project / "prices.py").write_text(PRICES, encoding="utf-8")

    def zot(self, *argv: str, provider: str = "scripted", rows: int = 30) -> PtyScreen:
        line = [sys.executable, "-m", "zot_cli", *(["--provider", provider] if provider else []), *argv]
        screen = PtyScreen(line, cwd=self.desk.project, env=self.desk.env, columns=self.columns, rows=rows)
        self._stack.enter_context(screen)
        return screen.wait(lambda one: "starting" not in one.text and "~/project" in one.text)

    def asked(self, *argv: str, said: str = "Round up.", rows: int = 30) -> PtyScreen:
        screen = self.zot(*argv, rows=rows)
        screen.type(said)
        screen.press("enter")
        return screen


def resting(screen: PtyScreen) -> bool:
    return "Working" not in screen.text


def greeting(gallery: Gallery) -> PtyScreen:
    return gallery.zot(provider="").wait("Welcome")


def answer(gallery: Gallery) -> PtyScreen:
    gallery.desk.script([{"text": ANSWER}, {"usage": {"input": 1200, "output": 340, "cost": 0.0125}}])
    return gallery.asked(rows=48).wait("run the tests").wait(resting)


def tools(gallery: Gallery) -> PtyScreen:
    calls = [
        {"thinking": "The prices are in prices.py."},
        {"text": "I look first."},
        {"tool_call": {"name": "bash", "args": {"command": "seq 40"}}},
        {"tool_call": {"name": "edit", "args": EDIT}},
        {"tool_call": {"name": "read", "args": {"path": "missing.py"}}},
    ]
    gallery.desk.script(calls, ["Rounded up now."])
    return gallery.asked(rows=48).wait("Rounded up now.").wait(resting)


def dialog(gallery: Gallery) -> PtyScreen:
    gallery.desk.script([{"text": "I change it."}, {"tool_call": {"name": "edit", "args": EDIT}}], ["Done."])
    return gallery.asked("--no-yolo").wait("No, and say why")


def menu(gallery: Gallery) -> PtyScreen:
    screen = gallery.zot()
    screen.type("/re")
    return screen.wait("/reload-ext")


def queue(gallery: Gallery) -> PtyScreen:
    gallery.desk.script([{"text": "Let me think"}, {"hang": True}])
    screen = gallery.asked().wait("Let me think")
    screen.type("and negative prices too")
    screen.press("enter")
    screen.wait("next step: and negative")
    screen.type("then run the tests")
    screen.press("alt+enter")
    screen.wait("afterwards: then run")
    screen.type("half a thou")
    return screen.wait("half a thou")


def error(gallery: Gallery) -> PtyScreen:
    (gallery.desk.home / "settings.json").write_text(json.dumps({"retry": {"attempts": 2, "base_delay_s": 0.1}}))
    busy = {"error": {"kind": "overloaded", "message": "the server is busy"}}
    gallery.desk.script([{"text": "Par"}, busy], [{"text": "Par"}, busy])
    return gallery.asked().wait("Try again later").wait(resting)


def panel(gallery: Gallery) -> PtyScreen:
    screen = gallery.zot("--ext", str(EXAMPLES / "extensions" / "todo"))
    screen.type("/todo")
    screen.press("enter")
    return screen.wait("esc close")


def models(gallery: Gallery) -> PtyScreen:
    (gallery.desk.home / "models.json").write_text(json.dumps({"providers": {"acme": ACME}}))
    screen = gallery.zot()
    screen.type("/model")
    screen.press("esc", "enter")
    screen.wait("Which model?")
    screen.type("acme")  # the catalogs change with every release
    return screen.wait("filter: acme")


def settings(gallery: Gallery) -> PtyScreen:
    (gallery.desk.home / "settings.json").write_text('{"retry": {"attempts": 5}}')
    screen = gallery.zot()
    screen.type("/settings")
    screen.press("esc", "enter")
    screen.wait("retry.attempts")
    screen.type("retry")
    return screen.wait("filter: retry").wait("How often")


SCENES: list[Callable[[Gallery], PtyScreen]] = [
    greeting,
    answer,
    tools,
    dialog,
    menu,
    queue,
    error,
    panel,
    models,
    settings,
]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as made:
        yield made


@pytest.mark.parametrize(("columns", "theme"), LOOKS, ids=[f"{columns}-{theme}" for columns, theme in LOOKS])
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_screen(
    scene: Any, columns: int, theme: str, desk: Any, stack: ExitStack, request: pytest.FixtureRequest
) -> None:
    screen = scene(Gallery(desk, stack, columns, theme))
    text = as_text(screen, theme, {str(desk.project): "<project>", os.fspath(desk.home): "<home>"})
    name = f"{scene.__name__}-{columns}-{theme}.txt"
    compare(GOLDENS / name, text, update=bool(request.config.getoption("--zot-update")))
