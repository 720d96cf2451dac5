"""A guard: deleting whole trees needs a person's yes. Where nobody can be asked, the answer is no.

zot --plugin guard.py -p "Clean up the build folder"
"""

import re

from zot_core import Block, hookimpl

# rm with both r and f among its flags, in any order and form: -rf, -fr, -r -f, --recursive --force
RECURSIVE = re.compile(r"\brm\b(?=[^;|&\n]*\s(-[a-z]*r|--recursive))(?=[^;|&\n]*\s(-[a-z]*f|--force))", re.IGNORECASE)


@hookimpl
async def tool_call(event, ctx):
    command = event.args.get("command", "")
    if event.tool_name != "bash" or not RECURSIVE.search(command):
        return None
    if await ctx.ui.confirm("Delete a whole tree?", command):
        return None
    return Block("nobody allowed this rm; name the files one by one, or ask the person to delete them")
