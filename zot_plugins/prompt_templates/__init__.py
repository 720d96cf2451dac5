"""Prompt templates: `/name ARGUMENTS` becomes the text of `prompts/name.md` with the arguments in their places.

Commands and skills come first. Must not run anything of a template.
"""
