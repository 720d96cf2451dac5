"""Which session a start means: a new one, the last one, one that is named, a copy, or none that is kept.

Must not know plugins; a session is opened before any of them is asked.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from zot_core.config.paths import read_bytes
from zot_core.session.session import Session
from zot_core.types.failure import UsageError

if TYPE_CHECKING:
    from zot_core.app import App

StartReason = str


def open_session(app: App) -> tuple[Session, str]:
    """The session that the options name, and the start reason that plugins are told.

    Raises UsageError for one that is named and missing, SessionLocked for one that is open elsewhere, SessionError
    for one that cannot be read.
    """
    options = app.options
    root = session_root(app)
    if options.fork:
        from zot_core.session.find import find_session  # a new session has nothing to look for

        source = Session.open(find_session(root, options.fork, cwd=options.cwd), readonly=True)
        try:
            return source.fork(root=root), "fork"
        finally:
            source.close()
    if options.no_session:
        return Session.memory(options.cwd), "startup"
    named = options.session or options.resume
    if named:
        return _named(app, root, named), "resume"
    if options.continue_session or options.resume == "":
        from zot_core.session.listing import latest

        info = latest(root, options.cwd)
        if info is not None:
            return Session.open(info.path), "resume"
        app.note("there is no session of this project to continue; a new one begins", "warning")
    return new_session(app), "startup"


def new_session(app: App) -> Session:
    """A session of the present project that gets its file with the first prompt."""
    if app.options.no_session:
        return Session.memory(app.options.cwd)
    if app.front.mode == "rpc" and not app.keeps_sessions:
        return Session.memory(app.options.cwd)
    return Session.create(session_root(app), app.options.cwd)


def session_root(app: App) -> Path:
    """The folder of all sessions: --session-dir, the setting, or the home's."""
    chosen = app.options.session_dir or app.session_dir_setting
    return Path(app.options.cwd, chosen).expanduser() if chosen else app.paths.sessions


def project_dir(app: App, session: Session) -> str:
    """The directory in which a session goes on: its own, as long as it is there; `--cwd` wins.

    Says so when it is not the one that the person is in, because tools run where the session says.
    """
    if app.options.cwd_given or not session.cwd or session.cwd == app.options.cwd:
        return app.options.cwd
    if Path(session.cwd).is_dir():
        app.note(f"the session goes on in {session.cwd}", "warning")
        return session.cwd
    app.note(f"the session's directory {session.cwd} is gone; it goes on in {app.options.cwd}", "warning")
    return app.options.cwd


def _named(app: App, root: Path, named: str) -> Session:
    from zot_core.session.find import find_session

    try:
        return Session.open(find_session(root, named, cwd=app.options.cwd))
    except UsageError:
        # Over RPC a path may name a file that is to be made.
        path = Path(app.options.cwd, named).expanduser()
        if app.front.mode == "rpc" and named.endswith(".jsonl") and not path.exists():
            return Session.create(root, app.options.cwd, path=path)
        raise


def system_md(app: App) -> str | None:
    """The person's own system prompt, from SYSTEM.md in zot's home."""
    try:
        return read_bytes(app.paths.system_prompt).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        app.note(f"{app.paths.system_prompt} is not used: {error}", "warning")
        return None
