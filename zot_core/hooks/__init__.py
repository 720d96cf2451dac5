"""What a plugin may implement: the `hookimpl` mark, the table of contributions, the hookspecs made from the events.

Knows no plugin, no host and no session; `markers` imports nothing heavy, because every plugin imports it.
"""
