"""A tool that changes a file in line with the built-in ones: notes go to the end of NOTES.md in the project.

zot --plugin append_note.py -p "Note that the release is on Friday"
"""

from zot_core import hookimpl, tool
from zot_core.toolkit.mutation import mutations
from zot_core.toolkit.operations import files_for
from zot_core.toolkit.paths import locate


@tool
async def append_note(text: str, ctx) -> str:
    """Append a note to NOTES.md in the project."""
    path = locate(ctx.cwd, "NOTES.md")
    files = files_for(ctx, "append_note", "write")  # filesystem policies are asked, a write is whole or nothing
    async with mutations.hold(path):  # nobody else changes the file from here to the end of the block
        there = (await files.info(path)).kind == "file"
        old = await files.read(path) if there else b""
        await files.write(path, old + f"- {' '.join(text.split())}\n".encode())
    return "Noted."


@hookimpl
def tools():
    return [append_note]
