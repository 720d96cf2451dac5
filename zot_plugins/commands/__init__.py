"""Slash commands of zot itself, a module a kind. They act through `ctx` only, so that they work over RPC too.

What only a screen can do (clearing it, copying) is the screen's own plugin.
"""
