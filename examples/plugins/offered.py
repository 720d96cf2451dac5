"""A command: `/offered` says which tools the model is offered, `/offered read,grep` offers only these.

zot --plugin offered.py -p "/offered"
"""

from zot_core import CommandSpec, hookimpl


async def offered(args, ctx):
    if args:
        ctx.tools.set_active([name.strip() for name in args.split(",")])
    return "The model is offered: " + ", ".join(sorted(ctx.tools.active()))


@hookimpl
def commands():
    return CommandSpec(
        name="offered",
        description="say or choose which tools the model is offered",
        argument_hint="[NAME,NAME,...]",
        handler=offered,
        busy="wait",
    )
