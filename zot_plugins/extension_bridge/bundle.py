"""The data that an extension's folder brings, with a program beside it or without. Knows its manifest alone."""

from __future__ import annotations

from zot_core import hookimpl
from zot_plugins.extension_bridge.manifest import Manifest


class Bundle:
    """An extension's themes and skills, as a plugin."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest

    @hookimpl
    def skills(self) -> list[str]:
        """Its skills."""
        return [str(path) for path in self.manifest.skill_paths]

    @hookimpl
    def themes(self) -> list[str]:
        """Its theme."""
        return [str(self.manifest.theme)] if self.manifest.theme else []
