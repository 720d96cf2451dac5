"""Project trust: what in a project can act or steer silently, and who decided that it may.

Decisions are kept in `trust.json` by the project's real path. AGENTS.md and CLAUDE.md are no matter of trust. Asking is
the front end's, answering also plugins': both are passed in.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zot_core.config.objects import read_object
from zot_core.config.paths import PROJECT_DIR, Paths
from zot_core.config.problems import Problem, SaveRefused
from zot_core.config.resources import SHARED_SKILLS, shared_folders
from zot_core.types.record import record

MATTERS = (
    f"{PROJECT_DIR}/settings.json",
    f"{PROJECT_DIR}/plugins",
    f"{PROJECT_DIR}/extensions",
    f"{PROJECT_DIR}/skills",
    f"{PROJECT_DIR}/prompts",
    f"{PROJECT_DIR}/themes",
    f"{PROJECT_DIR}/hooks",
    f"{PROJECT_DIR}/hooks.json",
    f"{PROJECT_DIR}/mcp.json",
    f"{PROJECT_DIR}/mcp",
    ".mcp.json",
)
"""What needs trust, below a project. A folder counts when something is in it."""
REMEMBER = "Yes, and remember it"
"""The answer that trusts a project for good."""
NOBODY_ASKED = "-p, --json, rpc and commands that list ask nobody"
STORED = "trust.json"

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Protocol, TypeAlias

    class Answer(Protocol):
        """A yes or no with whether it is to be kept, such as `zot_core.events.session.Trust`."""

        @property
        def trusted(self) -> bool: ...
        @property
        def remember(self) -> bool: ...

    Ask: TypeAlias = Callable[[], Awaitable[Answer | None]]

Default = Literal["ask", "always", "never"]


@record
class Decision:
    """Whether the project's own configuration is used, and who said so.

    `skipped` is what is left out because nobody trusts it; `problems` is what went wrong on the way.
    """

    trusted: bool
    source: str
    skipped: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def notice(self) -> str:
        """One line on what is left out and how to have it; "" when there is nothing to say."""
        if not self.skipped:
            return ""
        for_good = {
            NOBODY_ASKED: f'; to trust it for good, start zot without them and answer "{REMEMBER}"',
            STORED: "; the decision is kept in trust.json of zot's home",
        }
        said = f"this project is not trusted ({self.source}): {', '.join(self.skipped)} not used; --trust uses it once"
        return said + for_good.get(self.source, "")


def project_key(cwd: str | Path) -> str:
    """The real path under which a decision on the project at `cwd` is kept."""
    return os.path.realpath(cwd)


def found_to_trust(cwd: str | Path, home: str | Path | None = None) -> tuple[str, ...]:
    """What there is to trust in the project at `cwd`, as paths below it.

    A project whose `.zot` is zot's own home holds the person's own files, which need no trust. Skills in the form that
    agents share count from the repository's root on.
    """
    root = Path(cwd)
    own = home is not None and project_key(root / PROJECT_DIR) == project_key(home)
    found = [name for name in MATTERS if not (own and name.startswith(PROJECT_DIR)) and _holds(root / name)]
    shared = [folder / name for folder in shared_folders(root) for name in SHARED_SKILLS]
    return (*found, *(os.path.relpath(path, root) for path in shared if _holds(path)))


def _holds(path: Path) -> bool:
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is not None
    except NotADirectoryError:
        return True
    except FileNotFoundError:
        return False
    except OSError:
        return True  # there is something, and it does not say what: better asked than overlooked


class TrustStore:
    """`trust.json`: real paths of projects, true or false. A file that does not parse trusts nothing and is kept."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def read(self) -> tuple[dict[str, bool], list[Problem]]:
        """All decisions, and what is wrong with the file."""
        document, problems = read_object(self._paths.trust)
        if document is None:
            return {}, problems
        file, found = str(self._paths.trust), {}
        for key, value in document.value.items():
            if isinstance(value, bool):
                found[key] = value
            else:
                message = f"{key!r} must be true or false; it is ignored"
                problems.append(Problem("warning", file, document.line_of((key,)), message))
        return found, problems

    def get(self, cwd: str | Path) -> bool | None:
        """The decision on exactly this project (not on a folder above it), or None."""
        return self.read()[0].get(project_key(cwd))

    def set(self, cwd: str | Path, trusted: bool | None) -> None:
        """Keep a decision; None forgets it. Raises SaveRefused when the file must stay as it is."""
        from zot_core.config.jsonc_edit import remove_key, set_key
        from zot_core.config.store import edit_object

        key = (project_key(cwd),)

        def change(text: str, data: dict[str, Any]) -> str:
            return remove_key(text, key) if trusted is None else set_key(text, key, trusted)

        self._paths.ensure()
        edit_object(self._paths.trust, self._paths.cache / "locks", change)


async def decide(
    cwd: str | Path,
    found: Sequence[str],
    store: TrustStore,
    *,
    command_line: bool | None = None,
    plugins: Ask | None = None,
    default: Default = "ask",
    person: Ask | None = None,
) -> Decision:
    """Whether the project at `cwd` is trusted: command line, plugins, trust.json, the setting, the person.

    `found` is from `found_to_trust`; with nothing to trust nobody is asked and the answer is no, so that what appears
    later is asked about. `plugins` and `person` ask and may answer None; `person` is None where nobody can
    answer. An answer that is to be remembered is kept; if that fails it holds for this process, with a problem.
    """
    if command_line is not None:
        return _decision(command_line, "--trust" if command_line else "--no-trust", found)
    problems: list[Problem] = []
    if found and plugins is not None and (answer := await plugins()) is not None:
        _remember(store, cwd, answer, problems)
        return _decision(answer.trusted, "a plugin", found, problems)
    stored, wrong = store.read()
    problems += wrong
    if (kept := stored.get(project_key(cwd))) is not None:
        return _decision(kept, STORED, found, problems)
    if not found:
        return Decision(False, "nothing to trust", (), tuple(problems))
    if default != "ask":
        return _decision(default == "always", f"default_project_trust is {default}", found, problems)
    if person is None:
        return _decision(False, NOBODY_ASKED, found, problems)
    answer = await person()
    if answer is None:
        return _decision(False, "not answered", found, problems)
    _remember(store, cwd, answer, problems)
    return _decision(answer.trusted, "you", found, problems)


def _decision(trusted: bool, source: str, found: Sequence[str], problems: Sequence[Problem] = ()) -> Decision:
    return Decision(trusted, source, () if trusted else tuple(found), tuple(problems))


def _remember(store: TrustStore, cwd: str | Path, answer: Answer, problems: list[Problem]) -> None:
    if answer.remember:
        try:
            store.set(cwd, answer.trusted)
        except SaveRefused as error:
            problems.append(Problem("warning", "", None, f"the decision holds for this run only: {error}"))
