"""The network: one shared HTTP client, server-sent events, and when a request is tried again.

Must not know a provider, a wire format or a model.
"""
