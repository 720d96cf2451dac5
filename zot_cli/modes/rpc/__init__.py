"""RPC mode: requests a line on stdin, responses and events a line on stdout, for programs that embed zot.

`process.py` is the start and the end, `server.py` the order in which requests act, `commands.py` what each does,
`prompts.py` the queue of prompts; `reader.py` and `writer.py` know bytes alone. Must not know a plugin or a screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zot_cli.options import CommandLine


def run(line: CommandLine) -> int:
    """Serves until stdin ends; returns the exit code."""
    from zot_cli.modes.rpc.process import serve

    return serve(line)
