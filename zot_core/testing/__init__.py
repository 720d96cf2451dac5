"""A kit for tests of plugins: a scripted model, an isolated session, goldens. Nothing else in zot imports it.

Name `pytest_plugins = ["zot_core.testing.plugin"]` in your conftest.py for the fixtures; only that module needs
pytest, which the extra `zot-agent[testing]` brings. The scripted provider is named, never imported.
"""

from __future__ import annotations

from zot_core.testing.front import RecordingFrontEnd as RecordingFrontEnd
from zot_core.testing.front import Seen as Seen
from zot_core.testing.golden import normalise as normalise
from zot_core.testing.script import Script as Script

__all__ = ["RecordingFrontEnd", "Script", "Seen", "normalise"]
