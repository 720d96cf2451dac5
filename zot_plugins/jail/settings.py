"""The plugin's section of settings.json, `plugins.jail`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class JailSettings(BaseModel):
    """What the jail is, and what it leaves open beside the project."""

    model_config = ConfigDict(extra="forbid", strict=True)

    enabled: bool = False
    """The same as `--jail` on every command line."""
    read: list[str] = []
    """Further folders that may be read, such as a toolchain in the home folder; `~` is the home folder."""
    write: list[str] = []
    """Further folders that may be read and written."""
    write_zot: bool = False
    """Whether tools and commands may change what zot itself reads in the project: `.zot` and `.mcp.json`."""
    network: bool = True
    """Whether commands have a network. Without, they are refused where nothing can close it."""
