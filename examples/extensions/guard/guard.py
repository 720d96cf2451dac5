#!/usr/bin/env python3
"""Refuses shell commands that destroy things, tells the model why, and keeps count.

A seat belt, no wall: a model that wants to can say the same in another way.
"""

import re

from zot_ext import Extension, block

DANGERS = {
    r"\brm\b(?=[^;|&\n]*\s(-[a-z]*r|--recursive))(?=[^;|&\n]*\s(-[a-z]*f|--force))": "it deletes whole trees",
    r"\bmkfs(\.\w+)?\b": "it formats a disk",
    r"\bdd\b[^;|&\n]*\bof=/dev/": "it overwrites a device",
    r">\s*/dev/(sd|hd|nvme|disk)": "it overwrites a device",
    r"\b(curl|wget)\b[^;&\n]*\|\s*(sudo\s+)?(ba|z|da)?sh\b": "it runs what it downloads",
    r"\bgit\s+push\b[^;|&\n]*\s(--force(?!-with-lease)|-f)\b": "it rewrites what others have",
    r"\bchmod\s+(-\w+\s+)*-?R?\w*\s*777\s+/": "it opens the system to everybody",
    r":\(\)\s*\{.*\};\s*:": "it is a fork bomb",
}
PATTERNS = [(re.compile(pattern, re.IGNORECASE), why) for pattern, why in DANGERS.items()]

ext = Extension("guard", "1.0.0")
seen = {"calls": 0, "refused": 0}


@ext.on("tool_call")
def count(event):
    seen["calls"] += 1


@ext.decide_tool_call
def guard(call):
    if call.tool_name not in ("bash", "powershell"):
        return None
    command = str(call.tool_args.get("command", ""))
    for pattern, why in PATTERNS:
        if found := pattern.search(command):
            seen["refused"] += 1
            ext.notify(f"refused: {command}", level="warn")
            return block(f"refused by guard, since {why}: {found[0]!r}. Do it another way, or ask the person.")
    return None


@ext.command("guard", "show how many calls were seen and refused")
def show(args):
    return f"{seen['calls']} calls seen, {seen['refused']} refused"


ext.run()
