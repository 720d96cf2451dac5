"""`zot ext logs`: an extension's log, its older part first; with `-f` what comes next, over the change of files."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zot_core.config.paths import Paths, read_bytes, reason
from zot_core.types.failure import UsageError, ZotError
from zot_plugins.extension_bridge.cli.places import installed, unknown
from zot_plugins.extension_bridge.logs import log_path
from zot_plugins.extension_bridge.manifest import check_name

if TYPE_CHECKING:
    from zot_core.frontend import Console

FOLLOWED = 10
"""Lines that are shown before what is followed."""
LOOK_S = 0.1
"""Between two looks at a log that is followed."""


@click.command(help="What an extension wrote to stderr, and what zot said of it.")
@click.argument("name")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is written from now on, until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(min=0), help=f"The last N lines; all, or {FOLLOWED} with -f.")
@click.pass_obj
def logs(console: Console, name: str, follow: bool, lines: int | None) -> None:
    """Prints the log; in a terminal without control sequences, elsewhere as it is."""
    home = Paths.find().home
    path = log_path(home, name)
    usable = check_name(name) is None
    if not (usable and path.exists()):
        known = [one.name for one in installed(console)]
        if not usable or name not in known:
            logged = [file.name[len("ext-") : -len(".log")] for file in path.parent.glob("ext-*.log")] if usable else []
            raise UsageError(unknown(name, [*known, *logged]))
        console.complain(f"zot: {name} has no log yet ({path})")
    show = _Shown(console)
    wanted = lines if lines is not None else FOLLOWED if follow else None
    try:
        older = _text(Path(f"{path}.1"))
        coming = _coming(path, follow)
        show.write(_last(older, next(coming), wanted))
        show.flush(last=False)
        for data in coming:
            show.write(data)
            show.flush(last=False)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise ZotError(f"{path}: {reason(error)}") from error
    show.flush(last=True)


class _Shown:
    """Output by whole lines, so that no control sequence gets through in two halves."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._rest = b""

    def write(self, data: bytes) -> None:
        self._rest += data

    def flush(self, last: bool) -> None:
        data, newline, rest = (self._rest, b"", b"") if last else self._rest.rpartition(b"\n")
        self._rest = rest
        data += newline
        if not data:
            return
        if self._console.terminal:
            text = self._console.clean(data.decode("utf-8", "replace"))
            sys.stdout.write(text if text.endswith("\n") else text + "\n")
            sys.stdout.flush()
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


def _text(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return b""


def _last(older: bytes, newer: bytes, lines: int | None) -> bytes:
    data = older + newer
    return data if lines is None else b"".join(data.splitlines(keepends=True)[-lines:]) if lines else b""


def _coming(path: Path, follow: bool) -> Iterator[bytes]:
    """What the log holds, at once; then what is appended. When another file takes its place, the old one's rest comes
    first."""
    if not follow:
        yield _text(path)
        return
    begun = False
    while True:
        try:
            file = path.open("rb")
        except FileNotFoundError:
            if not begun:
                yield b""
            begun = True
            time.sleep(LOOK_S)
            continue
        with file:
            if not begun:
                yield file.read()
            begun = True
            while True:
                if data := file.read():
                    yield data
                elif _replaced(path, file.fileno()):
                    if data := file.read():  # written between the look at the file and the one at its name
                        yield data
                    break
                else:
                    time.sleep(LOOK_S)


def _replaced(path: Path, descriptor: int) -> bool:
    opened = os.fstat(descriptor)
    try:
        return not os.path.samestat(opened, path.stat())
    except FileNotFoundError:
        return True
