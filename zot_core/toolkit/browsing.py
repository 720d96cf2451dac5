"""Opening a page in the person's browser. Knows no page; the terminal stays zot's, whatever the browser prints."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def open_page(url: str, env: Mapping[str, str]) -> bool:
    """Asks the system's browser to open `url` and does not wait for it; `env` is its environment.

    False where there seems to be no browser (a bare terminal, ssh), and for what is no web address.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        return False
    if sys.platform not in ("darwin", "win32") and not any(env.get(name, "").strip() for name in _DISPLAYS):
        return False
    try:
        # A process of its own: browsers print, and those of a terminal would take it. Isolated (-I), because a project
        # may hold a module called webbrowser
        child = subprocess.Popen(
            [sys.executable, "-I", "-m", "webbrowser", url],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            cwd=Path.home(),
            start_new_session=True,
        )
    except (OSError, RuntimeError):
        return False
    threading.Thread(target=child.wait, name="zot:browser", daemon=True).start()
    return True
