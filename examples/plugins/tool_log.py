"""An observer: writes into tool-log.jsonl what the model asked for and what came of it. It decides nothing.

zot --plugin tool_log.py -p "What is in this folder?"
"""

import json
import time

from zot_core import hookimpl

started = {}


def log(ctx, **row):
    """One more line in the project's tool-log.jsonl."""
    with (ctx.cwd / "tool-log.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


@hookimpl("tool_call", observe=True)
def asked(event, ctx):
    started[event.call_id] = time.monotonic()
    log(ctx, asked=event.tool_name, args=dict(event.args))


@hookimpl
def tool_execution_end(event, ctx):
    seconds = time.monotonic() - started.pop(event.call_id, time.monotonic())
    log(ctx, ended=event.tool_name, ok=not event.is_error, seconds=round(seconds, 3))
