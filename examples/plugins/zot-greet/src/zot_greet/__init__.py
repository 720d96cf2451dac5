"""Greetings for zot: a tool for the model, a command for the person, and a flag that both heed."""

from zot_core import CommandSpec, FlagSpec, ToolSpec, hookimpl


def greeting(word: str, name: str) -> str:
    """The greeting itself."""
    return f"{word}, {name}!"


@hookimpl
def flags():
    return FlagSpec(name="greeting", description="the word to greet with", type="str", default="Hello")


@hookimpl
def tools(session):
    word = session.flags.get("greeting") or "Hello"

    async def execute(args, ctx):
        return greeting(word, args["name"])

    return ToolSpec(
        name="greet",
        description="Greet someone by name.",
        parameters={
            "type": "object",
            "properties": {"name": {"type": "string", "description": "whom to greet"}},
            "required": ["name"],
            "additionalProperties": False,
        },
        execute=execute,
    )


@hookimpl
def commands(session):
    word = session.flags.get("greeting") or "Hello"

    async def handler(args, ctx):
        return greeting(word, args.strip() or "whoever you are")

    return CommandSpec(name="greet", description="greet someone", argument_hint="NAME", handler=handler)
