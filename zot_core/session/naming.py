"""Names of project folders and session files: readable, safe for any directory, unique. Knows no session."""

from __future__ import annotations

import re
import time
from hashlib import sha256
from pathlib import Path

_READABLE = 60
_FILE = re.compile(r"^\d{8}T\d{6}Z_([^/\\]+)\.jsonl$")


def project_slug(cwd: str) -> str:
    """The name of the folder that keeps a directory's sessions: the end of its path made harmless, and a short hash of
    the whole. Works for every path that a system can have, bytes that are no text included."""
    raw = cwd.encode(errors="surrogateescape") if _decodes(cwd) else cwd.encode(errors="surrogatepass")
    readable = re.sub(r"[^0-9A-Za-z._]+", "-", cwd)[-_READABLE:].strip("-._") or "root"
    return f"{readable}-{sha256(raw).hexdigest()[:8]}"


def _decodes(text: str) -> bool:
    try:
        text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def file_name(session_id: str, created: float) -> str:
    """The name of a session's file; sorted by name, files are sorted by age."""
    return f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(created))}_{session_id}.jsonl"


def id_in_name(path: Path) -> str | None:
    """The session id in a file's name, or None if the name is not one of ours."""
    match = _FILE.match(path.name)
    return match and match[1]
