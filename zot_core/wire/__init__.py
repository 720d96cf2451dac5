"""What goes over pipes: zot's events and messages as JSON lines, for scripts, embedding programs and subprocesses.

Knows bytes and names on the wire; must not know a mode, a plugin, or what is done with an event.
"""
