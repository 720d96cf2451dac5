"""The jail: what lies in the project or among temporary files is open, anything else is closed.

What zot itself reads there stays as it is, so that nobody inside grants himself more. It judges real paths, so a link
leads nowhere that its target may not be.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zot_core.toolkit.paths import real_path
from zot_core.toolkit.spool import scratch_folder
from zot_core.types.specs import FilesystemPolicy, FilesystemRequest, SessionFacts

OWN = (".zot", ".mcp.json")
"""What of a project can act with zot's own rights."""


def policy(session: SessionFacts) -> FilesystemPolicy:
    """The policy of a session's project, with the folders that the settings add."""
    project = real_path(session.cwd)
    write = (project, *_folders(session.settings, "write", session.cwd))
    read = _folders(session.settings, "read", session.cwd)
    own = () if session.settings.get("write_zot") is True else _own(session)

    def check(request: FilesystemRequest) -> str | None:
        path = Path(request.path)
        if request.operation == "write" and own and _is_own(path, own, project):
            return "zot itself reads it; in a jail it stays as it is (setting plugins.jail.write_zot)"
        # The scratch folder is made when it is first needed, so it is asked for here.
        open_to = (*write, real_path(scratch_folder()))
        if any(path.is_relative_to(root) for root in open_to):
            return None
        if request.operation != "write" and any(path.is_relative_to(root) for root in read):
            return None
        return f"it is outside of the project {project}; stay inside"

    return FilesystemPolicy(
        name="jail",
        check=check,
        roots=write,
        readable_roots=read,
        readonly_roots=own,
        network=session.settings.get("network") is not False,
    )


def _own(session: SessionFacts) -> tuple[str, ...]:
    names = tuple(str(Path(real_path(session.cwd), name)) for name in OWN)
    return (*names, real_path(session.home)) if session.home else names


def _is_own(path: Path, own: tuple[str, ...], project: str) -> bool:
    if any(path.is_relative_to(one) or path.is_relative_to(real_path(one)) for one in own):
        return True
    # A file system may take names for one that differ in case.
    return (
        path.is_relative_to(project)
        and path.relative_to(project).parts[:1] != ()
        and (path.relative_to(project).parts[0].casefold() in OWN)
    )


def _folders(section: Mapping[str, Any], key: str, cwd: str) -> tuple[str, ...]:
    """The folders of a setting; what is no text is left out, as was said at start."""
    given = section.get(key)
    names = [name for name in given if isinstance(name, str) and name] if isinstance(given, (list, tuple)) else []
    return tuple(real_path(Path(cwd, Path(name).expanduser())) for name in names)
