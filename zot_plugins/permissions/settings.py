"""The plugin's section of settings.json, `plugins.permissions`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from zot_plugins.permissions.plugin import PRESETS


class RuleSetting(BaseModel):
    """One rule; of several that match the last one counts."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tool: str = "*"
    """The tool's name; `*` stands for any characters."""
    pattern: str = "*"
    """What the call is about: the command of `bash`, the path of a file tool, else its main argument. A relative path
    begins at the project."""
    action: Literal["allow", "ask", "deny"]


class PermissionSettings(BaseModel):
    """What tools may do without being asked about."""

    model_config = ConfigDict(extra="forbid", strict=True)

    preset: Literal["full-access", "workspace", "accept-edits", "auto", "read-only", "ask"] = "full-access"
    """What tools may do without asking; rules come on top."""
    rules: list[RuleSetting] = []
    """Rules after the preset's."""


assert set(PRESETS) == set(PermissionSettings.model_fields["preset"].annotation.__args__)  # type: ignore[union-attr]
