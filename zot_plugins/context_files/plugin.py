"""The plugin `context_files`: contributes one source of the system prompt."""

from __future__ import annotations

from zot_core import hookimpl
from zot_core.types.specs import PromptSource, SessionFacts, resolve


@hookimpl
def prompt_sources(session: SessionFacts) -> list[PromptSource]:
    """Sections for the context files of the session's project and of the home."""
    files = resolve("zot_plugins.context_files.reader:ContextFiles")(session.cwd, session.home)
    return [PromptSource(name="context_files", read=files.sections)]
