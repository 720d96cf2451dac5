"""The protocol between a session and what shows it: print, JSON, RPC and REPL are four consumers of the same events.

Knows no screen and no byte of output; a front end is told, in order, and is never asked to decide.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from zot_core.types.record import record

if TYPE_CHECKING:
    from zot_core.agent.sink import Stored
    from zot_core.events.base import Block, Event, Handled
    from zot_core.runtime.options import Options
    from zot_core.types.specs import Mode


@record(kw_only=True)
class Note:
    """Something for the person that is no part of the conversation.

    `notify` and `display` are a plugin's (`source` is its name), `answer` is the text that its command returned,
    `clear` takes back what that plugin showed, `diagnostic` is zot's own word on something that went wrong,
    `plugin_error` names the plugin that broke and the `hook` it broke in.
    """

    source: str
    text: str = ""
    level: Literal["info", "success", "warning", "error"] = "info"
    kind: Literal["notify", "display", "answer", "clear", "diagnostic", "plugin_error"] = "notify"
    hook: str = ""

    @property
    def by(self) -> str:
        """Whose it is, as people know it: an extension goes by its manifest's name."""
        return self.source.removeprefix("ext:")


class FrontEnd(Protocol):
    """What a mode brings. Methods are called on the event loop, one at a time for a given session.

    An awaitable answer is awaited before the next step (back-pressure); an exception ends the run.
    """

    mode: Mode
    wants: frozenset[str]
    """The hooks whose events it consumes; others are not sent to it."""
    plugin: Any
    """A plugin of the front end's own, for what makes sense only there, such as commands of a screen; None for none. It
    is registered under the mode's name, as the last of the built-ins."""
    ui: Any
    """The form that `ctx.ui` has in this mode: the methods of `zot_core.ctx.protocols.Ui`, with `FrontUi.approve`."""

    def event(self, event: Event, stop: Block | Handled | None = None, plugin: str = "") -> Awaitable[None] | None:
        """A Fact as it is told, or a Gate after its chain, with the stop and the plugin that stopped it."""

    def stored(self, stored: Stored) -> Awaitable[None] | None:
        """A message became part of the session."""

    def note(self, note: Note) -> None:
        """A note, at any time."""


class Console(Protocol):
    """What a command of the `zot` program (`CliSpec`) finds as `obj` of its click context: the flags that stood before
    its name, and zot's way to show rows. Foreign text is shown without what a terminal would obey."""

    @property
    def cwd(self) -> str:
        """The project directory. Raises UsageError for one that is not there."""

    @property
    def explicit(self) -> Sequence[tuple[Literal["ext", "plugin"], str]]:
        """The plugins and extensions of the line, in its order."""

    @property
    def trust(self) -> bool | None:
        """What `--trust` and `--no-trust` say of the project; None without either."""

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked: input and output are a terminal."""

    @property
    def terminal(self) -> bool:
        """Whether what is written is seen in a terminal."""

    def options(self) -> Options:
        """What a run with these flags would ask of an App, without a session. Raises UsageError."""

    def run(self, main: Coroutine[Any, Any, Any]) -> Any:
        """The result of `main`, run to its end as zot's own main coroutine is."""

    def rows(
        self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool = False, empty: str = ""
    ) -> None:
        """`columns` of the rows: a table in a terminal, plain columns elsewhere, JSON with all keys where asked for;
        without rows `empty` goes to stderr."""

    def json(self, value: Any) -> None:
        """`value` as indented JSON."""

    def say(self, text: str) -> None:
        """Text for a person, with a line break after it."""

    def complain(self, text: str) -> None:
        """A notice on stderr."""

    def clean(self, text: str) -> str:
        """`text` without control sequences."""
