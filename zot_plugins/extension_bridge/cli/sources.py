"""What the argument of `zot ext install` means: a folder to copy, or a git repository to clone with a ref.

Decides by looks, and by what is there; touches no network.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from zot_core.types.failure import UsageError
from zot_core.types.record import record
from zot_plugins.extension_bridge.finding import FILE

SCHEMES = ("https", "ssh", "git", "file", "http")
_SCP = re.compile(r"(?:[\w.-]+@)?[\w.-]+:(?!//)\S+")
"""`host:path` and `user@host:path`, as git takes them beside URLs."""
_SECRET = re.compile(r"(?<=://)[^/\s]*@")


@record
class Folder:
    """A folder to copy."""

    path: Path


@record
class Repository:
    """A git repository; `ref` is a branch, a tag or a commit, empty for what it has checked out itself."""

    url: str
    ref: str = ""

    @property
    def shown(self) -> str:
        """For people: without a password."""
        return _SECRET.sub("", self.url) + (f"@{self.ref}" if self.ref else "")


def source_of(text: str, cwd: str) -> Folder | Repository:
    """Raises UsageError for what can be neither."""
    if not text.isprintable() or not text.strip():
        raise UsageError(f"{text!r} is neither a folder nor the URL of a git repository")
    if text.startswith("-"):
        raise UsageError(f"{text!r} begins with a dash and is no source; write ./{text} for a folder of that name")
    scheme, there, _ = text.partition("://")
    path = Path(cwd, os.path.expanduser(text))  # noqa: PTH111 - `~nobody` is just not there
    if there:
        if scheme.lower() not in SCHEMES:
            raise UsageError(f"{text!r}: zot clones by {', '.join(SCHEMES)}, not by {scheme}")
        return _checked(
            *_split(text, text.index("/", len(scheme) + 3) if "/" in text[len(scheme) + 3 :] else len(text))
        )
    if path.name == FILE and path.is_file():
        path = path.parent
    if path.is_dir():
        return Repository(path.absolute().as_uri()) if _is_bare(path) else Folder(path)
    if path.exists():
        raise UsageError(f"{text} is no folder; an extension is a folder with an {FILE}")
    before, at, ref = text.rpartition("@")
    local = Path(cwd, os.path.expanduser(before))  # noqa: PTH111 - as above
    if at and before and local.is_dir():
        if not ((local / ".git").exists() or _is_bare(local)):
            raise UsageError(f"{before} is no git repository, so it has no {ref!r}; without @{ref} it is copied")
        return _checked(local.absolute().as_uri(), ref)
    if "::" in text:
        raise UsageError(f"{text!r}: zot clones by {', '.join(SCHEMES)}, and by host:path")
    if _SCP.fullmatch(text) and not text.startswith(("/", ".", "~")):
        return _checked(*_split(text, text.index(":")))
    raise UsageError(f"there is no folder {text}; a git repository is named by a URL such as https://host/owner/name")


def _split(text: str, begin: int) -> tuple[str, str]:
    """URL and ref: an `@` in the path, unless it begins a part of it."""
    found = re.search(r"(?<=[^/:])@", text[begin:])
    if found is None:
        return text, ""
    at = begin + found.start()
    if at == len(text) - 1:
        raise UsageError(f"{text!r}: a branch, a tag or a commit has to follow the @")
    return text[:at], text[at + 1 :]


def _checked(url: str, ref: str) -> Repository:
    if ref.startswith("-") or re.search(r"[\s~^:?*\[\\]|\.\.|@\{", ref):
        raise UsageError(f"{ref!r} is no name of a branch, a tag or a commit")
    return Repository(url, ref)


def _is_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and not (path / FILE).exists()
