#!/usr/bin/env python3
"""Slash commands: one that asks the model, one that shows something, one that is there only in a git repository."""

from pathlib import Path

from zot_ext import Extension, Host, display, error, prompt

ext = Extension("hello", "1.0.0")


@ext.command("hello", "let the model greet you, or whom you name")
def hello(args):
    return prompt(f"Greet {args or 'me'} in one short sentence.")


@ext.command("cwd", "show the project's folder")
def cwd(args):
    return display(ext.host.cwd)


@ext.on_hello
def look_around(host: Host):
    git = Path(host.cwd, ".git")
    if not git.is_dir():
        return

    @ext.command("branch", "show the branch that is checked out")
    def branch(args):
        head = git.joinpath("HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref: "):
            return error("no branch is checked out")
        return head.removeprefix("ref: refs/heads/")  # plain text is displayed


ext.run()
