"""The plugin's section of settings.json, `plugins.tool_bash`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from zot_core.toolkit.command import DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S


class BashSettings(BaseModel):
    """What a person may say about commands."""

    model_config = ConfigDict(extra="forbid")

    expose_session_environment: bool = True
    """Whether commands see ZOT_SESSION_ID and its like."""
    shell: str = ""
    """The shell's path; empty means the person's own."""
    timeout: float = Field(DEFAULT_TIMEOUT_S, gt=0, le=MAX_TIMEOUT_S)
    """Seconds that a command has when the model names no time."""


def read_settings(section: Mapping[str, Any]) -> BashSettings:
    """The section as far as it is right; for what is wrong, which was said at start, the default counts."""
    try:
        return BashSettings.model_validate(dict(section))
    except ValidationError as error:
        wrong = {problem["loc"][0] for problem in error.errors() if problem["loc"]}
        return BashSettings.model_validate({key: value for key, value in section.items() if key not in wrong})
