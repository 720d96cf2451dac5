"""Sessions: records, codec, store, lock, tree, context, listing. What was said is on disk before anything builds on it.

Must not know a tool, a provider, a plugin, a front end or the agent; it knows messages and files. Import the modules,
not this package: listing needs no store, the store needs no listing.
"""
