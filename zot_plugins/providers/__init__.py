"""Providers as data: where models are served, by which format, under which variable, and what they cost.

No code but data. Must not know how a format or a request works.
"""
