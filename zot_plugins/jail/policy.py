"""The jail: what lies in the project or among temporary files is open, anything else is closed.

It judges real paths, so a link leads nowhere that its target may not be.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zot_core.toolkit.paths import real_path
from zot_core.toolkit.spool import scratch_folder
from zot_core.types.specs import FilesystemPolicy, FilesystemRequest, SessionFacts


def policy(session: SessionFacts) -> FilesystemPolicy:
    """The policy of a session's project, with the folders that the settings add."""
    write = (real_path(session.cwd), *_folders(session.settings, "write", session.cwd))
    read = _folders(session.settings, "read", session.cwd)

    def check(request: FilesystemRequest) -> str | None:
        # The scratch folder is made when it is first needed, so it is asked for here.
        open_to = (*write, real_path(scratch_folder()))
        if any(Path(request.path).is_relative_to(root) for root in open_to):
            return None
        if request.operation != "write" and any(Path(request.path).is_relative_to(root) for root in read):
            return None
        return f"it is outside of the project {write[0]}; stay inside"

    return FilesystemPolicy(name="jail", check=check, roots=write, readable_roots=read)


def _folders(section: Mapping[str, Any], key: str, cwd: str) -> tuple[str, ...]:
    """The folders of a setting; what is no text is left out, as was said at start."""
    given = section.get(key)
    names = [name for name in given if isinstance(name, str) and name] if isinstance(given, (list, tuple)) else []
    return tuple(real_path(Path(cwd, Path(name).expanduser())) for name in names)
