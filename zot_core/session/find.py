"""The session that a person means: by path, by id, or by the beginning of an id. And removing old ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from zot_core.session.errors import SessionError, SessionNotFound
from zot_core.session.listing import SessionInfo, read_info, session_files
from zot_core.session.lock import SessionLock
from zot_core.session.naming import id_in_name
from zot_core.session.store import remove_quietly, torn_file
from zot_core.types.record import record

_NEAR = 5


def find_session(root: str | os.PathLike[str], ref: str, *, cwd: str | os.PathLike[str] | None = None) -> Path:
    """The path of the session that `ref` names; a relative path is taken from `cwd`.

    Raises SessionNotFound if there is none or more than one, naming the near ones.
    """
    path = Path(cwd or "", ref).absolute()
    if "/" in ref or os.sep in ref or ref.endswith(".jsonl"):
        if path.is_file():
            return path
        raise SessionNotFound(f"no session file {ref!r}")
    files = list(session_files(root))
    found = [path for path in files if ref and _id(path).startswith(ref)]
    exact = [path for path in found if _id(path) == ref]
    if len(exact) == 1 or len(found) == 1:
        return (exact or found)[0]
    if found:
        raise SessionNotFound(f"more than one session begins with {ref!r}:{_rows(found)}")
    if ref and path.is_file():
        return path
    raise SessionNotFound(f"no session {ref!r}{_near(ref, files)}")


def _near(ref: str, files: Sequence[Path]) -> str:
    if not files:
        return "; there are no sessions yet"
    import difflib

    ids = {_id(path): path for path in files}
    near = [ids[id] for id in difflib.get_close_matches(ref, ids, n=_NEAR, cutoff=0.7)]
    if near:
        return f"; near ones:{_rows(near)}"
    newest = sorted(files, key=lambda path: path.name, reverse=True)[:_NEAR]
    return f"; the newest ones:{_rows(newest)}"


def _rows(paths: Sequence[Path]) -> str:
    rows = []
    for path in paths[:_NEAR]:
        info = read_info(path)
        rows.append(f"\n  {_id(path)}  {info.title[:60] if info is not None else ''}".rstrip())
    if len(paths) > _NEAR:
        rows.append(f"\n  and {len(paths) - _NEAR} more")
    return "".join(rows)


def _id(path: Path) -> str:
    return id_in_name(path) or ""


@record(kw_only=True)
class PrunePlan:
    """What `zot sessions prune` would do: nothing is removed by making one."""

    remove: tuple[SessionInfo, ...]
    keep: tuple[SessionInfo, ...]

    @property
    def size(self) -> int:
        """Bytes that removing would free."""
        return sum(info.size for info in self.remove)


def plan_prune(
    infos: Sequence[SessionInfo],
    *,
    now: float,
    older_than: float | None = None,
    keep_last: int | None = None,
    named: bool = False,
) -> PrunePlan:
    """Which sessions are old: not used for `older_than` seconds, and not among the `keep_last` used last of their
    project. Those with a name go only if `named`, those with a problem never; with neither limit none goes."""
    remove: list[SessionInfo] = []
    keep: list[SessionInfo] = []
    ranks: dict[str, int] = {}
    for info in sorted(infos, key=lambda info: info.updated, reverse=True):
        rank = ranks[info.cwd] = ranks.get(info.cwd, 0) + 1
        old = older_than is not None or keep_last is not None
        old = old and (older_than is None or now - info.updated > older_than)
        old = old and (keep_last is None or rank > keep_last)
        old = old and not info.problem and (named or info.name is None)
        (remove if old else keep).append(info)
    return PrunePlan(remove=tuple(remove), keep=tuple(keep))


def remove_session(path: Path) -> None:
    """Removes a session and what lies beside it. Raises SessionLocked if it is open, SessionError if it cannot be."""
    lock = SessionLock(path)
    lock.acquire()
    try:
        path.unlink()
        remove_quietly(torn_file(path))
    except OSError as error:
        raise SessionError.of("remove the session", path, error) from error
    finally:
        lock.release()
