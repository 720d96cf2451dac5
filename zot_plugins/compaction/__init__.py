"""Compaction: says when a conversation is to be shortened and has a model write the summary.

Where it may be cut and what is stored is the core's. Must not know a provider or a screen.
"""
