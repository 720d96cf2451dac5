"""Where zot keeps things and what it was told: paths, settings, credentials, trust, the boot snapshot.

Nothing here knows a plugin, a session, a screen or a network. What is wrong with a file is returned as `Problem`s for
the caller to report; a file that does not parse is never written to. All but `schema` import the standard library only.
"""
