"""Where zot's files are: the home directory of this person and what lies in it.

Looks at environment variables and the platform only; creates nothing until `Paths.ensure` is called.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from zot_core.config.problems import Problem
from zot_core.types.failure import UsageError, ZotError
from zot_core.types.record import record

PROJECT_DIR = ".zot"
"""The folder of a project's own configuration, below the project directory."""
_VARIABLE = r"\$(?:\{(\w+)\}|(\w+))"


def variable(name: str, env: Mapping[str, str] | None = None) -> str:
    """The environment variable `name`, trimmed; an absent or blank one is "" (blank counts as unset everywhere)."""
    return (os.environ if env is None else env).get(name, "").strip()


def expand_path(text: str, env: Mapping[str, str] | None = None, base: str | Path | None = None) -> Path:
    """An absolute path from what a person wrote: `~`, `$VAR` and `${VAR}` are expanded, relative ones start at `base`.

    `base` is the working directory by default. Raises ZotError naming a variable that is not set, or a `~user` that
    does not exist.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        found = variable(name, env)
        if not found:
            raise ZotError(f"the path {text!r} uses ${name}, which is not set")
        return found

    expanded = text.strip()
    if "$" in expanded:
        expanded = re.sub(_VARIABLE, value, expanded)
    if expanded == "~" or expanded.startswith(("~/", "~\\")):
        path = _user_home(env) / expanded[2:]
    else:
        try:
            path = Path(expanded).expanduser()
        except RuntimeError as error:
            raise ZotError(f"the path {text!r} cannot be expanded: {error}") from error
    if path.is_absolute():
        return path
    return (current_folder() if base is None else Path(base)) / path


def current_folder() -> Path:
    """The directory that zot was started in. Raises UsageError when it was deleted meanwhile."""
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(
            f"the current directory cannot be used ({error.strerror}); change to another, or give --cwd DIR"
        ) from None


def find_home(env: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """zot's home: `$ZOT_HOME`, else `$XDG_STATE_HOME/zot` on any platform, else the platform's place for state.

    Raises ZotError when there is no way to tell, which says to set ZOT_HOME.
    """
    if given := variable("ZOT_HOME", env):
        return expand_path(given, env)
    if state := variable("XDG_STATE_HOME", env):
        return expand_path(state, env) / "zot"
    if platform == "win32":
        if local := variable("LOCALAPPDATA", env):
            return Path(local) / "zot"
        # Without the variable only the registry knows; that is platformdirs' trade (20 ms to import, so only here).
        from platformdirs import user_state_path

        return user_state_path("zot", appauthor=False)
    if platform == "darwin":
        return _user_home(env) / "Library" / "Application Support" / "zot"
    return _user_home(env) / ".local" / "state" / "zot"


def _user_home(env: Mapping[str, str] | None) -> Path:
    for name in ("HOME", "USERPROFILE"):
        if home := variable(name, env):
            return Path(home)
    try:
        return Path.home()
    except RuntimeError as error:
        raise ZotError("no home directory is known for this user: set ZOT_HOME to a directory of zot's own") from error


@record
class Paths:
    """zot's files and folders, all below `home`. None of them need exist."""

    home: Path

    @classmethod
    def find(cls, env: Mapping[str, str] | None = None) -> Paths:
        """The paths of this process's environment. Raises ZotError as `find_home` does."""
        return cls(find_home(env))

    @property
    def settings(self) -> Path:
        return self.home / "settings.json"

    @property
    def go_config(self) -> Path:
        """The Go zot's `config.json`: read, never written."""
        return self.home / "config.json"

    @property
    def auth(self) -> Path:
        return self.home / "auth.json"

    @property
    def models(self) -> Path:
        return self.home / "models.json"

    @property
    def trust(self) -> Path:
        return self.home / "trust.json"

    @property
    def thinking(self) -> Path:
        """The thinking level last chosen for each model; zot's own, deleting it is always safe."""
        return self.home / "thinking.json"

    @property
    def sessions(self) -> Path:
        return self.home / "sessions"

    @property
    def extensions(self) -> Path:
        return self.home / "extensions"

    @property
    def plugins(self) -> Path:
        return self.home / "plugins"

    @property
    def skills(self) -> Path:
        return self.home / "skills"

    @property
    def prompts(self) -> Path:
        return self.home / "prompts"

    @property
    def themes(self) -> Path:
        return self.home / "themes"

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def cache(self) -> Path:
        return self.home / "cache"

    @property
    def boot(self) -> Path:
        """The boot snapshot; deleting it is always safe."""
        return self.cache / "boot.json"

    @property
    def system_prompt(self) -> Path:
        return self.home / "SYSTEM.md"

    def ensure(self) -> list[Problem]:
        """Create the home, readable by its owner only. A home that cannot be created is a warning: a run goes on."""
        try:
            make_private(self.home)
        except OSError as error:
            return [Problem("warning", str(self.home), None, f"zot's home cannot be created: {reason(error)}")]
        return []

    def check_modes(self) -> list[Problem]:
        """Whether others may look into what is private; for `zot doctor`. Nothing is changed."""
        if os.name == "nt":
            return []
        found = []
        for path, wanted in ((self.home, 0o700), (self.auth, 0o600), (self.sessions, 0o700)):
            try:
                mode = path.stat().st_mode & 0o777
            except OSError:
                continue
            if mode & ~wanted:
                message = f"others can read it (mode {mode:04o}); chmod {wanted:o} makes it private"
                found.append(Problem("warning", str(path), None, message))
        return found


def project_settings(project: str | Path) -> Path:
    """The settings file of the project at `project`."""
    return Path(project) / PROJECT_DIR / "settings.json"


def make_private(directory: Path) -> None:
    """Create `directory` with mode 0700 (missing parents as usual). One that exists stays as it is. Raises OSError."""
    if not directory.is_dir():
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)


def read_bytes(path: str | Path) -> bytes:
    """What a file of zot's own holds. Raises OSError, for a pipe or a device too: reading one could last for ever."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode) and os.path.realpath(path) != os.devnull:
            raise OSError(errno.EINVAL, "it is no regular file")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def reason(error: OSError) -> str:
    """An OSError in a few words, without the path that the message names anyway."""
    return error.strerror or str(error) or type(error).__name__
