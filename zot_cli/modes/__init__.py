"""The ways in which a run is shown: print, JSON, and the plain line loop of a terminal.

A mode is a front end of the core: it is told events and writes bytes. It must not know a plugin or decide anything.
"""
