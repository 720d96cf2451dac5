"""Plugins: finding, loading, ordering, calling them, and what they registered.

`pipeline` is the only caller of event hooks, `host` of contributions. Knows no tool, provider, session or screen.
"""
