"""The interactive mode, by the name that modes go by; the rooms are in `zot_cli.repl`."""

from __future__ import annotations

from zot_cli.repl.main import run as run
