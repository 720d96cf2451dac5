"""What a plugin's command of the `zot` program is given: `zot_core.frontend.Console` over a command line.

Imports the engine only for a command that opens an App.
"""

from __future__ import annotations

import os
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zot_cli import stdio
from zot_cli.commands import tables
from zot_cli.plain import clean
from zot_core.config.paths import current_folder
from zot_core.types.failure import UsageError

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.runtime.options import Options


class LineConsole:
    """A `Console`; `line` is the command line that named the command."""

    def __init__(self, line: CommandLine) -> None:
        self.line = line

    @property
    def cwd(self) -> str:
        given = self.line.get("cwd")
        path = Path(os.path.expanduser(given)) if given else current_folder()  # noqa: PTH111 - `~nobody` is just not there
        if not path.is_dir():
            raise UsageError(f"--cwd {given}: no such directory")
        return str(path if path.is_absolute() else current_folder() / path)

    @property
    def explicit(self) -> Sequence[tuple[Literal["ext", "plugin"], str]]:
        return tuple(self.line.explicit)

    @property
    def trust(self) -> bool | None:
        return self.line.get("trust")  # type: ignore[no-any-return]

    @property
    def interactive(self) -> bool:
        return stdio.is_terminal(0) and stdio.is_terminal(1)

    @property
    def terminal(self) -> bool:
        return stdio.is_terminal(1)

    def options(self) -> Options:
        from dataclasses import replace

        from zot_cli.appoptions import app_options

        options = app_options(self.line, "print")
        return replace(options, no_session=True, continue_session=False, resume=None, session=None, fork=None)

    def run(self, main: Coroutine[Any, Any, Any]) -> Any:
        from zot_cli import running

        return running.run(main)

    def rows(
        self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool = False, empty: str = ""
    ) -> None:
        tables.show_rows(rows, columns, as_json=as_json, empty=empty)

    def json(self, value: Any) -> None:
        tables.show_json(value)

    def say(self, text: str) -> None:
        tables.heading(stdio.fitted(clean(text), 1))

    def complain(self, text: str) -> None:
        stdio.complain(clean(text))

    def clean(self, text: str) -> str:
        return clean(text)
