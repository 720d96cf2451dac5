#!/usr/bin/env python3
"""A list of things to do: a panel for the person, a tool for the model, one file for both.

The tool is `in_order`: it takes its turn among commands and keys, so that nothing here needs a lock.
"""

import json
from pathlib import Path
from typing import Annotated, Literal

from zot_ext import Extension, Host

KEYS = "↑/↓ move - a add - x done - d delete - esc close"
TYPING = "enter keep it - esc close"

ext = Extension("todo", "1.0.0")
panel = ext.panel("todos", "Todos", footer=KEYS)


class Todos:
    """The list, where the cursor is, and what is being typed (None: nothing is)."""

    def __init__(self):
        self.file = Path("todos.json")
        self.items = []
        self.cursor = 0
        self.typed = None

    def load(self, folder):
        self.file = Path(folder, "todos.json")
        if not self.file.exists():
            return
        try:
            self.items = [
                {"text": str(one["text"]), "done": bool(one["done"])}
                for one in json.loads(self.file.read_text("utf-8"))
            ]
        except (ValueError, TypeError, KeyError) as broken:
            kept = self.file.with_suffix(".broken.json")
            self.file.replace(kept)
            ext.log(f"{self.file} is no list of todos ({broken}); it is kept as {kept}")

    def save(self):
        """Writes the whole file anew, so that a crash leaves the old one or the new one."""
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.items, indent=2, ensure_ascii=False), encoding="utf-8")
        new.replace(self.file)
        self.draw()

    def add(self, text):
        self.items.append({"text": " ".join(text.split()), "done": False})
        self.cursor = len(self.items) - 1
        self.save()

    def toggle(self, index):
        self.items[index]["done"] = not self.items[index]["done"]
        self.save()

    def remove(self, index):
        del self.items[index]
        self.cursor = max(0, min(self.cursor, len(self.items) - 1))
        self.save()

    def lines(self):
        return [f"{'✓' if one['done'] else '□'} {one['text']}" for one in self.items]

    def draw(self):
        lines = [f"{'›' if index == self.cursor else ' '} {line}" for index, line in enumerate(self.lines())]
        if self.typed is not None:
            lines.append(f"+ {self.typed}▏")
        panel.update(lines or ["  Nothing to do."], footer=KEYS if self.typed is None else TYPING)


todos = Todos()


@ext.on_hello
def load(host: Host):
    todos.load(host.data_dir)


@ext.command("todo", "open the list, or add what you type after it")
def todo(args):
    if args:
        todos.add(args)
        return f"□ {todos.items[-1]['text']}"
    todos.typed = None
    todos.draw()
    return panel


@panel.on_key
def key(name, text):
    if todos.typed is not None:
        typing(name, text)
    elif name in ("up", "down") and todos.items:
        todos.cursor = (todos.cursor + (1 if name == "down" else -1)) % len(todos.items)
    elif name == "rune" and text == "a":
        todos.typed = ""
    elif todos.items and (name == "enter" or text == "x"):
        todos.toggle(todos.cursor)
    elif todos.items and (name == "delete" or text == "d"):
        todos.remove(todos.cursor)
    todos.draw()


def typing(name, text):
    if name == "rune":
        todos.typed += text
    elif name == "backspace":
        todos.typed = todos.typed[:-1]
    elif name == "enter":
        typed, todos.typed = todos.typed, None
        if typed.strip():
            todos.add(typed)


@ext.tool(name="todo", in_order=True)
def todo_tool(
    action: Annotated[Literal["list", "add", "done", "remove"], "`done` marks an open one, or opens a done one again"],
    text: Annotated[str, "what to add"] = "",
    number: Annotated[int, "which one, as listed, from 1"] = 0,
) -> str:
    """The person's list of things to do: reads it and changes it."""
    if action == "add":
        if not text.strip():
            raise ValueError("text is what to add")
        todos.add(text)
    elif action != "list":
        if not 1 <= number <= len(todos.items):
            raise ValueError(f"number is one of 1 to {len(todos.items)}" if todos.items else "the list is empty")
        (todos.toggle if action == "done" else todos.remove)(number - 1)
    return "\n".join(f"{number}. {line}" for number, line in enumerate(todos.lines(), 1)) or "The list is empty."


ext.run()
