"""What happens to children when zot itself is killed and can end nothing: one small shell waits for that and ends them.

It holds the end of a pipe that closes with zot, however zot ends; then it kills whatever still has a mark of zot, in
its environment or in its limits. Linux only: elsewhere there is no table of processes to find them in.
"""

from __future__ import annotations

import os
import sys

from zot_core.toolkit.marking import pattern, unmarked
from zot_core.toolkit.proctable import MARK, TOKEN

_WATCH = (
    "read -r _; n=0; while [ $n -lt 5 ]; do n=$((n + 1)); "
    # Its exit code tells only of files that it missed.
    'found=$(grep -lsE -e "$0" -e "$1" /proc/[0-9]*/environ /proc/[0-9]*/limits 2>/dev/null); '
    '[ -n "$found" ] || break; for f in $found; do p=${f#/proc/}; kill -KILL "${p%/*}" 2>/dev/null; done; done'
)
_pipe: list[int] = []
"""The write end, open as long as this process lives; the watcher is its only reader."""


def watch() -> None:
    """Starts the watcher unless it runs. Its absence costs only this one protection, so no failure is raised."""
    if _pipe or sys.platform != "linux":
        return
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    read, write = os.pipe()
    _pipe.append(write)
    # No Popen object: it would have to be waited for, and this child outlives us.
    try:
        with unmarked():  # else a zot around this one would end it before its time
            os.posix_spawn(
                "/bin/sh",
                ["/bin/sh", "-c", _WATCH, f"{MARK}={TOKEN}[.]{os.getpid()}[.]", pattern()],
                {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, read, 0),
                    (os.POSIX_SPAWN_DUP2, null, 1),
                    (os.POSIX_SPAWN_DUP2, null, 2),
                ],
                setsid=True,
            )
    except (OSError, NotImplementedError):
        pass  # no /bin/sh, or a libc without it
    finally:
        os.close(read)
        os.close(null)
