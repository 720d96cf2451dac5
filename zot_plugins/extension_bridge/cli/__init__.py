"""`zot ext`: extensions as folders that a person lists, checks, installs, switches, makes and removes.

Knows manifests and folders; only `doctor` starts anything. Must not know a screen: rows go to the Console it is given.
"""
