"""The names of zot's own subcommands: data that the parser needs before anything is imported."""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "plugins": ("zot_cli.commands.plugins:plugins", "What is loaded, and in which order."),
    "sessions": ("zot_cli.commands.sessions:sessions", "List, show, export and prune sessions."),
    "doctor": ("zot_cli.commands.doctor:doctor", "Settings with their origin, paths, plugins, and what is wrong."),
}
"""Name -> (dotted string of a click command, one line of help)."""

MODE_WORDS: frozenset[str] = frozenset({"rpc"})
"""First words that name a mode: the flags of a run may follow."""


def can_name(word: str) -> bool:
    """Whether a first word can be the name of a plugin's command at all; most words of prompts cannot."""
    return word.isascii() and word.replace("-", "_").isidentifier() and word not in MODE_WORDS
