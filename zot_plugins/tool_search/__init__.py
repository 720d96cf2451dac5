"""The tool `tool_search`: tools that are not offered until a model looks for them.

Knows tools as names and words; must not know whose they are, how they run, or how a model is told of them.
"""
