"""A tool in one file: the model may greet people.

zot --plugin hello_tool.py -p "Greet Ada, loudly"
"""

from zot_core import hookimpl, tool


@tool
async def greet(name: str, loudly: bool = False) -> str:
    """Greet someone by name."""
    greeting = f"Hello, {name}!"
    return greeting.upper() if loudly else greeting


@hookimpl
def tools():
    return [greet]
