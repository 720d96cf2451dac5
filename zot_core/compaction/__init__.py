"""Compaction: how full a window is, where a conversation may be cut, and what a summary must be to be kept.

Pure functions over entries and messages. When to compact and who writes the summary is a plugin's; the order of events
is the runtime's. Must not know a provider, a session file or a prompt.
"""
