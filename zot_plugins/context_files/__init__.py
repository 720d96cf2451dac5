"""Context files: AGENTS.md, else CLAUDE.md, of the home and of the project, as parts of the system prompt.

They load in every project, trusted or not. Must not know how the prompt is put together.
"""
