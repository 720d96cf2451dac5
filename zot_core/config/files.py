"""Files that zot owns: written whole, one writer at a time. Knows no format.

A write goes to a temporary file beside the real one, which then takes its place; links and modes stay as they were.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zot_core.config.paths import make_private, read_bytes, reason
from zot_core.config.problems import SaveRefused

LOCK_TIMEOUT = 10.0
"""Seconds to wait for another process that is writing the same file."""


def write_whole(path: Path, text: str, mode: int | None = None) -> None:
    """Replace what `path` holds by `text`, at once or not at all.

    A link is followed and stays a link. The file keeps its mode unless `mode` is given; a new one is 0600.
    Raises OSError.
    """
    real = Path(os.path.realpath(path))
    try:
        before = real.stat()
    except FileNotFoundError:
        before = None
    if mode is None:
        mode = 0o600 if before is None else before.st_mode & 0o777
    temporary = real.with_name(f".{real.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        if before is not None and hasattr(os, "chown"):
            # `sudo zot` must not take a file away from its owner; without the right to give it back, nothing is lost.
            with suppress(OSError):
                os.chown(temporary, before.st_uid, before.st_gid)
        temporary.replace(real)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def locked(path: Path, locks: Path, timeout: float | None = None) -> Iterator[None]:
    """Hold the one write lock of the file that `path` leads to. Lock files lie in `locks`, so no project collects them.

    Raises SaveRefused when another process keeps it for `timeout` seconds (LOCK_TIMEOUT) or it cannot be made.
    """
    timeout = LOCK_TIMEOUT if timeout is None else timeout
    from hashlib import sha256

    from filelock import FileLock, Timeout

    name = sha256(os.path.realpath(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    try:
        make_private(locks.parent.parent)
        make_private(locks.parent)
        make_private(locks)
        lock = FileLock(locks / f"{name}.lock", timeout=timeout)
        lock.acquire()
    except Timeout as error:
        raise SaveRefused(f"{path} was not saved: another zot has been writing it for {timeout:g} s") from error
    except (OSError, NotImplementedError) as error:
        why = reason(error) if isinstance(error, OSError) else "this file system has no locks"
        raise SaveRefused(f"{path} was not saved: {why}") from error
    try:
        yield
    finally:
        lock.release()


def update(path: Path, locks: Path, change: Callable[[str], str], mode: int | None = None) -> None:
    """Read, change and write the text file `path` under its lock; a missing file is "" to `change`.

    `change` gets the text as it is on disk now and may raise SaveRefused; an equal text is not written. Raises
    SaveRefused with the reason whenever the file stays as it was.
    """
    with locked(path, locks):
        try:
            # From bytes, which keeps CRLF: what zot does not change stays as it is.
            before: str | None = read_bytes(path).decode("utf-8")
        except FileNotFoundError:
            before = None
        except UnicodeDecodeError as error:
            raise SaveRefused(f"{path} was not saved: it is not UTF-8 text") from error
        except OSError as error:
            raise SaveRefused(f"{path} was not saved: it cannot be read: {reason(error)}") from error
        after = change(before or "")
        if after == before:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, after, mode)
        except OSError as error:
            raise SaveRefused(f"{path} was not saved: {reason(error)}") from error
