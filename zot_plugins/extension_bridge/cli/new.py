"""`zot ext new`: a folder with a working extension, to begin with. Writes it whole or not at all."""

from __future__ import annotations

import json
import re
import shutil
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zot_core.config.paths import reason
from zot_core.types.failure import UsageError, ZotError
from zot_plugins.extension_bridge.cli.staging import staging
from zot_plugins.extension_bridge.finding import FILE
from zot_plugins.extension_bridge.manifest import MAX_NAME

if TYPE_CHECKING:
    from zot_core.frontend import Console

_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{MAX_NAME - 1}}}")
_BASE = "zot_plugins.extension_bridge"
_LANGUAGES = {
    "python": ("main.py", "python3"),
    "node": ("main.js", "node"),
    "sh": ("main.sh", "jq"),
    "go": ("main.go", "go"),
}
"""Language -> its file, and the program that it needs."""


@click.command(help="Write a working extension, with a command and a tool, into the folder ./NAME or --dir.")
@click.argument("name")
@click.option("--lang", type=click.Choice(list(_LANGUAGES)), default="python", show_default=True, help="Its language.")
@click.option("--dir", "folder", metavar="DIR", help="The folder to make.")
@click.pass_obj
def new(console: Console, name: str, lang: str, folder: str | None) -> None:
    """Says what to do next."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name to begin with: letters, digits, - and _, a letter first")
    target = Path(console.cwd, folder).expanduser() if folder else Path(console.cwd, name)
    if target.exists() or target.is_symlink():
        raise UsageError(f"{target} is there already; another place: --dir DIR")
    file, needs = _LANGUAGES[lang]
    try:
        with staging(target.parent, own=False) as made:
            _write(made, name, lang, file)
            made.chmod(0o755)
            made.rename(target)
    except OSError as error:
        raise ZotError(f"nothing was written: {error.filename or target}: {reason(error)}") from error
    console.say(f"wrote {target}: {', '.join(sorted(path.name for path in target.iterdir()))}")
    if shutil.which(needs) is None:
        console.say(f"  needs {needs}, which is not installed here")
    if lang == "go":
        console.say(f"  build: cd {target} && go build -o main .")
    console.say(f'  try:   zot --ext {target} -p "/{_command(name)} you"')
    console.say(f"  keep:  zot ext install {target}")


def _write(folder: Path, name: str, lang: str, file: str) -> None:
    manifest = {
        "name": name,
        "version": "0.1.0",
        "exec": f"./{file.removesuffix('.go')}",
        "language": "shell" if lang == "sh" else lang,
        "description": "says hello",
        "enabled": True,
    }
    texts = {FILE: json.dumps(manifest, indent=2) + "\n", file: _template(f"{lang}.txt", name)}
    build = "go build -o main .  # after every change\n" if lang == "go" else ""
    texts["README.md"] = _template("readme.txt", name).replace("@BUILD@", build)
    if lang == "python":
        texts["zot_ext.py"] = files(f"{_BASE}.sdk").joinpath("zot_ext.py").read_text(encoding="utf-8")
    if lang == "go":
        texts["go.mod"] = _template("go_mod.txt", name)
    for path, text in texts.items():
        (folder / path).write_text(text, encoding="utf-8", newline="\n")
    if lang != "go":
        (folder / file).chmod(0o755)


def _template(template: str, name: str) -> str:
    text = files(f"{_BASE}.templates").joinpath(template).read_text(encoding="utf-8")
    return text.replace("@NAME@", name).replace("@COMMAND@", _command(name)).replace("@TOOL@", _tool(name))


def _command(name: str) -> str:
    return name.lower()


def _tool(name: str) -> str:
    return f"{name.lower().replace('-', '_')[:50]}_greet"
